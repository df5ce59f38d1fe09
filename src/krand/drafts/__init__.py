"""The five drafts: their formulas, their statements, and the page that reproduces them."""
