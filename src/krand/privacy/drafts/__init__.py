"""Every formula of the drafts, one function each, named by document and equation.

They are here to be reproduced and compared, never to plan with: see `DRAFT_WARNING`. The documents
are 000, 002, 003 and 004 ("K-Randomization", January and February 2016) and 001 ("Sufficient
Differential Privacy"). Throughout λ = e^ε, p = 1-q, φ = p/q + q/p - 1; N is `population`, L is
`bits`, k is `copies`. Functions typed `Real` also take fractions, and then compute without error.

    planners      the noise for a promise                 000, 001 (3.12)–(3.16), (6.3), 003
    moments       of R and R(S^k), safe from overflow     001 §3.1, (3.14), (3.17), (6.1), (6.2)
    precision     estimates and their deviation           000 §0–1, 001 §4 and §6
    single_bit    counts of one bit and their ratio       000 §0–1, 003 §4–5 and §9
    anonymity     A_p                                     003 §3, 004 §2
    synthetic     probability of a synthetic collection   002 §2–3, 003 §7–8
    vectors       R of whole vectors and its law          000 §2, 001 §2–3 and §7
    copies        R of k copies and its moments           001 §8
"""

from krand.privacy.drafts import (
    anonymity,
    copies,
    moments,
    planners,
    precision,
    single_bit,
    synthetic,
    vectors,
)
from krand.privacy.drafts.anonymity import *
from krand.privacy.drafts.copies import *
from krand.privacy.drafts.moments import *
from krand.privacy.drafts.planners import *
from krand.privacy.drafts.precision import *
from krand.privacy.drafts.single_bit import *
from krand.privacy.drafts.synthetic import *
from krand.privacy.drafts.vectors import *

__all__ = [
    *anonymity.__all__,
    *copies.__all__,
    *moments.__all__,
    *planners.__all__,
    *precision.__all__,
    *single_bit.__all__,
    *synthetic.__all__,
    *vectors.__all__,
]
