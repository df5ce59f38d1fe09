"""krand's protocol once more, slow and plain, written from its documents: see README.md."""
