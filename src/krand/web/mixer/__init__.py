"""The page of a mixer's service, for everybody who wants to know who mixes their answers."""
