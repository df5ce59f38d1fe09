"""Workers run from any program, import nothing of it, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from krand.processes import Workers

SCRIPT = '''
import os
from krand import make_plan, parse_survey, tally_batches
from krand.testing import FakeChain, simulated_people

print("the script runs")
options = ", ".join(f'"option {n}"' for n in range(30))
plan = make_plan(parse_survey(f"""
id = "s"
title = "S"
[policy]
epsilon = 30.0
delta = 1e-2
[trust]
noise = "mixers"
mixers = 2
[[question]]
name = "q"
type = "pick_any"
text = "Which?"
choices = [{options}]
"""))
chain = FakeChain(plan)
for answers in simulated_people(plan.survey, 140, seed=1):
    chain.client().submit(chain.url, answers)
os.cpu_count = lambda: 2
tally = tally_batches(chain.plan, [chain.release("batches")], chain.key)
print(tally.people, "people counted")
'''
"""Without `if __name__ == "__main__":`, and with more messages than one process mixes alone."""
EXPECTED = "the script runs\n140 people counted\n"


@pytest.mark.check
@pytest.mark.parametrize("given", ["plain.py", "-"])
def test_a_plain_program_mixes_and_tallies(given: str, tmp_path: Path) -> None:
    """It runs once, as a script, and as what the interpreter reads."""
    (tmp_path / "plain.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, given],
        cwd=tmp_path,
        input=SCRIPT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (EXPECTED, 0), done.stderr


def test_results_come_in_order_from_prepared_processes(tmp_path: Path) -> None:
    """The processes of a test, too."""
    names = [f"file-{n}" for n in range(9)]
    with Workers(2, os.chdir, tmp_path) as workers:
        found = list(workers.in_order(os.path.abspath, names))
        assert found == [str(tmp_path / name) for name in names]
        # Ctrl-C in a terminal reaches them as well; what it means is for the parent to say.
        (handler,) = workers.in_order(signal.getsignal, [signal.SIGINT])
        assert handler is signal.SIG_IGN


def test_an_error_of_a_process_is_the_callers(tmp_path: Path) -> None:
    """And ends the block without waiting for what nobody takes any longer."""
    with pytest.raises(ValueError, match="'no number'"), Workers(2, os.chdir, tmp_path) as workers:
        list(workers.in_order(int, ["no number"] * 1_000))
