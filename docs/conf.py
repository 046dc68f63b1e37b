"""The documentation site, English (docs) and Korean (docs/ko): `make docs`."""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS / "_ext"), str(ROOT), str(ROOT / "src")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "badak"
author = copyright = "the badak authors"  # noqa: A001  (Sphinx's name)
release = version = PROJECT["version"]
language = "en"
exclude_patterns = ["ko", "_*", "**/_*"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "chapters",
    "docstrings",
    "languages",
    "public_names",
]
source_suffix = {".md": "markdown"}
suppress_warnings = ["myst.header"]  # pages that programs write may begin with a second level

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = f"badak {release}"
html_css_files = ["site.css"]
templates_path = [str(DOCS / "_templates")]
html_static_path = [str(DOCS / "_static")]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sphinx = False
html_copy_source = False
