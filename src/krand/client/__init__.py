"""What runs on a person's device: secure randomness and exact flips of answer bits."""
