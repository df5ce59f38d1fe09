"""Arrow tables as data frames of the libraries that people have."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa

from krand.errors import MissingComponent


def pandas_frame(table: pa.Table) -> Any:
    """The table as a pandas data frame."""
    _require("pandas")
    return table.to_pandas()


def polars_frame(table: pa.Table) -> Any:
    """The table as a polars data frame."""
    return _require("polars").from_arrow(table)


def _require(component: str) -> Any:
    """The module, or an error that names the extra; both have the same name."""
    try:
        return import_module(component)
    except ModuleNotFoundError as error:
        if error.name != component:
            raise
        raise MissingComponent(component, component) from None
