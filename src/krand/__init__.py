"""Anonymous telemetry and surveys by k-randomization.

Each device flips the bits of its answers with probability q. A collector removes identities and
shuffles the responses. The analyst corrects the counts for the noise. A survey from file to report:

    >>> import krand
    >>> from krand.testing import FakeChain, simulated_people, small_survey
    >>> plan = krand.make_plan(small_survey())              # krand.read_survey("survey.toml")
    >>> chain = FakeChain(plan)                             # everybody's keys: plan.with_parties
    >>> for answers in simulated_people(plan.survey, 100, seed=1):
    ...     client = chain.client()                         # krand.Client, on each person's device
    ...     sent = client.submit(answers)                   # to krand run
    >>> batch = chain.release("batches")                    # krand run --close
    >>> tally = krand.tally_batches(chain.plan, [batch], chain.key)
    >>> results = krand.make_results(chain.plan, tally)
    >>> results.save("results.json")
    >>> krand.save_report(results, "report.html")

Simulated people are in `krand.simulation`, fakes for tests in `krand.testing`. Names are loaded on
first use, so `import krand` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# What `lazy_loader.attach_stub` does, in 1 to 4 ms of processor time instead of 13; and a device,
# which has krand, numpy and cryptography alone, would have to ship it and what it needs.
_HOMES = {}
"""The module that each name lives in; `__init__.pyi` is the list, and type checkers read it too."""
with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as _stub:
    for _line in _stub:
        match _line.split():
            case ["from", _home, "import", _name, "as", _]:
                _HOMES[_name] = _home

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
