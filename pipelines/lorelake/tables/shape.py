"""What a table of the contract is: its columns, its key, and its schema for Arrow and polars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars
    import pyarrow


@dataclass(frozen=True)
class Column:
    """One column: `type` as in the module docstring, `meaning` as a reader of the docs sees it."""

    name: str
    type: str
    meaning: str
    values: tuple[str, ...] = ()
    """The closed vocabulary, if there is one; the suite of the table holds the same set."""

    @property
    def nullable(self) -> bool:
        """Whether null is allowed."""
        return self.type.endswith("?")

    @property
    def base(self) -> str:
        """The type without its `?`."""
        return self.type.rstrip("?")


@dataclass(frozen=True)
class Table:
    """One table. `partitioned` tables lie in one file per day; `released` ones are copied into a release."""

    name: str
    stage: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    partitioned: bool = False
    released: bool = False
    sql: bool = False
    """Built by dbt (`models/layers/<stage>/<name>.sql`), not by Python."""
    hashed: bool = field(default=False)
    """Part of the content hash that names a release."""

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names in the order of the contract."""
        return tuple(column.name for column in self.columns)

    def arrow_schema(self) -> pyarrow.Schema:
        """The Arrow schema, columns in order, nullability as declared."""
        import pyarrow as pa

        kinds = {
            "str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(),
            "ts": pa.timestamp("us", tz="UTC"), "date": pa.date32(), "list[str]": pa.list_(pa.string()),
        }  # fmt: skip
        return pa.schema([pa.field(c.name, kinds[c.base], nullable=c.nullable) for c in self.columns])

    def polars_schema(self) -> dict[str, Any]:
        """Column name to polars dtype, columns in order."""
        import polars as pl

        kinds: dict[str, polars.DataType | type[polars.DataType]] = {
            "str": pl.String, "int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean,
            "ts": pl.Datetime("us", "UTC"), "date": pl.Date, "list[str]": pl.List(pl.String),
        }  # fmt: skip
        return {c.name: kinds[c.base] for c in self.columns}
