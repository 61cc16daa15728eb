"""Open a release and read it. Writes nothing, ever: files are opened read-only and immutable at a resolved path.

Entitlement is by folder. A reader names its projects and gets the team's folder and theirs; a project the release does
not know gives the team's alone. With `audiences` the reader says exactly what to open; an empty list reads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType

import msgspec

from lorelake import served, settings
from lorelake.errors import UnreachableError, UsageError
from lorelake.recall import answer, ranking
from lorelake.recall.lexical import LexicalIndex

CURRENT = "CURRENT"
RELEASES = "releases"
ENGINES = ("lexical", "lance")
SHORTEST_PREFIX = 8
"""`lrn_` and four more characters: shorter ones name half the lake."""


def open_release(
    home: str | os.PathLike[str] | None = None,
    release: str | None = None,
    projects: Iterable[str] = (),
    audiences: Iterable[str] | None = None,
) -> ReleaseReader:
    """Open a release for reading.

    Args:
        home: the lake, or a synced copy. Default: `LORELAKE_HOME`, else what lorelake.toml here or above says, else
            ./lake.
        release: a release id; default the one CURRENT names, resolved once.
        projects: project ids whose memory is read beside the team's.
        audiences: exactly these audiences instead; empty reads nothing.

    Raises:
        UnreachableError: there is no lake, no release, or an entitled index cannot be read.
        UsageError: `release` is not a release id.
    """
    root = find_home() if home is None else Path(home).expanduser()
    if audiences is None:
        named = (served.project_audience(project) for project in projects)
        audiences = [served.TEAM_AUDIENCE, *(audience for audience in named if audience)]
    newest = release_folder(root, None) if release else None
    return ReleaseReader(release_folder(root, release), tuple(dict.fromkeys(audiences)), newest)


def find_home() -> Path:
    """Where memory lies for the current folder; see `open_release`."""
    chosen = os.environ.get(settings.HOME_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    found = find_settings()
    return settings.load(found).lake_root if found else Path("lake")


def find_settings() -> Path | None:
    """lorelake.toml in the current folder or the nearest one above."""
    here = Path.cwd()
    return next((path for path in (f / settings.FILE_NAME for f in (here, *here.parents)) if path.is_file()), None)


def release_folder(root: Path, release: str | None) -> Path:
    """The resolved folder of a release. Raises UnreachableError or UsageError as `open_release`."""
    remedy = "set LORELAKE_HOME or give --home; a first `lorelake nightly` publishes a release"
    try:
        name = release or (root / CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        what = "no release is published here" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise UnreachableError(what, where=str(root), remedy=remedy) from None
    if not served.RELEASE_ID.fullmatch(name):
        if release:
            raise UsageError(f"`{name}` is not a release id", remedy="`lorelake release list` names them")
        raise UnreachableError("CURRENT names no release", where=str(root / CURRENT), remedy=remedy)
    folder = root / RELEASES / name
    try:
        return folder.resolve(strict=True)
    except OSError as error:
        raise UnreachableError(f"release {name} cannot be read: {error.strerror}", where=str(folder)) from None


class ReleaseReader:
    """One release as one reader may see it. A context manager; safe to keep open while newer ones are published.

    Args:
        folder: the release's folder.
        audiences: labels of the entitled audiences; those without served items have no folder and add nothing.
        newest: the folder of the served release, where `folder` is an earlier one: what was rejected or forgotten since
            is not shown from the earlier one either.

    Raises:
        UnreachableError: the manifest or an entitled index cannot be read.
    """

    def __init__(self, folder: Path, audiences: Sequence[str], newest: Path | None = None) -> None:
        self.folder = folder
        self.audiences = tuple(audiences)
        self.head = _head(folder)
        self.indexes: list[LexicalIndex] = []
        self._tonight: dict[str, LexicalIndex] | None = None
        try:
            self.indexes += _indexes(folder, self.head, self.audiences)
            if newest is not None and newest != folder:
                self._tonight = {index.audience: index for index in _indexes(newest, _head(newest), self.audiences)}
        except UnreachableError:
            self.close()
            raise

    def __enter__(self) -> ReleaseReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every file."""
        for index in (*self.indexes, *(self._tonight or {}).values()):
            index.close()

    def recall(
        self, question: str, limit: int = 3, engine: str = "lexical", today: date | None = None
    ) -> answer.Answer:
        """Answer a question with at most `limit` items.

        Args:
            question: free text, error output, identifiers.
            limit: how many items to show; the answer says how many more there are.
            engine: `lexical` (the SQLite twin) or `lance` (candidates from the LanceDB table).
            today: the day the copy's age is told against; default now, UTC.
        """
        if limit < 0:
            raise UsageError("limit is negative", remedy="give 0 or more")
        terms = ranking.weigh_terms(question, self.indexes)
        found = ranking.matches(terms, self.indexes, self._candidates(question, engine))
        if self._tonight is not None:
            found = [match for match in found if not self._taken_out(match.index.item(match.rowid).learning_id)]
        best = max(found, key=lambda match: (match.coverage, len(match.terms)), default=None)
        verdict = ranking.judge(best, terms)
        ranked = ranking.rank(found, terms) if verdict != "NOT_RELEVANT" else []
        hits = tuple(answer.hit_of(entry.item, entry, len(terms.weights)) for entry in ranked[:limit])
        return answer.marked(
            answer.Answer(
                verdict=verdict,
                score=round(best.coverage, 3) if best else 0.0,
                threshold=ranking.RELEVANT_COVERAGE,
                matched_terms=tuple(term for term in terms.weights if best and term in best.terms),
                missing_terms=terms.missing,
                searched=self._searched(engine, today),
                total_matching=len(ranked),
                returned=len(hits),
                truncated=len(hits) < len(ranked),
                hits=hits,
            )
        )

    def check(self, question: str, engine: str = "lexical", today: date | None = None) -> answer.Answer:
        """Recall's verdict without the items: nothing counts as shown."""
        return self.recall(question, limit=0, engine=engine, today=today)

    def show(self, id_or_prefix: str, today: date | None = None) -> answer.Shown | None:
        """One item by id or by the only prefix; None where this reader's audiences know no such id.

        Raises:
            UsageError: the prefix is too short, or not the only one.
        """
        wanted = id_or_prefix.strip().lower()
        if len(wanted) < SHORTEST_PREFIX:
            raise UsageError(f"`{wanted}` is too short", remedy=f"give at least {SHORTEST_PREFIX} characters of the id")
        known = {id_: learning for index in self.indexes for id_, learning in index.ids(wanted).items()}
        learnings = sorted({known[wanted]} if wanted in known else set(known.values()))
        if not learnings:
            return None
        if len(learnings) > 1:
            raise UsageError(f"`{wanted}` begins {len(learnings)} ids", remedy=f"one of {', '.join(learnings[:5])}")
        return self._shown(learnings[0], today)

    def _shown(self, learning: str, today: date | None) -> answer.Shown:
        state, successor = "active", None
        item, now, met = self._item(learning), learning, {learning}
        if item is None:
            state, successor = self._retired(learning) or (self._taken_out(learning) or "unknown", None)
        while item is None and (now := (self._retired(now) or ("", None))[1] or "") and now not in met:
            met.add(now)
            item = self._item(now)
        hit = answer.hit_of(item) if item else None
        return answer.Shown(
            learning_id=learning,
            state=state,
            superseded_by=successor,
            searched=self._searched("lexical", today),
            hit=hit,
            marker=answer.opened_marker(self.head.release_id, hit),
        )

    def _taken_out(self, learning_id: str) -> str | None:
        """Why an item of this release is not shown any more, where an earlier release is read."""
        for index in self.indexes if self._tonight is not None else ():
            if index.rowid(learning_id) is None:
                continue
            tonight = (self._tonight or {}).get(index.audience)
            if tonight is None:
                return "unknown"  # that audience has nothing served tonight, and nothing that could tell why
            now = tonight.ids(learning_id).get(learning_id, learning_id)
            state, _ = tonight.retired(now) or tonight.retired(learning_id) or ("", None)
            return state if state in ("rejected", "forgotten") else None
        return None

    def _item(self, learning_id: str) -> served.Item | None:
        if self._taken_out(learning_id):
            return None
        for index in self.indexes:
            rowid = index.rowid(learning_id)
            if rowid is not None:
                return index.item(rowid)
        return None

    def _retired(self, learning_id: str) -> tuple[str, str | None] | None:
        found = (index.retired(learning_id) for index in self.indexes)
        return next((entry for entry in found if entry), None)

    def _candidates(self, question: str, engine: str) -> ranking.Candidates:
        if engine == "lexical":
            return ranking.by_sqlite
        if engine != "lance":
            raise UsageError(f"unknown engine `{engine}`", remedy=f"one of {', '.join(ENGINES)}")
        from lorelake.recall import lance

        return lance.candidates(question)

    def _searched(self, engine: str, today: date | None) -> answer.Searched:
        today = today or datetime.now(UTC).date()
        return answer.Searched(
            audiences=tuple(index.audience for index in self.indexes),
            items=sum(index.size for index in self.indexes),
            release=self.head.release_id,
            as_of=self.head.as_of.isoformat(),
            age_days=max((today - self.head.as_of).days, 0),
            engine=engine,
        )


def _indexes(folder: Path, head: served.ReleaseHead, audiences: Sequence[str]) -> list[LexicalIndex]:
    """The indexes of a release that these audiences have."""
    names = {audience: served.audience_id(head.team, audience) for audience in audiences}
    return [LexicalIndex(folder / served.INDEX_FOLDER / names[a], a) for a in audiences if head.active.get(names[a])]


def _head(folder: Path) -> served.ReleaseHead:
    path = folder / served.MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=served.ReleaseHead)
    except (OSError, msgspec.DecodeError) as error:
        raise UnreachableError(
            f"the release's manifest cannot be read: {error}", where=str(path), remedy="publish again, or sync anew"
        ) from None
