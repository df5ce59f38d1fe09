"""The worst collection of vectors, dense and sparse: 001 §1.2 and §5."""
