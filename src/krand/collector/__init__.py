"""The collector: intake, store, release gate, and a thin HTTP adapter."""
