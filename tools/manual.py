"""What the manual needs beyond Sphinx: the contents from the start page, links out of the folder.

The pages are plain Markdown that reads well without being built, so none of them holds a Sphinx
table of contents: the lists of links on the start page are that table.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["contents_of", "setup"]

START = "index"
# Languages that the pages name and Pygments does not know.
PLAIN = ("csv", "provn")


def contents_of(text: str) -> str:
    r"""The start page's lists of links as hidden tables of contents, one for each heading.

    >>> print(contents_of("## Begin\n\n- [One](a/one.md): first\n- [Two](b/two.md)"))
    ```{toctree}
    :hidden:
    :caption: Begin
    a/one
    b/two
    ```
    """
    tables = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        pages = re.findall(r"^- \[[^\]]*\]\(([^)#:]+)\.(?:md|ipynb)\)", rest, flags=re.MULTILINE)
        if pages:
            head = ["```{toctree}", ":hidden:", f":caption: {heading.strip()}"]
            tables.append("\n".join([*head, *pages, "```"]))
    return "\n\n".join(tables)


def _with_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == START:
        source[0] += "\n" + contents_of(source[0]) + "\n"


def _kernels_of_our_own(app: Sphinx) -> None:
    """Let notebooks run as they do for everybody: without the user's own settings, and quietly."""
    profile = Path(app.doctreedir) / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    quiet = "c.IPKernelApp.log_level = 'ERROR'\n"
    (profile / "ipython_kernel_config.py").write_text(quiet, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profile.parent)
    logging.getLogger("traitlets").setLevel(logging.WARNING)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join in: the contents, plain text for languages without colors, kernels for notebooks."""
    for language in PLAIN:
        app.add_lexer(language, TextLexer)
    app.connect("builder-inited", _kernels_of_our_own)
    app.connect("source-read", _with_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
