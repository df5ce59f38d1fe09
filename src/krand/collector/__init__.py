"""The collector: takes submissions in, keeps no identity, releases only a crowd."""
