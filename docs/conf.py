"""How the documentation is built: `make docs`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

# Examples run on as many threads as there are processes; wall time is for the reader, not for a record.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import subspaces  # noqa: E402

project = "subspaces"
author = "The subspaces developers"
version = release = subspaces.__version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "mathml",
    "plain_docstrings",
]
exclude_patterns = ["_build", "_ext", "_static", "_templates", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
# `name` in a docstring is a link where there is something of that name, and code elsewhere.
default_role = "py:obj"
html_math_renderer = "mathml"
# Quotes in docstrings are those of code.
smartquotes = False
# Blocks that name no language are commands.
highlight_language = "none"

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = [f"api/{page.name}" for page in (DOCS / "api").glob("*.rst")]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "backreferences_dir": "api/examples",
    "doc_module": ("subspaces",),
    "inspect_global_variables": False,
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_title = "subspaces"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": True,
    # Pages of wide tables have all the room.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        **{page: [] for page in ["index", "which-method", "methods", "paper", "studies", "benchmarks"]},
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
