"""The closed vocabularies of the contract. Each word is produced somewhere; `tests/contract` says so."""

from __future__ import annotations

STAGES = ("raw", "events", "evidence", "learnings", "outcomes", "release")
SOURCES = (
    "claude_code", "codex", "copilot_cli", "gemini_cli", "opencode", "github", "gitlab", "slack",
    "specstory", "aider", "gitmem", "documents", "decisions",
)  # fmt: skip
UNIT_KINDS = ("session", "merge_request", "thread", "document", "decision")
ACTOR_CLASSES = ("human", "agent", "tool", "system", "injected", "bot")
EVENT_KINDS = (
    "prompt", "queued_prompt", "answer", "tool_call", "tool_result", "rejection", "denial", "interrupt",
    "compaction", "injected", "merge_request_link", "usage", "other",
    "merge_request_opened", "merge_request_merged", "merge_request_closed", "review", "review_comment",
    "comment", "commit", "system_note",
    "message", "message_deleted",
    "document_version", "document_deleted",
)  # fmt: skip
SIGNAL_KINDS = (
    "rejection", "correction", "instruction", "decision", "answer_accepted", "authored", "review_change",
    "review_repeated", "revert", "error_fixed", "retry_worked", "memory_refuted", "proposed",
    "error_seen", "friction", "ownership", "commitment", "blocker", "open_question",
)  # fmt: skip
SURFACES = ("cli", "mcp", "teamai", "gitmem")
RECALL_VERDICTS = ("RELEVANT", "WEAK", "NOT_RELEVANT", "UNREACHABLE")
ITEM_KINDS = ("scar", "win", "pattern", "anti_pattern", "decision", "procedure", "preference", "fact")
SEVERITIES = ("low", "medium", "high", "critical")
TRUSTS = ("reviewed", "corroborated", "stated", "mechanical", "proposed")
STATES = (
    "candidate", "active", "superseded", "refuted", "expired", "archived", "rejected", "forgotten", "quarantined",
)  # fmt: skip
DECISIONS = (
    "approve", "reject", "edit", "retire", "restore", "supersede", "endorse", "dispute", "forget",
    "pin", "merge", "split", "dismiss", "experiment",
)  # fmt: skip
DECISION_VERDICTS = ("applies", "overruled", "refused", "no_item")
REVIEW_REASONS = (
    "candidate", "risky", "near_tombstone", "disputed", "text_changed", "source_gone", "agent_refuted",
)  # fmt: skip
TOPIC_KINDS = ("project", "path", "package", "channel", "error", "person", "topic")
TAGGERS = ("project", "path", "package", "channel", "error", "mention", "folder", "tag")
SUPERSESSION_REASONS = ("explicit", "same_document", "value_changed", "decision_reversed", "duplicate")
