"""The command line ``whence``.

How a command is added:

1. Write ``app/whence/cli/NAME.py`` with ``app = typer.Typer(add_completion=False)`` in it. One
   function under ``@app.command()`` makes ``whence NAME``; several make ``whence NAME VERB``. The
   docstring of the function is its help text.
2. Add ``"NAME"`` to ``COMMANDS`` in ``app.py``, in the order of ``--help``;
   a question about a run is a row of ``whence/questions.py`` instead.
3. Import Spark, Neo4j and other slow or optional packages inside the function, not at the top of
   the file: ``whence --help`` loads every command file, ``whence --version`` loads none.
4. Print through ``whence.cli.output.output()`` only: it knows ``--json``, ``--quiet`` and
   ``--no-color``. Refuse with a ``WhenceError``: the user reads its one line, exit code 1.
5. Describe the command and each option in ``docs/reference/cli.md``; a test holds that page.

The options ``--json``, ``--quiet``, ``--no-color``, ``--debug`` and ``--csv-raw`` belong to
``whence`` itself and may stand anywhere on the line, so no command may use these five names for
something else.
"""

from whence.cli.app import main

__all__ = ["main"]
