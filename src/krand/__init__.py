"""Anonymous telemetry and surveys by k-randomization.

People flip each bit of their answer with probability q, a shuffler forgets who sent what, and the
analyst inverts the noise. A survey from its file to its report:

    >>> import krand
    >>> from krand.testing import FakeCollector, UnsafeMemoryLedger, simulated_people, small_survey
    >>> key = krand.generate_private_key()                  # the analyst's
    >>> plan = krand.make_plan(small_survey())              # krand.read_survey("survey.toml")
    >>> plan = plan.sealed_for(key.public_key())            # for sealed collection
    >>> collector = FakeCollector(plan)                     # krand serve
    >>> for answers in simulated_people(plan.survey, 100, seed=1):
    ...     ledger = UnsafeMemoryLedger()                   # krand.Ledger("answered.ledger")
    ...     client = krand.Client(plan, ledger, expected_hash=plan.hash, transport=collector)
    ...     client.submit(collector.url, answers)           # on each person's own device
    >>> batch = collector.release("batches")                # krand release
    >>> tally = krand.tally_batches(plan, [batch], key, collector.public_key)
    >>> release = krand.make_release(plan, tally)
    >>> krand.save_release(release, "release.json")
    >>> krand.save_report(release, "report.html")

Figures are in `krand.plots`, fakes for tests in `krand.testing`. Names are loaded on first use, so
`import krand` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand import plots, testing
    from krand.accounting.calibration import assess, plan_noise
    from krand.accounting.frontier import frontier
    from krand.analysis.results import Release, make_release
    from krand.analysis.results_file import save_release
    from krand.analysis.tally import Tally
    from krand.analysis.tallying import tally_batches, tally_reports
    from krand.client.client import Client
    from krand.client.ledger import Ledger
    from krand.errors import KrandError
    from krand.planning.making import make_plan
    from krand.promise import (
        Assurance,
        Guarantee,
        Linkage,
        NoisePlan,
        Policy,
        Reports,
    )
    from krand.report.file import save_report
    from krand.survey.plan import Plan
    from krand.survey.plan_file import read_plan, save_plan
    from krand.survey.reading import parse_survey, read_survey
    from krand.survey.survey import Survey
    from krand.tables.whole_table import randomize_table
    from krand.wire.keys import (
        generate_private_key,
        generate_signing_key,
        load_private_key,
        load_public_key,
        load_verifying_key,
    )

__version__ = "0.1.0"

__all__ = [
    "Assurance",
    "Client",
    "Guarantee",
    "KrandError",
    "Ledger",
    "Linkage",
    "NoisePlan",
    "Plan",
    "Policy",
    "Release",
    "Reports",
    "Survey",
    "Tally",
    "__version__",
    "assess",
    "frontier",
    "generate_private_key",
    "generate_signing_key",
    "load_private_key",
    "load_public_key",
    "load_verifying_key",
    "make_plan",
    "make_release",
    "parse_survey",
    "plan_noise",
    "plots",
    "randomize_table",
    "read_plan",
    "read_survey",
    "save_plan",
    "save_release",
    "save_report",
    "tally_batches",
    "tally_reports",
    "testing",
]

_HOME = {
    # How much noise a promise needs.
    "Assurance": "krand.promise",
    "Guarantee": "krand.promise",
    "Linkage": "krand.promise",
    "NoisePlan": "krand.promise",
    "Policy": "krand.promise",
    "Reports": "krand.promise",
    "assess": "krand.accounting.calibration",
    "frontier": "krand.accounting.frontier",
    "plan_noise": "krand.accounting.calibration",
    # From a survey to its plan.
    "Plan": "krand.survey.plan",
    "Survey": "krand.survey.survey",
    "make_plan": "krand.survey.plan",
    "parse_survey": "krand.survey.reading",
    "read_plan": "krand.survey.plan_file",
    "read_survey": "krand.survey.reading",
    "save_plan": "krand.survey.plan_file",
    # From answers to noisy reports.
    "Client": "krand.client.client",
    "Ledger": "krand.client.ledger",
    "generate_private_key": "krand.wire.keys",
    "generate_signing_key": "krand.wire.keys",
    "load_private_key": "krand.wire.keys",
    "load_public_key": "krand.wire.keys",
    "load_verifying_key": "krand.wire.keys",
    "randomize_table": "krand.tables.whole_table",
    # From reports to results.
    "Release": "krand.analysis.results",
    "Tally": "krand.analysis.tally",
    "make_release": "krand.analysis.results",
    "save_release": "krand.analysis.results_file",
    "save_report": "krand.report.file",
    "tally_batches": "krand.analysis.tallying",
    "tally_reports": "krand.analysis.tallying",
    # What goes wrong.
    "KrandError": "krand.errors",
}
"""The module that each exported name lives in."""

_MODULES = ("plots", "testing")
"""Exported modules."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"krand.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
