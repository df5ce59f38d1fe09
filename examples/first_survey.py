# %% [markdown]
# # A first survey
#
# You ask people a question that some of them would rather not answer. You want the totals; you do
# not want to know who said what. In this notebook you plan such a survey, collect noisy
# responses, estimate the totals and compare them with the truth.
#
# The people are simulated, so that there is a truth to compare with. Everything else is what you
# would do with real people. You need `pip install 'krand[pandas]'`.

# %%
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import krand
from krand.errors import InvalidInput
from krand.simulation import simulated_table

folder = Path(tempfile.mkdtemp())  # the files of this notebook

# %% [markdown]
# ## 1. What is asked, and what is promised
#
# A survey is a text file. Its policy is a promise to everybody who answers: changing your answers
# changes the probability of anything the analyst can see by a factor of at most $e^ε$, plus at
# most δ. The promise holds in a crowd of at least `minimum_crowd` people.

# %%
survey = krand.parse_survey("""
id = "habits"
title = "Habits"

[policy]
epsilon = 1
delta = 1e-5
minimum_crowd = 5_000

[trust]
noise = "devices"

[[question]]
name = "smokes"
type = "yes_no"

[[question]]
name = "sleep"
type = "number"
edges = [0, 5, 6, 7, 8, 9, 24]

[[question]]
name = "exercise"
type = "choice"
choices = ["never", "monthly", "weekly", "daily"]
""")
survey

# %% [markdown]
# ## 2. The plan
#
# `make_plan` finds the smallest noise that keeps the promise. Each device flips each bit of its
# answers with probability q. The plan also says how precise the results will be, before anybody
# has answered: the margin of error does not depend on the answers.

# %%
plan = krand.make_plan(survey)
plan

# %% [markdown]
# Can you live with these margins of error? If not, ask for a weaker promise, a larger crowd or
# fewer questions, and plan again. That costs nobody anything yet.

# %% [markdown]
# ## 3. People answer
#
# Here are 6,000 simulated people. Some of them leave a question unanswered.

# %%
people = simulated_table(survey, 6_000, seed=1)
people.to_pandas().head()

# %% [markdown]
# Each answer becomes noisy. Here the answers are already in one table, so a data holder
# randomizes the whole table. In a survey where nobody may see the answers, each person's own
# device does this (`krand.Client`, or a page in the browser), and a collector gathers what the
# devices send. `again` says that what an earlier run of this notebook wrote is gone.

# %%
done = krand.randomize_table(plan, people, folder / "responses.parquet", again=True)
print(f"{done.people:,} people, {done.rows:,} reported positions")

# %% [markdown]
# This is all that the analyst gets: numbers of positions, sorted. No row belongs to a person.

# %%
pq.read_table(folder / "responses.parquet").to_pandas().sample(5, random_state=1)

# %% [markdown]
# Two randomizations of the same answers reveal more than one. Therefore krand remembers each
# run, and refuses the second:

# %%
try:
    krand.randomize_table(plan, people, folder / "again.parquet")
except InvalidInput as error:
    print(f"refused: {error.field} {error.rule}")

# %% [markdown]
# ## 4. Results
#
# Count the responses, and correct the counts for the noise. Each estimate has a confidence
# interval, and the results carry the promise for the people who took part.

# %%
tally = krand.tally_responses(plan, [folder / "responses.parquet"])
results = krand.make_results(plan, tally)
results

# %%
results.to_pandas(question="sleep")

# %% [markdown]
# ## 5. Beside the truth
#
# Only a simulation can do this: compare the estimates with what people really answered. About 95
# % of the intervals should contain the truth.

# %%
estimates = results.to_pandas()
estimates = estimates[estimates["question"] == "exercise"].set_index("answer")
truth = people["exercise"].to_pandas().value_counts()
table = estimates[["consistent", "low", "high"]].round().astype(int)
table.insert(0, "truth", truth.reindex(table.index, fill_value=int(6_000 - truth.sum())))
table["inside"] = table["truth"].between(table["low"], table["high"])
table

# %% [markdown]
# ## 6. Publish
#
# A results file for krand, a table for other programs, and a report for people.

# %%
results.save(folder / "results.json")
results.to_csv(folder / "results.csv")
krand.save_report(results, folder / "report.html")
sorted(file.name for file in folder.iterdir() if file.suffix in (".json", ".csv", ".html"))

# %% [markdown]
# Anybody can check the results file: `krand verify results.json`.
#
# Next: [telemetry over rounds](telemetry.py), or [why this works](method.py).
