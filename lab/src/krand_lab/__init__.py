"""Research around krand: the drafts of its method, single outcomes, simulations.

    formulas      the formulas of the five drafts, one function each
    statements    what the drafts claim, tested by complete enumeration
    reproduction  the page that puts numbers, figures and statements together
    choice        the noise that the drafts would choose
    texts         words in tables, with places for what is computed
    enumeration   exact laws of small crowds, in rational arithmetic
    simulation    the promise for whole records by Monte Carlo
    observe       how much an observed outcome reveals
    exact         the law of the privacy ratio where everybody else answers alike
    commands      `krand-lab drafts`, `krand-lab observe` and `krand-lab simulate`

krand imports nothing from here, and plans nothing with the drafts' formulas: they give no
guarantee.
"""
