"""dbt's YAML and the suites against the contract in code: what `lorelake.tables` says, no more and no less."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lorelake.tables import TABLES, Table
from lorelake_assets import checks, dbt

MODELS, SUITES = dbt.models_dir(), checks.suites_dir()
SQL_TABLES = {table.name: table for table in TABLES.values() if table.sql}
TYPES = {
    "str": "varchar", "int": "bigint", "float": "double", "bool": "boolean", "ts": "timestamp", "date": "date",
    "list[str]": "varchar[]",
}  # fmt: skip


def _models() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(MODELS.glob("layers/*/*.yml")):
        for model in yaml.safe_load(path.read_text()).get("models", []):
            assert model["name"] not in found, f"{model['name']} is described twice"
            found[model["name"]] = {**model, "folder": path.parent.name}
    return found


DESCRIBED = _models()


def test_every_model_has_its_file_in_the_folder_of_its_stage() -> None:
    files = {path.stem: path.parent.name for path in MODELS.glob("layers/*/*.sql")}
    assert files == {name: model["folder"] for name, model in DESCRIBED.items()}
    for name, folder in files.items():
        if folder == "staging":
            assert name.removeprefix("stg_") in TABLES
        elif not name.startswith("int_"):
            assert SQL_TABLES[name].stage == folder
    assert set(SQL_TABLES) == {n for n, folder in files.items() if folder != "staging" and not n.startswith("int_")}


@pytest.mark.parametrize("name", sorted(SQL_TABLES))
def test_tables_have_the_columns_types_and_keys_of_the_contract(name: str) -> None:
    table, model = SQL_TABLES[name], DESCRIBED[name]
    assert model["config"]["contract"]["enforced"], "dbt then refuses a model whose columns or types differ"
    assert [(c["name"], c["data_type"], "constraints" in c) for c in model["columns"]] == [
        (c.name, TYPES[c.base], not c.nullable) for c in table.columns
    ]
    assert {"one_row_per": {"arguments": {"key": list(table.key)}}} in model["data_tests"]


@pytest.mark.parametrize("name", sorted(n for n in DESCRIBED if not n.startswith("int_")))
def test_columns_mean_what_the_contract_says(name: str) -> None:
    table = TABLES[name.removeprefix("stg_")]
    assert [(c["name"], c["description"]) for c in DESCRIBED[name]["columns"]] == [
        (c.name, c.meaning) for c in table.columns
    ]


def test_every_model_and_column_is_described() -> None:
    for name, model in DESCRIBED.items():
        assert len(model["description"]) > 20, name
        assert all(column["description"].strip() for column in model["columns"]), name
        assert model["columns"], name


def test_the_runner_lays_out_what_the_models_read() -> None:
    staged = {name.removeprefix("stg_") for name in DESCRIBED if name.startswith("stg_")}
    assert set(dbt.INPUTS) == staged
    read = set[str]().union(*(re.findall(r"ref\('(stg_\w+)'\)", p.read_text()) for p in MODELS.rglob("*.sql")))
    assert {name.removeprefix("stg_") for name in read} == staged, "a staging model nobody reads"


def test_no_rule_depends_on_a_clock_on_chance_or_on_arrival() -> None:
    for path in MODELS.rglob("*.sql"):
        code = re.sub(r"(?s)\{#.*?#\}|--[^\n]*", "", path.read_text()).lower()
        for word in ("now()", "current_date", "current_timestamp", "random()", "any_value(", "first(", "uuid("):
            assert word not in code, f"{path.name} uses {word}"


def test_a_singular_test_is_a_sentence_with_its_reason() -> None:
    for path in (MODELS / "tests").glob("*.sql"):
        assert path.stem.count("_") >= 3, path.stem
        assert re.search(r"^-- \S.{30,}", path.read_text(), re.M), f"{path.name} gives no reason"


def test_every_table_has_one_suite() -> None:
    assert {path.stem for path in SUITES.iterdir()} == set(TABLES)


def _suite(table: Table) -> list[dict[str, Any]]:
    suite = json.loads((SUITES / f"{table.name}.json").read_text())
    assert suite["name"] == table.name
    rules: list[dict[str, Any]] = suite["expectations"]
    return rules


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_suites_say_what_the_contract_says(table: Table) -> None:
    rules = _suite(table)
    assert all(len(rule["meta"]["why"]) > 15 and rule["severity"] in ("critical", "warning", "info") for rule in rules)

    def told(kind: str, *keys: str) -> list[Any]:
        found = [rule["kwargs"] for rule in rules if rule["type"] == kind and rule["severity"] == "critical"]
        return [tuple(kwargs[key] for key in keys) for kwargs in found]

    assert told("expect_table_columns_to_match_ordered_list", "column_list") == [(list(table.column_names),)]
    not_null = {column for (column,) in told("expect_column_values_to_not_be_null", "column")}
    assert not_null == {column.name for column in table.columns if not column.nullable}
    vocabularies = {c: tuple(values) for c, values in told("expect_column_values_to_be_in_set", "column", "value_set")}
    assert vocabularies == {column.name: column.values for column in table.columns if column.values}
    keys = [tuple(columns) for (columns,) in told("expect_compound_columns_to_be_unique", "column_list")]
    keys += [(column,) for (column,) in told("expect_column_values_to_be_unique", "column")]
    assert table.key in keys


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_no_suite_passes_on_zero_rows_without_a_word(table: Table) -> None:
    (rule,) = [rule for rule in _suite(table) if rule["type"] == "expect_table_row_count_to_be_between"]
    assert rule["kwargs"] == {"min_value": 1}
    must_exist = {"raw_records", "intake", "units", "sessions", "events", "funnel", "source_health"}
    assert (rule["severity"] == "critical") == (table.name in must_exist)


@pytest.mark.parametrize("folder", [MODELS, SUITES], ids=["models", "expectations"])
def test_data_folders_hold_no_python(folder: Path) -> None:
    """Hatchling refuses an editable install that renames a folder with a `.py` file in it, and both are renamed."""
    assert list(folder.rglob("*.py")) == []
