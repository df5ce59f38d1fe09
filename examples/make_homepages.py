"""Write homepages.txt: 100,000 made-up home pages, the choices of homepages.toml.

    python examples/make_homepages.py

The list is always the same; homepages.toml names its SHA-256. All addresses end in .example, which
is reserved for examples.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

CONSONANTS = "bdfklmnrst"
VOWELS = "aeiou"


def homepages() -> list[str]:
    """50 × 50 × 40 names of three syllables."""
    syllables = [consonant + vowel for consonant, vowel in product(CONSONANTS, VOWELS)]
    names = product(syllables, syllables, syllables[:40])
    return [f"{''.join(name)}.example" for name in names]


def main() -> None:
    """Write the list beside this file, or into the directory that is named."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    path = directory / "homepages.txt"
    pages = homepages()
    path.write_text("".join(f"{page}\n" for page in pages), encoding="utf-8", newline="\n")
    print(f"wrote {len(pages):,} home pages to {path}")


if __name__ == "__main__":
    main()
