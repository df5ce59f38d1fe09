"""The five drafts: their formulas, their statements, and the page that reproduces them.

`noise` is what they would choose. Their formulas give no guarantee, so nothing else in krand plans
with them.
"""

from krand.drafts.choice import DraftNoise, noise

__all__ = ["DraftNoise", "noise"]
