"""Checking what files claim: recomputed from as little as possible, one check at a time."""
