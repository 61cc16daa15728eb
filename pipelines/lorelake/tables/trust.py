"""Contract of stage learnings: what became of learnings in use, and how far that has them believed. From SQL."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table

OUTCOME_FACTS = ("error_recurred", "error_fixed", "reverted", "merged", "stopped", "command_passed")
"""What may be seen to happen after a learning was shown, the most telling first."""

VOTES = Table(
    "votes",
    "learnings",
    "learning x voter x session family",
    ("learning_id", "voter", "family_id"),
    (
        Column("learning_id", "str", "the learning"),
        Column("voter", "str", "person whose session or decision it was"),
        Column("family_id", "str", "session family, or the decision"),
        Column(
            "voter_class",
            "str",
            "weight class: human decides, agent cited it, author is its own source, bot counts nothing",
            ("human", "agent", "author", "bot"),
        ),
        Column("recalled", "bool", "it was shown there"),
        Column("upvoted", "bool", "shown and cited there, or endorsed by a person; once a family"),
        Column("refuted", "bool", "disputed by a person"),
        Column("ts", "ts", "latest act"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

USAGE = Table(
    "usage",
    "learnings",
    "learning x session family in which it was shown",
    ("learning_id", "family_id"),
    (
        Column("learning_id", "str", "the learning"),
        Column("family_id", "str", "session family; none that the learning comes from"),
        Column("audience", "str", "narrowest audience of the family's sessions"),
        Column(
            "voter_class",
            "str",
            "whose session it was: another person's agent, its author, a bot",
            ("agent", "author", "bot"),
        ),
        Column("surfaced_at", "ts", "when it was first shown there"),
        Column("surfacings", "int", "how often it was shown there"),
        Column(
            "acknowledged_at", "ts?", "first citation, confirmation or word of a person about it; null where ignored"
        ),
        Column(
            "verdict",
            "str",
            "explicit: confirmed as applying; acknowledged: cited, or confirmed as not applying; refuted: a person or "
            "the agent said that it is wrong; none: ignored",
            ("explicit", "acknowledged", "refuted", "none"),
        ),
        Column("refuted_by", "str?", "whose word refuted it; a person's outweighs an agent's", ("person", "agent")),
        Column("closed", "bool", "nothing happened in the family for a day; before that ignored says nothing yet"),
        Column(
            "outcome",
            "str",
            "what was seen to happen there after, never the agent's account; unknown is neither good nor bad",
            ("held", "failed", "unknown"),
        ),
        Column("outcome_basis", "str?", "the fact that decides it; null where unknown", OUTCOME_FACTS),
        Column("outcome_at", "ts?", "when that was seen last"),
        Column("observed", "list[str]", "every fact seen there after the first showing, by name"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

DECAY = Table(
    "decay",
    "learnings",
    "learning",
    ("learning_id",),
    (
        Column("learning_id", "str", "the learning"),
        Column("surfaced", "int", "closed session families of the last 90 days it was shown in, bots' apart"),
        Column("ignored", "int", "those of them that ignored it"),
        Column("refuted", "int", "those of them that refuted it"),
        Column("disuse", "float", "1 - 0.8 x (ignored + refuted) / surfaced; 1 below three families"),
        Column("silent_days", "int", "days since somebody last said, decided or used it"),
        Column("ageing", "float", "halved every half-life of its kind over those days; 1 for kinds that do not age"),
        Column("pinned", "bool", "a person pinned it"),
        Column("decay", "float", "disuse x ageing, at least 0.1; 1 where pinned; moves rank only"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

CONFIDENCE = Table(
    "confidence",
    "learnings",
    "learning",
    ("learning_id",),
    (
        Column("learning_id", "str", "the learning"),
        Column("support", "float", "decayed weight of what strongly speaks for it, prior included"),
        Column("against", "float", "decayed weight of what strongly speaks against it, prior included"),
        Column("weak_shift", "float", "what agents' and authors' votes moved the mean by, within 0.05 either way"),
        Column("confidence", "float", "support / (support + against) + weak_shift, to 9 digits"),
        Column("confidence_low", "float", "lower end of the 95 % interval"),
        Column("confidence_high", "float", "upper end of the 95 % interval"),
        Column(
            "teamai_confidence",
            "float?",
            "teamai-cli's formula on the same votes and on imported totals, for comparison; null without either",
        ),
    ),
    released=True,
    sql=True,
    hashed=True,
)

CALIBRATION = Table(
    "calibration",
    "learnings",
    "method x events x reliability bin",
    ("method", "events", "bin"),
    (
        Column("method", "str", "whose figure is held against what came after", ("confidence", "teamai_confidence")),
        Column("events", "str", "all, or both: only where either method has a figure", ("all", "both")),
        Column("bin", "str", "range of the figure, as 0.6-0.7; `all` over all of them"),
        Column("n", "int", "later events, each asked of the belief at the end of the month before"),
        Column("mean_predicted", "float", "mean of the figure, kept within 0.01 and 0.99"),
        Column("observed", "float", "share of the events in which the learning held"),
        Column("brier", "float", "mean squared distance of figure and event; lower is better"),
        Column("log_loss", "float", "mean of -ln of the chance given to what happened; lower is better"),
        Column("enough", "bool", "at least 20 events; a row of fewer says nothing"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

REPEAT_MISTAKES = Table(
    "repeat_mistakes",
    "learnings",
    "learning x session family x error",
    ("learning_id", "family_id", "signature"),
    (
        Column("learning_id", "str", "a scar or anti-pattern that was active and in scope"),
        Column("family_id", "str", "session family in which its error came again; none that it comes from"),
        Column("signature", "str", "key of the error; in a release empty where the family or the learning is private"),
        Column("audience", "str", "narrowest audience in which the family met it"),
        Column("first_ts", "ts", "when the error was first met there"),
        Column("last_ts", "ts", "when it was last met there"),
        Column("times", "int", "how often it was met there"),
        Column("shown_before", "bool", "the learning had been shown there before the last time"),
        Column("shown_at", "ts?", "when it was first shown there; null where it was not, or only after"),
    ),
    released=True,
    sql=True,
    hashed=True,
)
