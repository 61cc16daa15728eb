"""The word bigrams of many texts at once, as numbers in a frame.

As sets of strings those of a whole lake would fill memory, and take many times as long to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import polars as pl

_NOTHING = (1 << 32) - 1
"""What follows the word of a text of one word, as a number."""
_ROUNDING = 1e-9
"""Less than this lies between a product of floats and the whole number that it stands for."""


def word_pairs(texts: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Every two words that stand side by side, as often as they do; of a text of one word that word.

    Args:
        texts: the words of each text, in order, as `content.normalise.words` gives them.

    Returns:
        `text`, the place of the text (u32), and `pair`, a number for the bigram (u64): equal for equal ones of this
        call. Texts come in order.
    """
    sizes = pl.Series([len(text) for text in texts], dtype=pl.UInt32)
    word = pl.Series(list(chain.from_iterable(texts)), dtype=pl.Categorical).to_physical().cast(pl.UInt64)
    number = pl.select(pl.int_range(len(texts), dtype=pl.UInt32).repeat_by(sizes).explode()).to_series().drop_nulls()
    row = pl.DataFrame({"text": number, "word": word})
    is_followed, is_last = (pl.col("text") == pl.col("text").shift(by) for by in (-1, 1))
    return (
        row.select(
            "text",
            pair=pl.col("word") * (1 << 32) + pl.when(is_followed).then(pl.col("word").shift(-1)).otherwise(_NOTHING),
            within=is_followed.fill_null(False) | ~is_last.fill_null(False),
        )
        .filter("within")
        .drop("within")
    )


def sharing_rare_pairs(
    texts: Sequence[Sequence[str]], groups: Sequence[str], share: float, rare_in: int
) -> list[tuple[int, int]]:
    """Places of two texts of one group that may share so much of their word bigrams, the earlier one first, in order.

    All whose distinct bigrams have a Jaccard similarity of at least `share` are found, if a bigram in common stands in
    at most `rare_in` texts of their group. Of n bigrams of one at least ceil(share n) are common; so the rarest of
    these is among its n - ceil(share n) + 1 rarest, and likewise in the other (prefix filter, Chaudhuri et al. 2006).
    """
    of_text = pl.DataFrame({"group": pl.Series(groups, dtype=pl.Categorical).to_physical()}).with_row_index("text")
    size, place = pl.len().over("text"), pl.int_range(pl.len()).over("text")
    fewest_common = (size * share - _ROUNDING).ceil()
    telling = (
        word_pairs(texts)
        .unique()
        .join(of_text, on="text")
        .with_columns(spread=pl.len().over("group", "pair"))
        .sort("text", "spread", "pair")
        .filter(place <= size - fewest_common)
        .filter(pl.col("spread").is_between(2, rare_in))
        .select("text", "group", "pair")
    )
    met = telling.join(telling, on=["group", "pair"], suffix="_later").filter(pl.col("text") < pl.col("text_later"))
    return list(met.select("text", "text_later").unique().sort("text_later", "text").iter_rows())
