"""What is asked: survey files, questions, the layout of positions, encoding and decoding."""
