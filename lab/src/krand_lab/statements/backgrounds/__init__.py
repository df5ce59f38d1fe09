"""The worst background of one bit, outcome by outcome: 002 §1, §3–4, 003 §4.2, §5.2, §9."""
