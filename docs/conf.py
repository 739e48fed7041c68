"""The site: `make docs`. It is built offline and loads nothing from elsewhere."""

from __future__ import annotations

import os

from recombine import __version__

project = "Recombine"
copyright = "the Recombine authors"  # Sphinx's own name
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "README.md", "**.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb"}
root_doc = "index"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "toc.not_included"]
nb_execution_mode = os.environ.get("RECOMBINE_DOCS_EXECUTE", "cache")
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = None

html_theme = "furo"
html_title = "Recombine"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def setup(_app: object) -> None:
    """Write the pages that come from parsers, schemas and results before the site is built."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("pages", Path(__file__).parent / "pages.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("docs/pages.py is missing")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.write_reference()
