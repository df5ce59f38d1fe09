"""Anonymous telemetry and surveys by k-randomization.

Each device flips the bits of its answers with probability q. A collector removes identities and
shuffles the responses. The analyst corrects the counts for the noise. A survey from file to report:

    >>> import krand
    >>> from krand.testing import FakeCollector, UnsafeMemoryLedger, simulated_people, small_survey
    >>> key = krand.generate_private_key()                  # the analyst's
    >>> plan = krand.make_plan(small_survey())              # krand.read_survey("survey.toml")
    >>> plan = plan.sealed_for(key.public_key())            # for sealed collection
    >>> collector = FakeCollector(plan)                     # krand serve
    >>> for answers in simulated_people(plan.survey, 100, seed=1):
    ...     ledger = UnsafeMemoryLedger()                   # krand.Ledger("answered.ledger")
    ...     client = krand.Client(plan, ledger, expected_hash=plan.hash, transport=collector)
    ...     receipt = client.submit(collector.url, answers) # on each person's own device
    >>> batch = collector.release("batches")                # krand release
    >>> tally = krand.tally_batches(plan, [batch], key, collector.public_key)
    >>> results = krand.make_results(plan, tally)
    >>> results.save("results.json")
    >>> krand.save_report(results, "report.html")

Figures are in `krand.plots`, fakes for tests in `krand.testing`. Names are loaded on first use, so
`import krand` costs next to nothing.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

_NAMED = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)
_HOMES = {
    name: home
    for home, name in _NAMED.findall(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
}
"""The module that each name lives in; `__init__.pyi` is the list, and type checkers read it too."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = (
        import_module(f"krand.{name}") if home == __name__ else getattr(import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
