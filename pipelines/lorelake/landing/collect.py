"""`collect`: deliver a person's transcripts of the projects they enabled, redacted, and only what is new.

A run may start from a hook or cron at any time, twice at once, and be killed at any point: it writes whole files or
none, and what it had no time to write down it does again with the same result.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lorelake import __version__
from lorelake.content.erasure import NOTHING
from lorelake.content.projects import UNKNOWN
from lorelake.landing import kept_out, sessions
from lorelake.landing.agent_stores import AgentStore
from lorelake.landing.collect_state import Entry, Sent, State
from lorelake.landing.consent import Personal, Secret
from lorelake.landing.delivery import Place, deliver, file_name, take_back
from lorelake.landing.redacted import Redacted, redacted
from lorelake.landing.silence import Seen
from lorelake.landing.survey import DATABASES, TELLING, Found, elsewhere

LARGEST = 1024**3
"""Bytes of the largest file that is collected; it is held in memory."""
SAVE_EVERY = 200
"""Deliveries after which the state is written, so that a killed first run need not start again."""

Progress = Callable[[str, int, int], None]
"""Called with (what, done, of)."""


@dataclass
class Report:
    """What a run did. Counts are of files, but `left_out` (lines by reason), `marks` (values hidden, by kind), `lines`
    and `bytes`, which are of what was delivered."""

    delivered: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    not_enabled: int = 0
    no_project: int = 0
    held: int = 0
    vanished: int = 0
    unreadable: int = 0
    too_large: int = 0
    databases: int = 0
    left_for_next: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    bytes: int = 0


class Collector:
    """One run over a person's stores.

    Args:
        personal: name, machine and place.
        enabled: the folders known of each project that may go.
        place: where it goes; None counts what would go, and writes nothing.
        state: what earlier runs remember; changed in place.
    """

    def __init__(
        self,
        personal: Personal,
        enabled: Mapping[str, Sequence[str]],
        secret: Secret,
        place: Place | None,
        state: State,
    ) -> None:
        self._personal, self._secret, self._place, self._state = personal, secret, place, state
        self._enabled = frozenset(enabled)
        self._folders = {folder: project for project in sorted(enabled) for folder in enabled[project]}
        self._marks = {secret.name("project", project) for project in enabled}
        self._agreed = secret.name("agreed", repr((__version__, sorted(self._folders.items()), sorted(enabled))))
        self._kept_out = secret.kept_out(place) if place else NOTHING
        self._under = secret.name("under", f"{secret.how} {personal.deliver_to}{self._kept_out.digest}")
        self._done = secret.name("done", self._under + self._agreed)
        self._entries: list[tuple[Found, Entry]] = []
        self.report = Report()

    def run(
        self,
        files: Sequence[Found],
        stop: Callable[[], bool] = lambda: False,
        save: Callable[[], None] = lambda: None,
        progress: Progress = lambda what, done, of: None,
    ) -> None:
        """Look at each file, and deliver what is new.

        Args:
            stop: asked before each file; where it says so, that one and the rest are left for the next run.
            save: called now and then, to write the state.

        Raises:
            LorelakeError, OSError: the place refuses; what was delivered before stands and is remembered.
        """
        saved = 0
        for number, file in enumerate(files, 1):
            if stop():
                self.report.left_for_next = len(files) - number + 1
                break
            progress(file.store.agent, number, len(files))
            self._file(file)
            if self.report.delivered.total() - saved >= SAVE_EVERY:
                saved = self.report.delivered.total()
                save()

    def unsent_of(self, file: Found, project: str, state: State) -> bool:
        """Whether a file that was not sent as it is, by what a state remembers, holds text of a project."""
        entry = state.files.get(self._key(file))
        if entry and entry.sent and not entry.held and (entry.size, entry.mtime_ns) == (file.size, file.mtime_ns):
            return False
        with suppress(_SourceGoneError, _SourceUnreadableError), _source():
            look = sessions.whole_look(file.path.name, file.path.read_bytes(), file.store.format, self._folders)
            return project in self._projects(look)
        return False

    def forget_gone(self) -> None:
        """Drop what is remembered of files that are gone, after a whole run.

        What was delivered of one stays known: where it comes back, changed, it must not overwrite that.
        """
        seen = {self._key(file) for file, _ in self._entries}
        self._state.files = {key: entry for key, entry in self._state.files.items() if key in seen or entry.sent}

    def look(self, files: Sequence[Found]) -> None:
        """Learn what each file is, without reading any further."""
        for file in files:
            with suppress(_SourceGoneError, _SourceUnreadableError):
                self._entry(file)

    def seen(self, stores: Sequence[AgentStore]) -> list[Seen]:
        """Each store as this run saw it, for telling who fell silent."""
        days: dict[tuple[str, str], list[date]] = defaultdict(list)
        for file, entry in self._entries:
            if entry.kind != "strange":
                days[file.store.format, entry.kind].append(file.day)
        for file in self.strange():
            days[file.store.format, "strange"].append(file.day)
        found = []
        for store in stores:
            read = days[store.format, "transcript"] + days[store.format, "database"]
            strange = days[store.format, "strange"]
            found.append(
                Seen(
                    store.agent, store.format, store.found, len(read), frozenset(read),
                    len(strange), max(strange, default=None), elsewhere(store),
                )
            )  # fmt: skip
        return found

    def strange(self) -> list[Found]:
        """Files of a transcript's kind that no format reads.

        A database beside a transcript is that session's own, so no news; by itself it may hold all sessions.
        """
        homes = {file.path.parent for file, entry in self._entries if entry.kind == "transcript"}
        return [
            file
            for file, entry in self._entries
            if entry.kind == "strange" and not (file.path.suffix in DATABASES and file.path.parent in homes)
        ]

    def _key(self, file: Found) -> str:
        return self._secret.name("file", f"{file.store.format}/{file.inside}")

    def _entry(self, file: Found) -> tuple[str, Entry]:
        key = self._key(file)
        entry = self._state.files.get(key)
        if entry is None or (entry.size, entry.mtime_ns, entry.agreed) != (file.size, file.mtime_ns, self._agreed):
            entry = self._state.files[key] = self._looked_at(file, entry)
        self._entries.append((file, entry))
        return key, entry

    def _file(self, file: Found) -> None:
        try:
            key, entry = self._entry(file)
            if entry.kind == "database":
                self.report.databases += 1
            if entry.kind != "transcript":
                return
            if not entry.project:
                self.report.no_project += 1
            elif entry.project not in self._marks:
                self.report.not_enabled += 1
            elif file.size > LARGEST:
                self.report.too_large += 1
            elif entry.done != self._done:
                self._read(file, key, entry)
            elif entry.held:
                self.report.held += 1
            else:
                self.report.unchanged += 1
        except _SourceGoneError:
            self.report.vanished += 1
        except _SourceUnreadableError:
            self.report.unreadable += 1

    def _looked_at(self, file: Found, before: Entry | None) -> Entry:
        """What a file is, by its beginning. What was delivered of it stays known."""
        entry = Entry(file.size, file.mtime_ns, self._agreed, sent=before.sent if before else None)
        with _source():
            format_name = sessions.sniffed(file.path) if file.size else None
            if format_name == file.store.format and file.path.suffix in DATABASES:
                entry.kind = "database"
                return entry
            if format_name != file.store.format:
                is_strange = format_name is None and file.size > 0 and file.path.suffix in TELLING
                entry.kind = "strange" if is_strange else "other"
                return entry
            look = sessions.first_look(file.path, format_name, self._folders)
        if not look.understood:
            entry.kind = "strange"
        elif not look.places:
            entry.kind = "other"
        named = next((place for place in look.places if place.project != UNKNOWN), None)
        if named:
            entry.project = self._secret.name("project", self._project(named))
        return entry

    def _project(self, place: sessions.Where) -> str:
        """A session's project; a checkout without a remote today may be a known folder of an enabled one."""
        return place.project if place.remote else self._folders.get(place.folder, place.project)

    def _read(self, file: Found, key: str, entry: Entry) -> None:
        """Read an enabled project's file whole, and deliver it if all of it may go and some of it is new."""
        with _source():
            data = file.path.read_bytes()
        source = self._secret.name("source", data)
        sent = entry.sent
        if sent and (sent.source, sent.under) == (source, self._under):
            self.report.unchanged += 1
        else:
            look = sessions.whole_look(file.path.name, data, file.store.format, self._folders)
            entry.held = not look.places or not (self._projects(look) <= self._enabled)
            if entry.held:
                self.report.held += 1
            else:
                made = redacted(file.path.name, data, self._secret.redactor)
                made = kept_out.without(made, file.store.format, file.path.name, self._kept_out, self._personal.person)
                self._deliver(file, key, entry, source, look, made)
        entry.done = self._done

    def _projects(self, look: sessions.Look) -> frozenset[str]:
        """Every project that text of a file is of: its sessions' own, and those in whose checkouts they worked."""
        return look.others | {self._project(place) for place in look.places}

    def _deliver(self, file: Found, key: str, entry: Entry, source: str, look: sessions.Look, made: Redacted) -> None:
        self.report.left_out.update(made.left_out)
        if not made.data:
            if kept_out.ERASED in made.left_out:
                self._take_back(file, key, entry)
            return
        digest, sent = self._secret.name("sent", made.data), entry.sent
        generation = sent.generation if sent else 0
        if sent and sent.under == self._under:
            if sent.digest == digest:
                self.report.unchanged += 1
                return
            # What a transcript held before it was cut or rewritten may not have been read yet: it stays.
            grown = self._secret.name("sent", made.data[: sent.size]) == sent.digest
            generation += made.is_lines and not grown
        if self._place:
            name = file_name(self._personal.machine, file.store.format, key, file.inside, generation)
            deliver(self._place, name, made.data, self._note(file, source, look, made))
        entry.sent = Sent(self._under, source, digest, len(made.data), generation)
        self.report.delivered[file.store.agent] += 1
        self.report.marks.update(made.marks)
        self.report.lines += made.lines
        self.report.bytes += len(made.data)

    def _take_back(self, file: Found, key: str, entry: Entry) -> None:
        """Delete what was delivered of a file of which nothing may lie there any more."""
        for generation in range(entry.sent.generation + 1 if entry.sent else 0):
            name = file_name(self._personal.machine, file.store.format, key, file.inside, generation)
            if self._place:
                take_back(self._place, name)
        entry.sent = None

    def _note(self, file: Found, source: str, look: sessions.Look, made: Redacted) -> dict[str, Any]:
        """Who, machine, agent, remote and branch; project and remote only where all its sessions are of one.

        `projects` are all whose withdrawal takes the file along.
        """
        own = sorted({self._project(place) for place in look.places})
        remotes = {place.remote for place in look.places}
        branches = [place.branch for place in look.places if place.branch]
        return {
            "agent": file.store.agent,
            "branch": self._secret.redactor.text(branches[-1]) if branches else None,
            "format": file.store.format,
            "left_out": made.left_out or None,
            "machine": self._personal.machine,
            "person": self._personal.person,
            "project": own[0] if len(own) == 1 else None,
            "projects": sorted(self._projects(look)),
            "remote": next(iter(remotes)) if len(remotes) == 1 else None,
            "source": source,
            "tool": f"lorelake {__version__}",
        }


class _SourceGoneError(Exception):
    """A file that was listed is there no more."""


class _SourceUnreadableError(Exception):
    """A file that the system refuses to read."""


@contextmanager
def _source() -> Iterator[None]:
    """Tells what a transcript's own file refuses apart from what the place delivered to does."""
    try:
        yield
    except FileNotFoundError:
        raise _SourceGoneError from None
    except OSError:
        raise _SourceUnreadableError from None
