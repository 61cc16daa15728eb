"""The unit tests that stand beside the models, run as dbt runs them: rows in, rows out, no lake."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sql_samples import AS_OF

from lorelake.errors import ContractError
from lorelake_assets import dbt

pytestmark = pytest.mark.slow

LAYERS = dbt.models_dir() / "layers"


def _names(path: Path) -> set[str]:
    return {test["name"] for test in yaml.safe_load(path.read_text())["unit_tests"]}


def test_every_rule_holds_on_its_own_rows(tmp_path: Path) -> None:
    project = dbt.Project(tmp_path, dbt.run_variables(tmp_path, AS_OF, "risky", tmp_path / "unit.duckdb", 2))
    results = project.invoke("test", "--select", "test_type:unit")
    assert {result.node.name: result.message for result in results if str(result.status) != "pass"} == {}
    stated = set[str]().union(*(_names(path) for path in LAYERS.glob("*/*_unit_tests.yml")))
    assert {result.node.name for result in results} == stated


def test_every_model_that_holds_a_rule_has_a_unit_test() -> None:
    tested = {
        test["model"]
        for path in LAYERS.glob("*/*_unit_tests.yml")
        for test in yaml.safe_load(path.read_text())["unit_tests"]
    }
    models = {path.stem for path in LAYERS.glob("*/*.sql") if not path.stem.startswith("stg_")}
    assert models - tested == set()


def test_a_model_that_cannot_run_is_an_error_and_no_finding(tmp_path: Path) -> None:
    variables = dbt.run_variables(tmp_path / "nothing", AS_OF, "risky", tmp_path / "run.duckdb")
    with pytest.raises(ContractError, match="ended as error"):
        dbt.Project(tmp_path, variables).invoke("run", "--select", "stg_claims")
