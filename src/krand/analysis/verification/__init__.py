"""Checking what files claim: computed anew from as little as possible, one check at a time."""
