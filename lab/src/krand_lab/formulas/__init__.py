"""The formulas of the drafts, one function each, named by document and equation.

They are here to be reproduced and compared, never to plan with: see `DRAFT_WARNING`. The documents
are 000, 002, 003 and 004 ("K-Randomization", January and February 2016) and 001 ("Sufficient
Differential Privacy"). Throughout λ = e^ε, p = 1-q, φ = p/q + q/p - 1; N is `population`, L is
`bits`, k is `copies`. Functions typed `Real` also take fractions, and then compute without error.
What is printed wrong is computed as printed, errors included; the docstring says so, and the right
form stands beside it with `_corrected` in its name.

    planners           the noise for a promise, and moments   000, 001 §3, (6.1)–(6.3), 003
    single_bit         ratio and limits of one bit            000 §0, 003 §4
    single_bit_copies  the same with k copies                 000 §1, 003 §5
    counts             the count of ones, and its estimate    000 §0, 001 §4, 003 §4 and §9
    vectors            R of whole vectors, and its law        000 §2, 001 §1–3, 003 §6
    vector_moments     moments of R, exactly                  000 §2.1.2, 001 §3 and §7, 003 §6
    copies             R of k copies, term by term            001 (8.1)–(8.29)
    copies_moments     moments of R of k copies               001 (8.30)–(8.38), §6
    synthetic          probability of a collection, and A_p   002 §2–3, 003 §2–3, §7, 004
    examples           two vectors; one zero among equals     003 (7.1)–(7.9), §8
"""

from krand_lab.formulas.copies import *
from krand_lab.formulas.copies_moments import *
from krand_lab.formulas.counts import *
from krand_lab.formulas.examples import *
from krand_lab.formulas.planners import *
from krand_lab.formulas.single_bit import *
from krand_lab.formulas.single_bit_copies import *
from krand_lab.formulas.synthetic import *
from krand_lab.formulas.vector_moments import *
from krand_lab.formulas.vectors import *
