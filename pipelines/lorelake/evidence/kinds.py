"""What each kind of signal is, in a line: for the docs, and for who asks why."""

from __future__ import annotations

KINDS: dict[str, str] = {
    "rejection": "a person refused a tool call, with words; without a direction or a reason it becomes no item",
    "correction": "a person's turn right after an agent's act, saying that the act is not what they wanted",
    "instruction": "what a person says shall hold from now on, in this project",
    "decision": "something a person settled, with what was turned down and why; what a review says stands on purpose",
    "answer_accepted": "a question, a concrete reply by somebody else, and the asker's word that it helped",
    "authored": "a learning or decision record, or a section of a request headed lesson, root cause or gotcha",
    "review_change": "a review comment that led to a change, or was acknowledged by who answered it",
    "review_repeated": "the same comment on three requests and more, by two reviewers and more",
    "revert": "a change that was taken back, with the reason given",
    "error_fixed": "a command that failed, and later passed in that session, with what changed in between",
    "retry_worked": "a call that failed, and the same tool with other arguments that did not",
    "memory_refuted": "a person's word against a learning that was shown in that session",
    "proposed": "what an agent or a model offers to remember; it waits for a person",
    "error_seen": "an error met in a session, by its signature; counted, never an item",
    "friction": "interrupts, denials, refusals, errors and retries of a session, with a score; never an item",
    "ownership": "who owns something, or hands it over; never an item",
    "commitment": "who says they will do what, by when; never an item",
    "blocker": "what is stuck, and on what; never an item",
    "open_question": "a question that nobody has answered; never an item",
}
"""Signal kind to its meaning, those that may become items first."""
