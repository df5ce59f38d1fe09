"""Two nested values side by side: where they differ by more than rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from krand.analysis.checks import same
from krand.survey.plain_values import written_names


def differences(told: Any, true: Any, where: str = "", scale: float = 1.0) -> Iterator[str]:
    """Every place at which the two differ; numbers are measured in `scale`."""
    if told is true:
        return
    told, true = _opened(told), _opened(true)
    if isinstance(told, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys((*told, *true)):
            at = f"{where}.{name}" if where else str(name)
            if name not in told or name not in true:
                yield f"{at} is {'not there' if name not in told else 'there'}"
            else:
                yield from differences(told[name], true[name], at, scale)
    elif isinstance(told, (list, tuple)) and isinstance(true, (list, tuple)):
        if len(told) != len(true):
            yield f"{where} has {len(told):,} entries instead of {len(true):,}"
            return
        for place, (claimed, found) in enumerate(zip(told, true, strict=True)):
            yield from differences(claimed, found, f"{where}[{place}]", scale)
    elif not _alike(told, true, scale):
        yield f"{where} is {told!r:.60} instead of {true!r:.60}"


def odd_names(told: Any, true: Any, where: str = "") -> Iterator[str]:
    """Every name that only one of the two has, whatever the values."""
    if isinstance(told, Mapping) and isinstance(true, Mapping):
        for name in dict.fromkeys((*told, *true)):
            at = f"{where}.{name}" if where else str(name)
            if name in told and name in true:
                yield from odd_names(told[name], true[name], at)
            else:
                yield f"{at:.80} {'does not belong there' if name in told else 'is missing'}"
    elif isinstance(told, (list, tuple)) and isinstance(true, (list, tuple)):
        for place, (claimed, found) in enumerate(zip(told, true, strict=False)):
            yield from odd_names(claimed, found, f"{where}[{place}]")


def _opened(value: Any) -> Any:
    """Dataclasses as mappings, with the fields that files have; arrays as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in written_names(type(value))}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.value if isinstance(value, Enum) else value


def _alike(told: Any, true: Any, scale: float) -> bool:
    numbers = (int, float)
    if isinstance(told, bool) or isinstance(true, bool):
        return told is true
    if isinstance(told, numbers) and isinstance(true, numbers):
        return same(told, true, scale)
    return type(told) is type(true) and bool(told == true)
