"""How these pages become the manual: Sphinx reads them as they stand (`make docs`)."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

project = "Whence"
release = metadata.version("whence")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "tools.manual"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4

# Notebooks are kept without outputs and executed anew each time; one that fails breaks the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_use_ivar = True  # else what "Attributes:" lists is there twice
default_role = "code"
python_use_unqualified_type_names = True
suppress_warnings = ["ref.python"]  # engine and exporters each have a Log; both are meant

html_theme = "furo"
html_title = f"Whence {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
