"""`python -m krand`, where the script is not on the path."""

from __future__ import annotations

from krand.cli.main import main

if __name__ == "__main__":
    main()
