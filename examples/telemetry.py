# %% [markdown]
# # Telemetry over rounds
#
# An app reports once a week whether it crashed. You want to see a bad release within a week, find
# out which platform it hits, and keep one promise for the whole time. In this notebook you plan
# for several rounds, watch a rate over time, and follow a jump to its cause.
#
# The people are simulated. Their noise has a seed here (`unsafe_simulated_tally`), so that you
# see the same numbers as the text; devices draw real noise, which has no seed. You need `pip
# install 'krand[pandas]'`.

# %%
import numpy as np
import pandas as pd
import pyarrow as pa

import krand
from krand.simulation import unsafe_simulated_tally

# %% [markdown]
# ## What rounds cost
#
# A promise for each week would weaken with each week. krand's promise covers all rounds together:
# the noise is larger from the start, and the sum stays what was promised. So more rounds cost
# precision. This is the margin of error of one count, for one question, by the number of rounds:

# %%
policy = krand.Policy(epsilon=1, delta=1e-6, minimum_crowd=50_000)
margins = {
    rounds: krand.plan_noise(policy, krand.ResponseFormat(bits=1, rounds=rounds)).precision
    for rounds in (1, 4, 12, 52)
}
pd.Series({rounds: round(p.half_width_95) for rounds, p in margins.items()}, name="± people")

# %% [markdown]
# Fifty-two rounds do not cost fifty-two times the margin: it grows a little more slowly than the
# square root of the number of rounds. Among 50,000 people even a year of weekly reports leaves a
# margin far below one percent.

# %% [markdown]
# ## A plan for six weeks
#
# Two questions. They are declared together, because a jump in crashes raises the question of
# which platform it hits. What is not declared together is never linked: krand could not answer it
# later.

# %%
survey = krand.parse_survey("""
id = "app"
title = "Weekly crash report"
rounds = 6

[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = 20_000

[trust]
noise = "devices"

[schedule]
every = "week"
starts = 2027-01-04

[[question]]
name = "platform"
type = "choice"
choices = ["Windows", "macOS", "Linux"]

[[question]]
name = "crashed"
type = "yes_no"

[[together]]
questions = ["platform", "crashed"]
""")
plan = krand.make_plan(survey)
plan

# %% [markdown]
# ## Six weeks
#
# Crashes hover around 4 %. The release of week 4 has a bug that hits macOS alone; week 5 mends
# half of it, week 6 the rest.

# %%
MAC = {1: 0.04, 2: 0.04, 3: 0.04, 4: 0.16, 5: 0.09, 6: 0.04}


def reports(week):
    """What 24,000 simulated people report in a week."""
    random = np.random.default_rng(week)
    platform = random.choice(["Windows", "macOS", "Linux"], 24_000, p=[0.6, 0.3, 0.1])
    rate = np.where(platform == "macOS", MAC[week], 0.04)
    return pa.table({"platform": platform, "crashed": random.random(24_000) < rate})


# %% [markdown]
# In earnest, devices send sealed reports, and `krand run` collects and counts them. Here one
# function stands for all of this.

# %%
weeks = [
    krand.make_results(plan, unsafe_simulated_tally(plan, reports(week), seed=1, round_number=week))
    for week in range(1, 7)
]
pd.concat([week.to_pandas() for week in weeks]).query("question == 'crashed' and answer == 'yes'")[
    ["round", "consistent", "low", "high"]
].round()

# %% [markdown]
# The last columns are 95 % confidence intervals. Week 4 stands out. Is it more than noise?
# `compare_results` gives the difference of two rounds, later less earlier, with an interval and a
# p-value:

# %%
(change,) = krand.compare_results([weeks[2], weeks[3]], ["crashed"]).questions["crashed"]
(yes, no) = change.differences
low, high = yes.interval.low, yes.interval.high
print(f"crashes rose by {100 * yes.consistent:.1f} points ({100 * low:.1f} to {100 * high:.1f})")
print(f"probability of such a difference without a change: {yes.adjusted_p_value:.1g}")

# %% [markdown]
# ## Which platform?
#
# The joint table of week 4. All numbers are shares of all people:

# %%
weeks[3].to_pandas(joint=["platform", "crashed"])

# %% [markdown]
# What you want is the crash rate *among* the people of each platform, with an interval. The
# results have it: a conditional table for each question of the pair.


# %%
def rates(results):
    """The crash rate of each platform, in percent, with its interval."""
    table = next(table for table in results.joint[0].given if table.given == "platform")
    rows = [row for group in table.groups for row in group if row.label == "yes"]
    return {
        row.given: f"{100 * row.consistent:.1f} ({100 * row.interval.low:.1f} to"
        f" {100 * row.interval.high:.1f})"
        for row in rows
        if row.given != "unanswered"
    }


pd.DataFrame({f"week {week.round}": rates(week) for week in weeks[2:]})

# %% [markdown]
# macOS it is. Linux has few people, so its intervals are wide: the noise is the same for each
# cell, whatever its size. Windows moves a little from week to week, more than the noise explains.
# That is no error: the intervals are about the people who reported, and some weeks are luckier
# than others. With `ResultsOptions(sample_of="everybody")` the intervals are about all users, and
# include that luck.
#
# ## Put it into your own tools
#
# All estimates of all weeks as one data frame:

# %%
frame = pd.concat([week.to_pandas() for week in weeks])
crashes = frame[(frame["question"] == "crashed") & (frame["answer"] == "yes")]
shown = crashes.set_index("round")[["consistent_share", "share_low", "share_high"]]
(100 * shown).round(2)

# %% [markdown]
# `frame` also has the promise in each row (`epsilon`, `delta`, `plan`), so that a number keeps
# its promise wherever it is copied to.
#
# Next: [why this works](method.py), shown by experiments.
