"""The documentation: executed pages, maths and search that work without a network.

Build it with ``python3 -m uv run --group docs sphinx-build -W docs docs/_build/html``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import myst_nb.core.execute.direct as execution
from jupyter_client import AsyncKernelManager

import memcurve

_EXTENSIONS = Path(__file__).parent / "_extensions"
sys.path.insert(0, str(_EXTENSIONS))

# Pages run in the Python that builds them, whatever kernels and settings the user has, and on one
# BLAS thread: they are many small problems.
os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
_settings = tempfile.TemporaryDirectory(prefix="memcurve-docs-")
os.environ["IPYTHONDIR"] = _settings.name
_profile = Path(_settings.name) / "profile_default"
_profile.mkdir()
# Progress, which notebooks show on stderr after some seconds, would be an error on a busy machine.
(_profile / "ipython_kernel_config.py").write_text(
    "c = get_config()\n"
    "c.IPKernelApp.log_level = 40\n"
    "c.IPKernelApp.exec_lines = ['from memcurve.core import progress as _progress',"
    " '_progress.PATIENCE = 1e9']\n"
)
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
os.environ["MEMCURVE_DOCS"] = str(Path(__file__).parent)  # pages run elsewhere
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


class KernelManager(AsyncKernelManager):
    """Kernels that are spoken to over Unix sockets, each set of them in a folder of its own.

    For TCP, the ports of a kernel are found free before it starts. With ``-j`` another kernel, or
    anything else on the machine, may take one until it binds them: it died, and the build with it.
    """

    def __init__(self, **settings: Any) -> None:
        folder = tempfile.mkdtemp(dir=_settings.name)
        super().__init__(transport="ipc", ip=f"{folder}/socket", **settings)


if os.name == "posix":
    execution.single_nb_execution = partial(
        execution.single_nb_execution, kernel_manager_class=KernelManager
    )

project = "memcurve"
author = "The memcurve developers"
copyright = "the memcurve developers, MIT licence"
version = release = memcurve.__version__

extensions = [
    "gallery",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_extensions", "jupyter_execute", "**.ipynb_checkpoints"]
suppress_warnings = ["mystnb.unknown_mime_type"]  # notebooks have richer outputs than pages show

# --- pages

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Always executed, never cached: a cache would not notice that memcurve itself has changed.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_output_stderr = "error"
nb_render_markdown_format = "myst"

# --- maths

# One file of MathJax 3 that draws every glyph itself: no fonts and no further scripts are loaded,
# so that pages opened from a disk look as those from a server. The package is taken as data.
_MATHJAX = "tex-svg-full.js"
_mathjax = next(
    file.locate()
    for file in metadata.files("sphinx-mathjax-offline") or ()
    if file.name == _MATHJAX
)
mathjax_path = _MATHJAX
mathjax3_config = {
    "options": {
        "enableMenu": False,  # its settings would load further files
        "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area",
    },
    "svg": {"fontCache": "global"},
}
suppress_warnings.append("myst.mathjax")

# --- reference

autodoc_typehints = "none"  # the docstrings say what is taken, in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"exclude-members": "DERIVED"}  # how files are read
autosummary_generate = False
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "returns_style")]  # as text: no names to look up
napoleon_use_rtype = False
python_display_short_literal_types = True
add_module_names = False
toc_object_entries_show_parents = "hide"
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(?!memcurve\.).*"),  # types are words, not names to look up
    ("py:mod", r"memcurve\..*"),  # modules within, which have no page
]

# --- looks

html_theme = "pydata_sphinx_theme"
html_title = f"memcurve {release}"
html_static_path = ["_static", str(Path(_mathjax))]
html_css_files = ["memcurve.css"]
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(_EXTENSIONS / "search_scorer.js")
html_show_search_summary = False  # summaries are fetched, which pages opened from a disk may not
# pages without others below them have nothing to list at the side
html_sidebars = {
    page: []
    for page in ("start", "glossary", "choosing", "conventions", "literature", "performance")
}
html_theme_options = {
    "logo": {"text": "memcurve"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}

copybutton_exclude = ".linenos, .gp, .go"

# --- the links that only a network can check: sphinx-build -b linkcheck docs docs/_build/links

linkcheck_timeout = 20
linkcheck_retries = 2


# --- the page that needs nothing, beside the others


def _write_play(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        from memcurve.views.exploring.page import static_page

        (Path(app.outdir) / "play.html").write_text(static_page(), encoding="utf-8")


def setup(app: Any) -> None:
    """Connect what is written after the pages."""
    app.connect("build-finished", _write_play)
