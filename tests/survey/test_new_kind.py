"""A question kind is added by the files of its list alone: here one is, in a copy of krand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.test_developing import change

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[2]
GRADE = '''\
"""grade: a letter, from A to the worst one."""

from __future__ import annotations

from dataclasses import dataclass

from krand.errors import InvalidInput
from krand.survey.kinds.question import Key, Kind, Leveled


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade(Leveled):
    """A letter, from A to the worst one."""

    worst: str
    kind = Kind.GRADE
    summary = "A grade."
    keys = (Key(name="worst", form=str, says="The worst grade.", example="F", default=...),)

    def own_values(self) -> dict[str, str]:
        return {"worst": self.worst}

    @property
    def positions(self) -> int:
        return ord(self.worst) - ord("A") + 1

    def level_name(self, level: int) -> str:
        return chr(ord("A") + level)

    def level_of(self, answer: object) -> int:
        names = [self.level_name(level) for level in range(self.levels)]
        if answer not in names:
            raise InvalidInput(self.name, "must be a grade", answer)
        return names.index(answer)
'''
BESIDE = {
    "src/krand/survey/kinds/question.py": ('    SCALE = "scale"\n', '    GRADE = "grade"\n'),
    "src/krand/survey/questions.py": (
        "from krand.survey.kinds.scale import Scale\n",
        "from krand.survey.kinds.grade import Grade\n",
    ),
    "src/krand/report/texts_en.toml": ("kinds.scale =", 'kinds.grade = "a grade"\n'),
    "src/krand/languages/de.po": (
        'msgctxt "report.questions.kinds.scale"\n',
        'msgctxt "report.questions.kinds.grade"\nmsgid "a grade"\nmsgstr "eine Note"\n\n',
    ),
}
"""In the listed files that every kind needs: what stands there, and what goes in front of it."""
WAY = """\
from pathlib import Path

import krand
from krand.testing import simulated_table

survey = krand.parse_survey('''
id = "new"
[policy]
epsilon = 8
delta = 1e-3
minimum_crowd = 100
[[question]]
name = "food"
type = "grade"
worst = "D"
''')
plan = krand.make_plan(survey)
plan.save("plan.json")
assert krand.read_plan("plan.json") == plan
table = simulated_table(survey, 300, seed=1)
krand.randomize_table(plan, table, "responses.parquet")
tally = krand.tally_responses(plan, ["responses.parquet"])
tally.save("tally.json")
results = krand.make_results(plan, tally)
results.save("results.json")
checks = krand.verify_files(["plan.json", "tally.json", "results.json"])
assert len(checks) == 3
for language in ("en", "de"):
    krand.save_report(results, "report.html", language=language)
    print(("a grade" if language == "en" else "eine Note") in Path("report.html").read_text())
print([row.label for row in results.questions[0].rows])
"""


def test_a_kind_needs_only_the_files_of_its_list(tmp_path: Path) -> None:
    """Planned, randomized, counted, estimated, verified and reported in both languages."""
    listed, _ = change("A question kind")
    shutil.copytree(ROOT / "src" / "krand", tmp_path / "src" / "krand")
    new = "src/krand/survey/kinds/grade.py"
    assert {*BESIDE, new.replace("grade", "scale")} <= set(listed)
    (tmp_path / new).write_text(GRADE, encoding="utf-8")
    for name, (old, added) in BESIDE.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        text = text.replace(old, added + old).replace("(YesNo, Choice,", "(Grade, YesNo, Choice,")
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", WAY],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "XDG_STATE_HOME": str(tmp_path)},
    )
    assert run.stderr == ""
    assert run.stdout.splitlines() == ["True", "True", "['A', 'B', 'C', 'D']"]
