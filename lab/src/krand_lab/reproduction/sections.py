"""What each section of the reproduction is called, and what it is about."""

from __future__ import annotations

from krand_lab.reproduction.entries import Section

__all__ = ["INTRODUCTIONS", "TITLES"]

TITLES = {
    Section.SINGLE_BIT: "One bit",
    Section.RATIO: "Whole vectors",
    Section.TAIL: "The tail bound",
    Section.PRECISION: "Precision",
    Section.SPARSE: "Few set bits",
    Section.COPIES: "k copies",
    Section.COLLECTIONS: "The worst collection",
}

INTRODUCTIONS = {
    Section.SINGLE_BIT: (
        "000 §0–1 and 003 §4–5 ask how much noise hides one set bit among $N-1$ zeros, and let the"
        " ratio be wrong beyond three deviations. 000 looks at $1/R$, 003 at $R$:"
        " $$q\\ge\\frac{1}{2}\\left(1-\\frac{1}{\\sqrt{1+\\frac{36}{(1-1/\\lambda)^2N}}}\\right)"
        "\\quad (0.19),\\qquad q\\ge\\frac{1}{2}\\left(1-\\frac{1}{\\sqrt{1+\\frac{36}"
        "{(\\lambda-1)^2N}}}\\right)\\quad (4.45).$$"
    ),
    Section.RATIO: (
        "000 §2 and 001 §2–3 take whole vectors of $L$ bits. The ratio is an average over the"
        " reports, $$R=\\frac{1}{N}\\sum_{l=0}^{L}t_l(q/p)^{L-2l}"
        "\\quad (3.4),$$ and 001 chooses the noise from its mean and variance, by the rule"
        " $\\mathrm{E}R+3\\sqrt{\\mathrm{Var}R}\\le\\lambda$ (3.12). Three deviations are"
        " not a probability: the tail that is left differs from case to case."
    ),
    Section.TAIL: (
        "001 §3.4 wants to justify the three deviations by an inequality of Maurer:"
        " $$P[E(S)-S>\\beta\\sigma]\\le\\exp\\left(-\\frac{\\beta^2}{2}\\left[1-"
        "\\frac{(N-1)+\\varphi^L}{(N-1)\\varphi^L+(\\varphi^2+\\varphi-1)^L}\\right]\\right)"
        "\\quad (3.17).$$ The inequality is about the lower tail of a sum of positive terms;"
        " privacy is lost in the upper one."
    ),
    Section.PRECISION: (
        "001 §4 turns noise into precision. A count is estimated by $\\hat d=(M-qN)/(p-q)$ with"
        " deviation $$\\sigma(\\hat d)=\\sqrt N\\,\\frac{\\sqrt{pq}}{p-q},$$ which is exact"
        " whatever the answers are."
    ),
    Section.SPARSE: (
        "001 §5 claims that vectors with at most $m$ set bits need only the noise of $2m$ free"
        " bits, because two of them differ in at most $2m$ places. It overlooks the crowd: where"
        " everybody else gives a third answer, both answers of the pair stand out."
    ),
    Section.COPIES: (
        "001 §6 and §8 let everybody report $k$ times. The ratio is"
        " $$R(S^k)=\\frac{e_k(w_1,\\ldots,w_{kN})}{\\binom{kN}{k}},\\qquad"
        " w_i=(q/p)^{L-2l_i},$$ with $e_k$ the elementary symmetric"
        " polynomial. The printed moments lose a factor $k!$ and the covariances of overlapping"
        " subsets, so that the printed condition (6.3) lets the noise fall with $k$ until the"
        " promise is broken nearly always."
    ),
    Section.COLLECTIONS: (
        "Which collection of answers is the worst? 001 §1.2 conjectures: everybody alike, and one"
        " outlier. 002 and 003 prove parts of it for one bit, for a fixed outcome. A fixed outcome"
        " is not a tail: the law of the outcome changes with the collection too."
    ),
}
