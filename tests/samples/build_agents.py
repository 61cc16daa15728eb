"""Builds the sample team's sessions with the other agents, and its GitMem store.

    python tests/samples/build_agents.py        team_sources/agents -> team/transcripts, team/memory

A source is one session told in turns: what a person said, what the agent answered, what it called and what came of
it. The writers here put that into the files in which each agent keeps its sessions, so the same sources give the
same bytes: ids follow from the session's id, times from its start and the seconds stated of each turn.

A turn is a mapping of `said`, `answered` or `call` (with `args` or `patch`, `result`, and `exit`, `rejected` or `shows`
where they matter), each with `after`, the seconds since the turn before it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parent
SOURCES = SAMPLES / "team_sources" / "agents"
TEAM = SAMPLES / "team"
NEXT_TURN = 4
"""Seconds between two turns where the source states none."""

Files = dict[str, bytes]
"""Path below `team/` to content."""
Source = Mapping[str, Any]


def named(*parts: object) -> str:
    """A UUID that follows from what it names."""
    hashed = hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()
    return f"{hashed[:8]}-{hashed[8:12]}-4{hashed[13:16]}-8{hashed[17:20]}-{hashed[20:32]}"


def turns(source: Source) -> Iterator[tuple[int, datetime, Source]]:
    """Number from 0, time and content of each turn."""
    now = source["start"].replace(tzinfo=UTC)
    for number, turn in enumerate(source["turns"]):
        now += timedelta(seconds=turn.get("after", NEXT_TURN))
        yield number, now, turn


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def lines(values: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for value in values)


def copilot_cli(source: Source) -> Files:
    """`session-state/<id>/events.jsonl`: each line names the one before it."""
    session, found = source["session"], list[dict[str, Any]]()

    def add(when: datetime, kind: str, **data: Any) -> None:
        parent = found[-1]["id"] if found else None
        record_id = named(session, len(found))
        found.append({"type": kind, "data": data, "id": record_id, "timestamp": stamp(when), "parentId": parent})

    start = source["start"].replace(tzinfo=UTC)
    add(
        start, "session.start", sessionId=session, version=1, producer="copilot-agent", copilotVersion="1.0.64",
        startTime=stamp(start), selectedModel=source["model"], context=source["context"],
    )  # fmt: skip
    written, now = 0, start
    for number, now, turn in turns(source):
        if "said" in turn:
            around = f"<current_datetime>{stamp(now)}</current_datetime>\n\n{turn['said']}"
            add(now, "user.message", content=turn["said"], transformedContent=around, attachments=[])
        elif "answered" in turn:
            about = {"model": source["model"], "outputTokens": len(turn["answered"])}
            add(now, "assistant.message", content=turn["answered"], toolRequests=[], **about)
            written += len(turn["answered"])
        else:
            call = {"toolCallId": f"call_{named(session, number)[:8]}"}
            tool, given = turn["call"], turn["args"]
            asked = [{**call, "name": tool, "arguments": given, "type": "function"}]
            add(now, "assistant.message", content="", toolRequests=asked, model=source["model"])
            add(now, "tool.execution_start", **call, toolName=tool, arguments=given)
            later = now + timedelta(seconds=2)
            if "rejected" in turn:
                about = {"kind": "shell", **call, "fullCommandText": given["command"]}
                add(later, "permission.requested", requestId=f"r-{number}", permissionRequest=about)
                verdict = {"kind": "denied-interactively-by-user", "feedback": turn["rejected"]}
                add(later, "permission.completed", requestId=f"r-{number}", result=verdict)
                error = {"message": "The user rejected this tool call.", "code": "denied"}
                add(later, "tool.execution_complete", **call, success=False, error=error)
                continue
            printed = turn["result"]
            if "exit" in turn:
                printed += f"\n<shellId: {number} completed with exit code {turn['exit']}>"
            add(later, "tool.execution_complete", **call, success=True, result={"content": printed})
    used = {"requests": {"count": 1, "cost": 0}, "usage": {"inputTokens": 21_400, "outputTokens": written}}
    add(
        now + timedelta(seconds=9), "session.shutdown", shutdownType="routine", totalPremiumRequests=1,
        sessionStartTime=milliseconds(start), modelMetrics={source["model"]: used},
    )  # fmt: skip
    return {f"transcripts/copilot-cli/{session}/events.jsonl": lines(found)}


def gemini_cli(source: Source) -> Files:
    """The chat as it lay on the disk at several times: the file is rewritten whole.

    Of a capture the last turn may lack its calls, which were then still to come.
    """
    session, project = source["session"], hashlib.sha256(source["folder"].encode()).hexdigest()
    start = source["start"].replace(tzinfo=UTC)
    messages: list[dict[str, Any]] = []
    for number, now, turn in turns(source):
        message: dict[str, Any] = {"id": named(session, number), "timestamp": stamp(now)}
        if "said" in turn:
            messages.append(message | {"type": "user", "content": turn["said"]})
            continue
        message |= {"type": "gemini", "content": turn.get("answered", "")}
        if "call" in turn:
            call_id = f"{turn['call']}-{milliseconds(now)}"
            output: dict[str, Any] = {"id": call_id, "name": turn["call"], "response": {"output": turn["result"]}}
            message["toolCalls"] = [{
                "id": call_id, "name": turn["call"], "args": turn["args"], "status": "success",
                "timestamp": stamp(now), "result": [{"functionResponse": output}],
            }]  # fmt: skip
        counted = {"input": 9_000 + 400 * number, "output": 20 + len(message["content"]), "cached": 0, "tool": 0}
        messages.append(message | {"tokens": counted, "model": source["model"]})
    found: Files = {}
    for capture in source["captures"]:
        until = [dict(message) for message in messages[: capture["messages"]]]
        if capture.get("unfinished"):
            until[-1] = {k: v for k, v in until[-1].items() if k not in ("toolCalls", "tokens")}
        head = {
            "sessionId": session, "projectHash": project, "startTime": stamp(start),
            "lastUpdated": until[-1]["timestamp"],
        }  # fmt: skip
        name = f"session-{start:%Y-%m-%dT%H-%M}-{session[:8]}.json"
        folder = f"transcripts/gemini-cli/{capture['day']}/chats"
        found[f"{folder}/{name}"] = dumped(head | {"messages": until})
    return found


def opencode(source: Source) -> Files:
    """`storage/session`, `message` and `part`: the text lies in parts, a call is one with its result."""
    session, start = source["session"], milliseconds(source["start"].replace(tzinfo=UTC))
    root = "transcripts/opencode/storage"
    found: Files = {}
    message: dict[str, Any] = {}
    ended = True
    now = source["start"]
    for number, now, turn in turns(source):
        role = "user" if "said" in turn else "assistant"
        if ended or role != message["role"]:
            ids = {"id": f"msg_{session[4:]}{number:03d}", "sessionID": session, "role": role}
            message = ids | {"time": {"created": milliseconds(now)}}
            if role == "assistant":
                path = {"cwd": source["folder"], "root": source["folder"]}
                message |= {"modelID": source["model"], "providerID": "anthropic", "path": path}
            found[f"{root}/message/{session}/{message['id']}.json"] = dumped(message)
        ended = role == "user" or "rejected" in turn
        part = {"id": f"prt_{session[4:]}{number:03d}", "sessionID": session, "messageID": message["id"]}
        if "call" in turn:
            state: dict[str, Any] = {"status": "completed", "input": turn["args"]}
            if "rejected" in turn:
                refused = "The user rejected permission to use this specific tool call with the following feedback: "
                state |= {"status": "error", "error": refused + turn["rejected"]}
            else:
                state["output"] = turn["result"]
            state |= {"metadata": {"exit": turn["exit"]}} if "exit" in turn else {}
            state["time"] = {"start": milliseconds(now), "end": milliseconds(now) + 1500}
            part |= {"type": "tool", "callID": f"call_{number}", "tool": turn["call"], "state": state}
        else:
            part |= {"type": "text", "text": turn.get("said") or turn["answered"]}
            part |= (
                {"time": {"start": milliseconds(now), "end": milliseconds(now) + 900}} if role == "assistant" else {}
            )
        found[f"{root}/part/{message['id']}/{part['id']}.json"] = dumped(part)
    info = {
        "id": session, "version": "1.0.180", "projectID": source["project_id"], "directory": source["folder"],
        "title": source["title"], "time": {"created": start, "updated": milliseconds(now.replace(tzinfo=UTC))},
    }  # fmt: skip
    found[f"{root}/session/{source['project_id']}/{session}.json"] = dumped(info)
    return found


def aider(source: Source) -> Files:
    """One history to which every launch appends; aider ends its own lines with two spaces."""
    text = ""
    for launch in source["launches"]:
        text += f"\n# aider chat started at {launch['started']}\n\n"
        text += "".join(f"> {line}  \n" for line in (*source["greeting"], *launch.get("told", ())))
        for turn in launch.get("turns", ()):
            if "said" in turn:
                text += "\n#### " + "  \n#### ".join(turn["said"].strip().split("\n")) + "  \n"
            elif "answered" in turn:
                text += f"\n{turn['answered'].strip()}\n\n"
            else:
                text += "".join(f"> {line}  \n" for line in turn["told"])
    return {"transcripts/aider/.aider.chat.history.md": text.encode()}


def gitmem(source: Source) -> Files:
    """`.gitmem/learnings.json`, the rows as they are told."""
    return {f"memory/{source['project']}/.gitmem/learnings.json": dumped(source["rows"])}


class Story:
    """A SpecStory file."""

    def __init__(self, agent: str, session: str, start: datetime) -> None:
        began = f"{start:%Y-%m-%d %H:%M:%S}Z"
        self.text = f"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# {began}\n\n"
        self.text += f"<!-- {agent} Session {session} ({began}) -->\n"
        self.before = ""

    def turn(self, role: str, about: str, when: datetime, body: str) -> None:
        rule = "\n---\n" if self.before not in ("", role) else ""
        self.text += f"{rule}\n_**{role} ({about}{when:%Y-%m-%d %H:%M:%S}Z)**_\n\n{body.strip()}\n"
        self.before = role

    def call(self, about: str, when: datetime, tool: str, shows: str, printed: str) -> None:
        kind = {"Bash": "shell", "Read": "read", "read_file": "read", "Task": "task"}.get(tool, "write")
        body = f'<tool-use data-tool-type="{kind}" data-tool-name="{tool}"><details>\n<summary>Tool use: **{tool}**'
        if shows.startswith("•"):  # names the file, on the line of the summary
            file, _, shows = shows.partition("\n")
            body += f" {file}"
        body += "</summary>\n" + (f"\n{shows.strip()}\n" if shows else "")
        body += f"\n```text\n{printed}\n```\n" if printed else ""
        self.turn("Agent", about, when, f"{body}</details></tool-use>")

    def files(self, source: Source) -> Files:
        name = f"{source['start']:%Y-%m-%d_%H-%M-%SZ}-{source['slug']}.md"
        return {f"transcripts/specstory/.specstory/history/{name}": self.text.encode()}


def specstory(source: Source) -> Files:
    """A session of an agent whose own store is not at hand."""
    story = Story(source["name"], source["session"], source["start"])
    model = f"{source['model']} "
    for _, now, turn in turns(source):
        if "said" in turn:
            story.turn("User", "", now, turn["said"])
        elif "answered" in turn:
            story.turn("Agent", model, now, turn["answered"])
        else:
            story.call(model, now, turn["call"], turn.get("shows", ""), turn.get("result", ""))
    return story.files(source)


def rendition(source: Source) -> Files:
    """The first records of a Claude Code session of the team, as SpecStory writes them down."""
    path = TEAM / "transcripts" / "claude-code" / source["of"]
    story = Story("Claude Code", path.stem, source["start"])
    results: dict[str, str] = {}
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[: source["records"]]]
    talk = [record for record in records if record["type"] in ("user", "assistant")]
    for record in talk:
        content = record["message"]["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_result" and isinstance(block["content"], str):
                results[block["tool_use_id"]] = block["content"]
    for record in talk:
        when = datetime.fromisoformat(record["timestamp"])
        content = record["message"]["content"]
        if isinstance(content, str):
            story.turn("User", "", when, content)
            continue
        model = f"{record['message'].get('model')} "
        for block in content:
            if block["type"] == "text":
                story.turn("Agent", model, when, block["text"])
            elif block["type"] == "tool_use":
                given = block["input"]
                command = f"{given['description']}\n\n`{given['command']}`" if "command" in given else ""
                story.call(model, when, block["name"], command, results.get(block["id"], ""))
    return story.files(source)


def codex_fork(source: Source) -> Files:
    """A Codex session that opens with a copy of its parent's first records, under its own time."""
    folder = TEAM / "transcripts" / "codex" / source["person"]
    (parent,) = folder.glob(f"rollout-*-{source['parent']}.jsonl")
    copied = [json.loads(line) for line in parent.read_text(encoding="utf-8").splitlines()[: source["records"]]]
    start, session = source["start"].replace(tzinfo=UTC), source["session"]
    meta = dict(copied[0]["payload"])
    meta |= {"id": session, "timestamp": stamp(start), "forked_from_id": source["parent"]}
    found = [{"timestamp": stamp(start), "type": "session_meta", "payload": meta}]
    found += [record | {"timestamp": stamp(start)} for record in copied]
    return rollout(source, found, meta["cwd"])


def codex(source: Source) -> Files:
    """A Codex session that begins by itself."""
    start = source["start"].replace(tzinfo=UTC)
    meta = {
        "id": source["session"], "timestamp": stamp(start), "cwd": source["folder"], "originator": "codex-tui",
        "cli_version": "0.140.0", "source": "cli", "thread_source": "user", "model_provider": "openai",
        "git": source["git"],
    }  # fmt: skip
    return rollout(source, [{"timestamp": stamp(start), "type": "session_meta", "payload": meta}], meta["cwd"])


def rollout(source: Source, found: list[dict[str, Any]], cwd: str) -> Files:
    """`rollout-<start>-<id>.jsonl`: the records so far, then the turns of the source."""
    start, session = source["start"].replace(tzinfo=UTC), source["session"]

    def add(when: datetime, kind: str, **payload: Any) -> None:
        found.append({"timestamp": stamp(when), "type": kind, "payload": payload})

    for number, now, turn in turns(source):
        if "said" in turn:
            text = [{"type": "input_text", "text": turn["said"]}]
            add(now, "response_item", type="message", role="user", content=text)
            add(now, "event_msg", type="user_message", message=turn["said"], images=[])
        elif "answered" in turn:
            add(now, "event_msg", type="agent_message", message=turn["answered"], phase="final_answer")
            text = [{"type": "output_text", "text": turn["answered"]}]
            add(now, "response_item", type="message", role="assistant", content=text, phase="final_answer")
        else:
            call = {"call_id": f"call_{named(session, number)[:8]}"}
            later, tool, printed = now + timedelta(seconds=1), turn["call"], turn["result"]
            if tool == "apply_patch":
                call |= {"name": tool, "status": "completed"}
                add(now, "response_item", type="custom_tool_call", input=turn["patch"], **call)
                printed = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{printed}\n"
                add(later, "response_item", type="custom_tool_call_output", call_id=call["call_id"], output=printed)
                continue
            given = turn["args"] | ({"workdir": cwd} if "exit" in turn else {})
            add(now, "response_item", type="function_call", name=tool, arguments=json.dumps(given), **call)
            if "exit" in turn:
                printed = f"Wall time: 0.4 seconds\nProcess exited with code {turn['exit']}\nOutput:\n{printed}\n"
            add(later, "response_item", type="function_call_output", **call, output=printed)
    name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
    return {f"transcripts/codex/{source['person']}/{name}": lines(found)}


WRITERS: dict[str, Callable[[Source], Files]] = {
    "copilot_cli": copilot_cli, "gemini_cli": gemini_cli, "opencode": opencode, "aider": aider, "gitmem": gitmem,
    "specstory": specstory, "rendition": rendition, "codex": codex,
    "codex_fork": codex_fork,
}  # fmt: skip


def build(sources: Path = SOURCES) -> Files:
    """Every file that the sources tell of."""
    import yaml

    found: Files = {}
    for path in sorted(sources.glob("*.yaml")):
        source = yaml.safe_load(path.read_text(encoding="utf-8"))
        found |= WRITERS[source["writer"]](source)
    return found


def main() -> None:
    """Write every file to its place in `team/`; prints what was written."""
    for name, content in sorted(build().items()):
        path = TEAM / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sys.stdout.write(f"team/{name}\n")


if __name__ == "__main__":
    main()
