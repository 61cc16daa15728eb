"""An answer whose comment no capture holds says so; one whose comment is there joins it."""

from __future__ import annotations

import json


def comment(number: int, body: str, **more: object) -> dict[str, object]:
    return {
        "id": number, "body": body, "path": "app/read.py", "line": 4, "original_line": 4, "commit_id": "b" * 40,
        "user": {"login": "ben", "type": "User"}, "created_at": f"2026-03-02T09:0{number}:00Z",
        "updated_at": f"2026-03-02T09:0{number}:00Z", "diff_hunk": "@@", "pull_request_review_id": 1,
        "url": f"https://api.github.com/repos/acme/shop/pulls/comments/{number}",
        "html_url": f"https://github.com/acme/shop/pull/7#discussion_r{number}",
        "pull_request_url": "https://api.github.com/repos/acme/shop/pulls/7", **more,
    }  # fmt: skip


def test_only_an_answer_to_something_absent_is_marked(nights, tmp_path) -> None:
    folder = tmp_path / "forge"
    folder.mkdir()
    found = [comment(1, "Close it."), comment(2, "Done.", in_reply_to_id=1), comment(3, "Done too.", in_reply_to_id=9)]
    (folder / "comments.json").write_text(json.dumps(found))
    lake = nights("lake")
    lake.folder(folder)
    events = {row["text"]: row for row in lake.events("review_comment").to_dicts()}
    assert events["Done."]["reply_to"] == events["Close it."]["event_id"]
    marks = {text: json.loads(row["attributes"]).get("answers_unseen") for text, row in events.items()}
    assert marks == {"Close it.": None, "Done.": None, "Done too.": "review_comment:9"}
    assert events["Done too."]["reply_to"] is None
