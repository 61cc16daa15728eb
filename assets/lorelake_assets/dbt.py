"""The SQL half of the night: lay out the Parquet, run dbt in this process, write the tables under contract.

Belongs here: how dbt is called. Which rules it runs stands in `models/`; which columns a table has, in
`lorelake.tables`. dbt never writes into `models/`: database, target and logs lie in a scratch folder of the
lake, made for one run. See https://docs.getdbt.com/reference/programmatic-invocations.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import msgspec

from lorelake import lake as lakes
from lorelake.errors import ContractError
from lorelake.evidence.gates import RULES
from lorelake.lake import Lake
from lorelake.settings import CONSTANTS, Ageing, Revalidate, Settings
from lorelake.tables import SERVED_IDS, TABLES, Table, moves

INPUTS = (
    "people", "events", "ledger", "signals", "admissions", "exposures", "claims",
    "supersession_candidates", "regroupings", "intake", "quarantine", "sessions", "session_merge_requests",
    "served_ids", "model_answers", "imported_votes",
)  # fmt: skip
"""The tables written by Python that the models read, each through `models/layers/staging/stg_<table>.sql`."""

VERDICTS = "dbt_tests.json"
"""In `lake.state`: what the data tests said of the tables as they lie."""

Variable = str | int | float | list[str] | dict[str, int]
"""What a dbt var may be."""

_AGEING = Ageing()
_REVALIDATE = Revalidate()

OUTPUTS = tuple(table for table in TABLES.values() if table.sql)


@dataclass(frozen=True)
class Verdict:
    """What one data test said. `failures` counts the rows that break it; `severity` is error or warn."""

    name: str
    severity: str
    failures: int
    message: str

    @property
    def passed(self) -> bool:
        """No row breaks it."""
        return self.failures == 0

    @property
    def holds_release(self) -> bool:
        """A failed test of severity warn tells of something and holds nothing."""
        return not self.passed and self.severity == "error"


@dataclass(frozen=True)
class DbtResult:
    """Rows per table written, and the verdict of every data test, both in order of name."""

    rows: dict[str, int]
    verdicts: tuple[Verdict, ...]

    @property
    def success(self) -> bool:
        """No test of severity error failed."""
        return not any(verdict.holds_release for verdict in self.verdicts)


def project_dir(packaged: str, checkout: str) -> Path:
    """A data folder of the project: inside the wheel, or at the top of the checkout."""
    here = Path(__file__).parent
    inside = here / packaged
    return inside if inside.is_dir() else here.parents[1] / checkout


def models_dir() -> Path:
    """The dbt project."""
    return project_dir("_dbt", "models")


def build(lake: Lake, as_of: date, settings: Settings, *, threads: int = 2) -> DbtResult:
    """Derive every SQL table of the lake from the tables Python wrote, and test what was derived.

    Reads `INPUTS` from the lake (one that was never written counts as empty) and writes `OUTPUTS` into it.
    A data test that fails is a finding in the result; the tables are written all the same, to be looked at.

    Args:
        lake: its `scratch("dbt")` is emptied and used.
        as_of: the day the tables tell of.
        settings: of which `review.require`, `ageing` and `revalidate` reach SQL.
        threads: models that may run at once; no row depends on it.

    Raises:
        ContractError: a model or test could not be run, or its rows do not fit the contract.
    """
    scratch = lake.scratch("dbt")
    inputs = scratch / "inputs"
    for name in INPUTS:
        _lay_out(lake, TABLES[name], inputs / name)
    database = scratch / "run.duckdb"
    variables = run_variables(
        inputs, as_of, settings.review.require, database, threads, settings.ageing, settings.revalidate
    )
    project = Project(scratch, variables, read_parsed(lake))
    project.invoke("run")
    verdicts = [_verdict(result) for result in project.invoke("test", "--select", "test_type:data")]
    rows = _export(database, lake)
    return DbtResult(rows, tuple(sorted(verdicts, key=lambda verdict: verdict.name)))


def remember(lake: Lake, result: DbtResult) -> None:
    """Keep the verdicts of the data tests beside the tables, for the audit of the candidate made of them."""
    lakes.write_bytes(lake.state / VERDICTS, json.dumps([asdict(v) for v in result.verdicts], indent=1).encode())


def judge_tests(lake: Lake) -> dict[str, Literal["pass", "fail"]]:
    """What the data tests said of the tables that lie in the lake, as `dbt <test>` to pass or fail.

    A test of severity warn passes, and its name then tells how many rows it found.

    Raises:
        ContractError: the tables were never tested.
    """
    path = lake.state / VERDICTS
    try:
        found = [Verdict(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        raise ContractError("the SQL tables were not tested", where=str(path), remedy="run the night again") from None
    return {
        f"dbt {v.name}" + ("" if v.passed else f" ({v.failures} rows)"): "fail" if v.holds_release else "pass"
        for v in found
    }


def run_variables(
    inputs: Path,
    as_of: date,
    review_require: str,
    database: Path,
    threads: int = 1,
    ageing: Ageing = _AGEING,
    revalidate: Revalidate = _REVALIDATE,
) -> dict[str, Variable]:
    """The dbt vars of one run: folders, day, settings, the gates in order, and every constant that stages share."""
    return {
        "inputs": glob.escape(str(inputs)),
        "database": str(database),
        "threads": threads,
        "as_of": as_of.isoformat(),
        "review_require": review_require,
        "ageing_half_life_days": msgspec.to_builtins(ageing),
        "revalidate_days": revalidate.days(),
        "moves": moves.allowed(),
        "gate_rules": [rule for rule in RULES if rule != "admitted"],
        **CONSTANTS,
    }


def parsed_name() -> str:
    """File name of the parsed project: of dbt's version and of every file of it, so that a stale one is never read."""
    total = hashlib.sha256(version("dbt-core").encode() + version("dbt-duckdb").encode())
    for path in sorted(models_dir().rglob("*")):
        if path.suffix in {".sql", ".yml", ".csv"} and "target" not in path.parts:
            total.update(path.relative_to(models_dir()).as_posix().encode() + b"\0" + path.read_bytes())
    return f"manifest-{total.hexdigest()[:16]}.msgpack"


def keep_parsed(folder: Path) -> Path:
    """Parse the project once and keep it: `make setup` in `models/target`, the first run of an install in its lake."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        variables = run_variables(place, date(2000, 1, 1), "risky", place / "run.duckdb")
        manifest = Project(place, variables).parse()
    path = folder / parsed_name()
    lakes.write_bytes(path, manifest.to_msgpack())
    return path


def read_parsed(lake: Lake) -> Any:
    """The parsed project as a dbt manifest. Parsing takes longer than all queries of a small team, reading 0.2 s.

    Vars are rendered when a model runs, so one parsed project serves every night.
    """
    from dbt.contracts.graph.manifest import Manifest

    folders = (models_dir() / "target", lake.state)
    kept = next((path for path in (folder / parsed_name() for folder in folders) if path.exists()), None)
    return Manifest.from_msgpack((kept or keep_parsed(lake.state)).read_bytes())


class Project:
    """The dbt project as one run sees it.

    Args:
        scratch: where target and logs go.
        variables: of `run_variables`.
        manifest: the parsed project; without one it is parsed on the first command.
    """

    def __init__(self, scratch: Path, variables: Mapping[str, Variable], manifest: Any = None) -> None:
        self.folder = models_dir()
        self._scratch = scratch
        self._variables = json.dumps(dict(variables))
        self._manifest = manifest

    def parse(self) -> Any:
        """The project as a dbt manifest, read from its files."""
        return self._call("parse")

    def invoke(self, command: str, *arguments: str) -> Sequence[Any]:
        """Run one dbt command in this process and return its node results.

        Raises:
            ContractError: dbt could not run, or a node ended in an error. A failed test is no error.
        """
        if self._manifest is None:
            self._manifest = self.parse()
        results: Sequence[Any] = self._call(command, *arguments).results
        for result in results:
            if str(result.status) in ("error", "runtime error", "skipped"):
                raise ContractError(
                    f"dbt {command}: {result.node.name} ended as {result.status}: {result.message}",
                    where=str(result.node.original_file_path),
                )
        return results

    def _call(self, command: str, *arguments: str) -> Any:
        from dbt.cli.main import dbtRunner

        with chdir(os.getcwd()):  # dbt goes into its project's folder and stays there
            outcome = dbtRunner(manifest=self._manifest).invoke(
                [
                    "--quiet", "--no-print", "--no-use-colors", "--no-write-json", "--no-partial-parse",
                    "--no-send-anonymous-usage-stats", "--no-version-check",
                    "--log-level", "none", "--log-level-file", "none", "--log-path", str(self._scratch / "logs"),
                    command,
                    "--project-dir", str(self.folder), "--profiles-dir", str(self.folder),
                    "--target-path", str(self._scratch / "target"), "--vars", self._variables, *arguments,
                ]
            )  # fmt: skip
        if outcome.exception is not None:
            raise ContractError(f"dbt {command} could not run: {outcome.exception}", where=str(self.folder))
        return outcome.result


def _verdict(result: Any) -> Verdict:
    failed = str(result.status) != "pass"
    return Verdict(
        name=str(result.node.name),
        severity=str(result.node.config.severity).lower(),
        failures=max(1, int(result.failures or 0)) if failed else 0,
        message=str(result.message or "") if failed else "",
    )


def _lay_out(lake: Lake, table: Table, folder: Path) -> None:
    """Link a table's files into one folder, so that a model reads `<folder>/*.parquet` whatever the partitions."""
    folder.mkdir(parents=True)
    files = lake.days(table) if table.partitioned else [lake.table(table)]
    if table is SERVED_IDS:
        files = lake.served_ids()
    found = [path for path in files if path.exists()]
    for number, path in enumerate(found):
        (folder / f"{number:06}.parquet").symlink_to(path.resolve())
    if not found:
        lakes.write_table(table, lakes.frame(table, []), folder / "empty.parquet")


def _export(database: Path, lake: Lake) -> dict[str, int]:
    """Write every SQL table into the lake through the contract; rows per table."""
    import duckdb

    counts: dict[str, int] = {}
    with duckdb.connect(str(database)) as connection:
        for table in OUTPUTS:
            data = connection.sql(f'select * from "{table.name}"').pl()  # noqa: S608  (a name of the contract)
            lakes.write_table(table, data, lake.table(table))
            counts[table.name] = data.height
    return counts


if __name__ == "__main__":
    keep_parsed(models_dir() / "target")
