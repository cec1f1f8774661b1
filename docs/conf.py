"""Sphinx configuration. Build with ``python docs/build.py``: warnings are errors there."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

import twofishkit  # noqa: E402

project = "twofishkit"
author = "the twofishkit authors"
project_copyright = author
version = release = twofishkit.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "docstrings",  # in _extensions/
    "others",
    "shown",
    "speed",
]
exclude_patterns = ["_build", "_extensions", "_generated", "**/.ipynb_checkpoints"]

# --- Markdown and notebooks: what is stored is shown; tests execute them and compare ---------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"

# --- API reference -----------------------------------------------------------------------------------
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words and shapes
numpydoc_show_class_members = False

# --- HTML --------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_title = f"twofishkit {release}"
html_static_path = ["_static"]
html_css_files = ["twofishkit.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_sidebars = {
    name: [] for name in ("index", "security", "contributing", "search", "genindex", "py-modindex")
}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "twofishkit"},
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    # Tables of the lab need the room. (No page may match two patterns.)
    "secondary_sidebar_items": {
        "notebooks/*": [],
        "index": [],
        "[!ni]*": ["page-toc"],
        "[!ni]*/*": ["page-toc"],
    },
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
