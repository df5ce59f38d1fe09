"""What runs on a person's device: answers in, sealed submission out, once per round."""
