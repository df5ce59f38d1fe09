"""How Sphinx builds the documentation: `make docs`.

The source folder is the top of the repository, so that pages may link to benchmarks and examples
exactly as they do on a page of the repository. Nothing is loaded from another host: fonts are the
reader's own, formulas are MathML.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

from krand import __version__  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "krand"
author = "the krand developers"
version = release = __version__
project_copyright = ""

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "api_reference",
    "command_reference",
    "everybody",
    "mathml",
]

root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "benchmarks/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
# Not even looked into: environments and caches hold thousands of folders.
exclude_patterns = [".*", "build", "dist", "lab", "src", "tests", "*-output", "**/__pycache__"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
# The page on the drafts has displayed formulas inside sentences.
myst_dmath_double_inline = True
myst_dmath_allow_digits = False

default_role = "literal"
smartquotes_action = "q"  # quotes and apostrophes; dashes would turn --json into –json
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 110
toc_object_entries_show_parents = "hide"

nitpicky = True
# Other people's types (no inventory is fetched), and types that krand does not call public.
nitpick_ignore_regex = [(r"py:.*", r"(?!krand\.).*|krand\.wire\.messages\..*")]

html_theme = "furo"
html_title = f"krand {version}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["krand.css"]
html_extra_path = ["top"]
html_search_scorer = str(HERE / "search_scorer.js")
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"  # comes with the theme
pygments_dark_style = "github-dark"


def pictures_in_html(_: Sphinx, page: str, source: list[str]) -> None:
    """HTML within Markdown names pictures as they lie in the repository; Sphinx moves them."""
    up = "../" * page.count("/")
    here = "../" * (page.count("/") - 1)
    for attribute in ("src", "srcset"):
        source[0] = source[0].replace(f'{attribute}="{here}static/', f'{attribute}="{up}_static/')


def setup(app: Sphinx) -> None:
    """Connect what this file does itself."""
    app.connect("source-read", pictures_in_html)
