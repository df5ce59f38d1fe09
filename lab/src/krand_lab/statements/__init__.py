"""The statements of the drafts, put to the test by enumeration in rational arithmetic.

A statement is a table in `texts`: what the draft says, the range that is enumerated, and for an
equation its formulas and what they should give. Other tests have the same key in one of these
modules. The engine in `verdict` makes a verdict of it: whether it holds, the smallest
counterexample where it fails, and the right statement, tested as well.

    one_bit       counts of one bit, with and without copies        000 §0–1, 003 §4–5
    vectors       R of whole vectors, its moments, its tail bound   000 §2, 001 §2–3 and §7, 003 §6
    copies        R of k copies and its moments                     001 §6 and §8
    backgrounds   the worst background of one bit, for an outcome   002 §1, §3–4, 003 §4.2, §5.2, §9
    worst_case    the worst collection of vectors, sparse ones too  001 §1.2 and §5
    collections   probabilities of synthetic collections            002 §2–3, 003 §3, §7–8, 004
"""
