# %% [markdown]
# # The method, explained by experiments
#
# krand's promise is a number with a proof. This notebook replaces the proof by experiments: it
# simulates the noise, measures what an analyst could learn, and compares the measurements with
# what krand computes. You need numpy, scipy and `pip install 'krand[pandas]'`; no mathematics
# beyond probabilities.
#
# All randomness has a seed, so the text can speak about the numbers below it.

# %%
import math

import numpy as np
import pandas as pd
from scipy.stats import binom

import krand

random = np.random.default_rng(2026)

# %% [markdown]
# ## 1. Noise that can be subtracted
#
# Each of N people has a bit: yes or no. Each flips it with probability q and reports the result.
# If M reports are 1, then on average M = (number of yes)·(1 − q) + (number of no)·q. Solve for
# the number of yes: (M − Nq) / (1 − 2q). That is the whole estimator.
#
# The experiment: 10,000 people, 3,000 of whom would say yes, asked 20,000 times over with q =
# 0.01.

# %%
N, TRUE, Q = 10_000, 3_000, 0.01
counts = random.binomial(TRUE, 1 - Q, 20_000) + random.binomial(N - TRUE, Q, 20_000)
estimates = (counts - N * Q) / (1 - 2 * Q)
sigma = math.sqrt(N * Q * (1 - Q)) / (1 - 2 * Q)

print(f"mean of the estimates {estimates.mean():.1f}, truth {TRUE}")
print(f"standard deviation {estimates.std():.2f}, formula {sigma:.2f}")

# %% [markdown]
# The estimates scatter around the truth, and by as much as the formula says. The formula has no
# number of yes in it: the precision is known before anybody answers. Ten thousand people are
# counted to about ± 20, with a noise that touches one answer in a hundred.

# %% [markdown]
# ## 2. One response alone hides little
#
# Now take the analyst's side, and look at one response that you know to be mine. A 1 is (1 − q)/q
# times more likely if my answer is yes. This *privacy ratio* is the only thing that the response
# can tell about me. Its logarithm is called ε₀.

# %%
noises = [0.4, 0.25, 0.1, 0.01, 0.001]
alone = pd.DataFrame({"q": list(map(str, noises)), "ratio": [(1 - q) / q for q in noises]})
alone["ε₀"] = np.log(alone["ratio"])
alone["± people (95 %)"] = [1.96 * math.sqrt(N * q * (1 - q)) / (1 - 2 * q) for q in noises]
alone.set_index("q").round(2)

# %% [markdown]
# For real protection by a response's own noise, q must be near ½, and then the margin of error
# explodes. With q = 0.01 the ratio is 99: whoever sees my response knows my answer, nearly. This
# is the dilemma of local differential privacy.

# %% [markdown]
# ## 3. Shuffling: hide the response among others
#
# A collector removes names and order. What remains is the count M of ones. My response is in it,
# but whose ones are they? Even if all others answered "no", about Nq of them reported a 1.
#
# For a crowd in which everybody else says no, the law of M is known exactly: a binomial of the
# others, plus my own response. So is the privacy ratio R(M) of every count that can come out.


# %%
def laws(crowd, q):
    """P(M) if my answer is yes, and if it is no; all others say no."""
    m = np.arange(crowd + 1)
    without, with_one = binom.pmf(m, crowd - 1, q), binom.pmf(m - 1, crowd - 1, q)
    return (1 - q) * with_one + q * without, q * with_one + (1 - q) * without


def ratios(crowd, q):
    """R of every count."""
    yes, no = laws(crowd, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        return yes / no


yes, no = laws(2_000, Q)
shown = np.array([5, 10, 15, 20, 25, 30, 40])
pd.DataFrame(
    {"count": shown, "probability if I say no": no[shown], "R": ratios(2_000, Q)[shown]}
).set_index("count").round(4)

# %% [markdown]
# The counts that really occur, around 20, have ratios near 1. In these 2,000 people a ratio below
# ½ comes up in 1 survey of 200, and one above 2 in 1 of 40,000. The same response that had a
# ratio of 99 alone now says next to nothing.

# %% [markdown]
# ## 4. Why a crowd helps
#
# The number of false ones scatters by √(Nq). My one is a change by 1. The larger the crowd, the
# deeper my answer drowns in the scatter of the others. Let the crowd grow, with the same noise,
# and look where the ratio lies in 99 of 100 surveys:

# %%
rows = []
for crowd in (100, 300, 1_000, 3_000, 10_000, 100_000):
    drawn = ratios(crowd, Q)[random.binomial(crowd, Q, 100_000)]
    low, high = np.quantile(drawn, [0.005, 0.995])
    rows.append({"crowd": crowd, "R from": low, "to": high})
pd.DataFrame(rows).set_index("crowd").round(2)

# %% [markdown]
# With 100 people my answer can change what is likely by a factor of four and more; with 100,000,
# by less than a tenth. Turn it around: for a fixed promise, a larger crowd needs less noise from
# each person. This is why krand has a `minimum_crowd`, and why it never releases a batch with
# fewer people.

# %% [markdown]
# ## 5. δ, by simulation and exactly
#
# The promise (ε, δ) limits how much the probabilities of *any* outcome can differ: P(outcome | my
# answer) ≤ $e^ε$ · P(outcome | another) + δ. The smallest δ is the average of max(0, 1 − $e^ε$/R)
# over what happens, and that can be measured by drawing. For two thousand draws it is a poor
# estimate, for two million a good one.

# %%
CROWD, EPSILON = 1_000, 1.0


def measured_delta(draws):
    """δ and its standard error; the direction in which my answer is no, which is the worse one."""
    inverse = 1 / ratios(CROWD, Q)[random.binomial(CROWD, Q, draws)]
    losses = np.maximum(0, 1 - math.exp(EPSILON) / inverse)
    return losses.mean(), losses.std() / math.sqrt(draws)


def summed_delta():
    """The same average as an exact sum over all counts."""
    yes, no = laws(CROWD, Q)
    return float(np.maximum(0, no - math.exp(EPSILON) * yes).sum())


for draws in (2_000, 2_000_000):
    delta, error = measured_delta(draws)
    print(f"simulated, {draws:>9,} draws  δ = {delta:.6f} ± {2 * error:.6f}")
print(f"exact sum                   δ = {summed_delta():.6f}")

# %% [markdown]
# krand computes the same number, and proves it for *every* crowd, whatever the others answer:

# %%
one_bit = krand.ResponseFormat(bits=1)
print(f"δ ≤ {krand.assess(one_bit, Q, CROWD, EPSILON).delta:.6f}")

# %% [markdown]
# The proof costs nothing here: the crowd of equals is the worst one, and the bound is tight.
#
# `plan_noise` searches in the other direction: the smallest q for a promise.

# %%
policy = krand.Policy(epsilon=1, delta=1e-5, minimum_crowd=10_000)
plan = krand.plan_noise(policy, one_bit)
print(plan)

# %% [markdown]
# ## 6. Mixers: noise without a crowd
#
# A team of twelve has no crowd to hide in. Then the noise can come from elsewhere: *mixers* pass
# the sealed answers on, and each adds a random number of dummies that look like answers. Nobody
# flips anything. The analyst subtracts the average number of dummies. As long as one mixer is
# honest, its dummies hide me, whoever else conspires.

# %%
team = krand.make_plan(
    krand.parse_survey("""
id = "team"
[policy]
epsilon = 1
delta = 1e-4
[trust]
noise = "mixers"
mixers = 2
[[question]]
name = "fair"
type = "yes_no"
""")
)
law = team.laws[0]
weights = np.array(law.weights) / 2**63
print(f"one mixer adds {law.mean:.0f} dummies on average, {len(weights) - 1} at most")

# %% [markdown]
# My answer shifts the count by one. The probabilities of neighbouring numbers differ by a factor
# of at most e wherever anything is likely, and the rest is δ. It is a short sum:

# %%
mine, other = np.append(0, weights), np.append(weights, 0)
delta = np.maximum(0, mine - math.exp(1) * other).sum()
print(f"summed by hand    δ = {delta:.3e}")
print(f"the plan's proof  δ ≤ {krand.promise_of(team).delta:.3e}")

# %% [markdown]
# The price is paid in people, not in percent: with two mixers the standard deviation of a count
# is about 2 people, for twelve participants or for a million.

# %%
sums = sum(random.choice(len(weights), 100_000, p=weights) for _ in range(2)) - 2 * law.mean
print(
    f"standard deviation, simulated {sums.std():.2f}, planned {team.blocks[0].precision.sigma:.2f}"
)

# %% [markdown]
# ## What you have seen
#
# - Noise with a known law can be subtracted, and its precision is known in advance.
# - Alone, a response needs much noise; shuffled into a crowd, it needs little.
# - ε and δ are statements about one ratio, which you can simulate, sum up, or let krand prove.
# - Mixers replace the crowd, at the price of one honest party.
#
# The full story, with all proofs: [the method](../docs/explanation/method.md) and [the
# proofs](../docs/explanation/proofs.md).
