"""Other machines, imitated: elementary functions of the engine that are a little off.

Processors, systems and versions of numpy and scipy differ in the last digits of logarithms,
exponentials, transforms and sums, by about 10⁻¹⁶. Here they differ by 10⁻¹², up, down or at random.
What is rounded correctly on every machine stays as it is: +, -, ·, /, roots, and `math.fsum`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SIZE = 1e-12
ROOMS = ("krand.accounting", "krand.planning")
FUNCTIONS = {
    "numpy": (
        *("arctan2", "cos", "exp", "expm1", "log", "log1p", "logaddexp", "sin"),
        *("convolve", "cumsum", "einsum", "sum"),
    ),
    "numpy.fft": ("irfft", "rfft"),
    "math": (
        *("cos", "exp", "expm1", "hypot", "log", "log10", "log1p", "log2"),
        *("sin", "sinh", "tanh"),
    ),
}
SPECIAL = ("betainc", "expit", "gammaln", "log_ndtr", "logsumexp", "ndtr", "ndtri")
DIRECTIONS = ("up", "down", "at random")

Factor = Callable[[Any], Any]


def factor_of(direction: str) -> Factor:
    """1 ± 10⁻¹² for a value, or for every element of one."""
    chance = np.random.default_rng(1)
    if direction == "at random":
        return lambda value: 1 + SIZE * chance.uniform(-1, 1, np.shape(value))
    return lambda _: 1 + (SIZE if direction == "up" else -SIZE)


@contextmanager
def perturbed(direction: str) -> Iterator[None]:
    """The engine with functions that are off; nothing that was computed before or here is kept."""
    factor = factor_of(direction)
    forget_results()
    with pytest.MonkeyPatch.context() as patch:
        for module in _engine():
            for name, value in list(vars(module).items()):
                if value is np:
                    patch.setattr(module, name, _numpy(factor))
                elif name == "math" and isinstance(value, ModuleType):
                    patch.setattr(module, name, _Changed(value, _off(value, "math", factor)))
                elif name in SPECIAL and getattr(value, "__module__", "") != module.__name__:
                    patch.setattr(module, name, _times(value, factor))
        yield
    forget_results()


def forget_results() -> None:
    """Empty every cache of the engine."""
    for module in _engine():
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()


def _engine() -> list[ModuleType]:
    """Every room, loaded."""

    return [module for name, module in sorted(sys.modules.items()) if name.startswith(ROOMS)]


class _Changed:
    """A module, or a function with others behind it, in which some names are something else."""

    def __init__(self, original: Any, changed: dict[str, Any]) -> None:
        self._original = original
        self.__dict__.update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._original(*args, **named)


def _numpy(factor: Factor) -> _Changed:
    summing = _summing(factor)

    def with_sums(function: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **named: Any) -> Any:
            found = function(*args, **named)
            return found.view(summing) if type(found) is np.ndarray else found

        return made

    changed = _off(np, "numpy", factor)
    changed = {name: with_sums(function) for name, function in changed.items()}
    for name in ("arange", "array", "asarray", "concatenate", "zeros", "append", "diff"):
        changed[name] = with_sums(getattr(np, name))
    changed["fft"] = _Changed(np.fft, _off(np.fft, "numpy.fft", factor))
    changed["add"] = _Changed(np.add, {"reduceat": _times(np.add.reduceat, factor)})
    return _Changed(np, changed)


def _summing(factor: Factor) -> type[np.ndarray[Any, Any]]:
    """Arrays whose sums are off."""

    class Summing(np.ndarray[Any, Any]):
        def sum(self, *args: Any, **named: Any) -> Any:
            return _scaled(np.asarray(self).sum(*args, **named), factor)

        def mean(self, *args: Any, **named: Any) -> Any:
            return _scaled(np.asarray(self).mean(*args, **named), factor)

        def __matmul__(self, other: Any) -> Any:
            return _scaled(np.asarray(self) @ np.asarray(other), factor)

    return Summing


def _off(module: ModuleType, name: str, factor: Factor) -> dict[str, Any]:
    return {each: _times(getattr(module, each), factor) for each in FUNCTIONS[name]}


def _times(function: Callable[..., Any], factor: Factor) -> Callable[..., Any]:
    return lambda *args, **named: _scaled(function(*args, **named), factor)


def _scaled(found: Any, factor: Factor) -> Any:
    """Whole numbers stay: their sums are exact everywhere."""
    if isinstance(found, float):
        return float(found * factor(found))
    if np.issubdtype(np.asarray(found).dtype, np.inexact):
        return found * factor(found)
    return found
