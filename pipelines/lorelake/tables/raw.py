"""Contract of stage raw: what arrived, what was refused, and the books."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import SOURCES

RAW_RECORDS = Table(
    "raw_records",
    "raw",
    "one version of one native record in one unit",
    ("source", "unit_id", "record_id", "body_sha256"),
    (
        Column("source", "str", "format family the record came in", SOURCES),
        Column("unit_id", "str", "native id of the session, merge request, thread, document or decision it belongs to"),
        Column("record_id", "str", "native id of the record, else sha256 of its canonical content"),
        Column("body_sha256", "str", "sha256 of the redacted body: tells versions of one record apart"),
        Column("record_type", "str", "the source's own name for this kind of record; unknown ones are kept"),
        Column("ts", "ts?", "when it happened; null where the record states no time"),
        Column("ts_assumed", "bool", "true where the record states no time, or one without a zone"),
        Column("unit_day", "date", "UTC day on which the unit began; the partition"),
        Column(
            "body",
            "str",
            "the decoded record as canonical JSON after redaction, blobs replaced by type, size and sha256",
        ),
        Column("project_hint", "str?", "project assumed by the settings for files that state none"),
        Column("person_hint", "str?", "person assumed by the settings for files that state none"),
        Column("capture_sha256", "str", "sha256 of the capture it was taken from; the smallest if several hold it"),
        Column("source_uri", "str", "capture name, member and line, to find it again"),
        Column("first_kept", "date", "as-of day on which the lake first kept this record; never changes"),
    ),
    partitioned=True,
)

QUARANTINE = Table(
    "quarantine",
    "raw",
    "one refused record, file or capture",
    ("source", "capture", "source_uri", "reason", "sha256"),
    (
        Column("source", "str", "format family, or `unknown` where nothing recognised the file"),
        Column("capture", "str", "name of the capture it stood in"),
        Column("source_uri", "str", "capture name, member and line"),
        Column("reason", "str", "rule code of the refusal"),
        Column("detail", "str", "what was wrong, in words"),
        Column("byte_offset", "int", "where the record starts in its member, in bytes"),
        Column("sha256", "str", "sha256 of the refused bytes"),
        Column("head", "str", "the first 200 characters, masked as text"),
        Column("first_seen", "date", "as-of day on which it was first refused"),
    ),
    released=False,
)

INTAKE = Table(
    "intake",
    "raw",
    "one capture (file, export or repository) that was looked at",
    ("source", "capture"),
    (
        Column("source", "str", "format family, or `unknown`"),
        Column("capture", "str", "name of the file or folder, relative to its configured source"),
        Column("capture_sha256", "str", "sha256 over the capture's content as last read"),
        Column("fingerprint", "str", "sha256 over content, hints and rule versions: an equal one is not read again"),
        Column("seen", "int", "records met"),
        Column("kept", "int", "records that are in raw, whichever capture brought them first"),
        Column("refused", "int", "records refused; seen = kept + refused"),
        Column("reasons", "str", "JSON object: reason code to count"),
        Column(
            "extent",
            "str",
            "JSON object: what the capture covers (first and last time, units, ref, conversations); what lies outside "
            "it was not looked at, and what is missing within it was not thereby deleted",
        ),
    ),
    released=True,
)

MODEL_ANSWERS = Table(
    "model_answers",
    "raw",
    "one answer of a model about one unit",
    ("answer_key",),
    (
        Column("answer_key", "str", "sha256 of prompt, model, unit and question: an equal question is not asked again"),
        Column("unit_id", "str", "unit the question was about"),
        Column("unit_day", "date", "UTC day on which the unit began; the partition"),
        Column("model", "str", "the model's name, or the local program"),
        Column("answer", "str", "the model's text after redaction, as it came"),
        Column("is_json", "bool", "false where it is not the JSON that was asked for: it proposes nothing"),
        Column("missing", "int", "items in it whose quote nobody said: they are dropped"),
        Column("unusable", "int", "items in it of another shape, without advice, or beyond the sixth: dropped too"),
        Column("first_kept", "date", "as-of day on which it was asked"),
    ),
    partitioned=True,
)
