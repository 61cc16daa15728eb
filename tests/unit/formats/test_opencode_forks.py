from __future__ import annotations

import copy
from datetime import date

import polars as pl
import pytest
from opencode_samples import START, Store, kept, read, talk, texts, unit_of

from lorelake.events import copies
from lorelake.events.derive import units_of
from lorelake.formats import opencode, opencode_forks
from lorelake.formats.record import Record, canonical, digest
from lorelake.tables import RAW_RECORDS


def fork(of: Store, session: str, messages: int, created: int) -> Store:
    """As OpenCode copies: new ids, the times and texts of the original, no parent."""
    new = Store(session, title=f"{of.info['title']} (fork #1)", time={"created": created, "updated": created})
    ids = {}
    for message in copy.deepcopy(of.messages[:messages]):
        ids[message["id"]] = f"msg_{session[4:]}_{len(ids):03d}"
        new.messages.append({**message, "id": ids[message["id"]], "sessionID": session})
    for part in copy.deepcopy(of.parts):
        if part["messageID"] in ids:
            number = f"prt_{session[4:]}_{len(new.parts):03d}"
            new.parts.append({**part, "id": number, "sessionID": session, "messageID": ids[part["messageID"]]})
    new.clock = created
    return new


def raw(*stores: Store) -> pl.LazyFrame:
    rows = [row(record) for store in stores for record in kept(read(store.files()))]
    return pl.DataFrame(rows, schema=RAW_RECORDS.polars_schema(), orient="row").lazy()


def row(record: Record) -> dict[str, object]:
    body, day = canonical(record.value), date(2026, 3, 3)
    return {
        "source": "opencode", "unit_id": f"opencode:{record.unit}", "record_id": record.id, "body_sha256": digest(body),
        "record_type": record.type, "ts": record.ts, "ts_assumed": record.ts_assumed, "unit_day": day, "body": body,
        "project_hint": None, "person_hint": None, "capture_sha256": "0", "source_uri": "a", "first_kept": day,
    }  # fmt: skip


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_a_forks_copies_belong_to_the_session_that_said_them_first(order: tuple[int, ...]) -> None:
    """faults 2: a fork replays its parent; each turn counts once, whichever is read first."""
    original = talk()
    first = fork(original, "ses_f1", 3, START + 1_000_000).said("try another bucket").answered("ok")
    second = fork(first, "ses_f2", 4, START + 2_000_000).said("and another")
    other, later = Store("ses_z8").said("why is it slow?"), Store("ses_z9")
    later.clock += 1
    later.said("why does the nightly export fail? – größer")
    stores = [original, first, second]
    lazy = raw(*[stores[number] for number in order], other, later)
    owned = copies.owned_elsewhere(lazy)
    prompts = {}
    for unit in units_of(lazy.collect(), owned, date.max):
        prompts[unit.unit_id] = texts(opencode.events(unit), "prompt")
    assert prompts == {
        "opencode:ses_0a1": ["why does the nightly export fail? – größer", "use the staging bucket, never production"],
        "opencode:ses_f1": ["try another bucket"],
        "opencode:ses_f2": ["and another"],
        "opencode:ses_z8": ["why is it slow?"],
        "opencode:ses_z9": ["why does the nightly export fail? – größer"],
    }
    assert {owner for (_, record), owner in owned.items() if record.startswith("msg_f2_003")} == {"opencode:ses_f1"}


def test_sub_agents_started_in_one_instant_are_no_forks() -> None:
    units = [unit_of(read(Store(name, parentID="ses_p").said("scan").files()), name) for name in ("ses_1", "ses_2")]
    assert opencode_forks.copied(units) == {}
