"""People who do not exist, with answers that look real: for demonstrations, examples and trials.

`population` says what they are like and what they answer, `crowd` has many of them in chunks and
the truth about them, `tallies` counts their answers with noise that has a seed.

    >>> from krand.simulation import simulated_table
    >>> from krand.testing import small_survey
    >>> simulated_table(small_survey(), 100, seed=1).num_rows
    100
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krand.simulation.population import plain_answers, simulated_answers
from krand.simulation.tallies import unsafe_simulated_tally
from krand.survey.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["simulated_people", "simulated_table", "unsafe_simulated_tally"]


def simulated_people(survey: Survey, people: int, seed: int) -> list[dict[str, object]]:
    """What each of so many people answers, as `Client.submit` takes it; silence is left out.

    The seed says which people they are. It has nothing to do with noise, which has no seed.

    >>> from krand.simulation import simulated_people
    >>> from krand.testing import small_survey
    >>> everybody = simulated_people(small_survey(), 100, seed=1)
    >>> len(everybody), sorted(everybody[0])
    (100, ['pet', 'smokes'])
    """
    columns = simulated_answers(survey, people, seed)
    answers = {name: plain_answers(column) for name, column in columns.items()}
    return [
        {name: given[person] for name, given in answers.items() if given[person] is not None}
        for person in range(people)
    ]


def simulated_table(survey: Survey, people: int, seed: int) -> pa.Table:
    """The same people as an Arrow table, as `randomize_table` takes it.

    >>> from krand.simulation import simulated_table
    >>> from krand.testing import small_survey
    >>> simulated_table(small_survey(), 100, seed=1).column_names
    ['smokes', 'pet']
    """
    import pyarrow as pa

    columns = simulated_answers(survey, people, seed)
    return pa.table({name: plain_answers(column) for name, column in columns.items()})
