"""The command line ``whence``.

How a command is added:

1. Write ``app/whence/cli/NAME.py`` with ``app = typer.Typer(add_completion=False)`` in it. One
   function under ``@app.command()`` makes ``whence NAME``; several make ``whence NAME VERB``. The
   docstring of the function is its help text.
2. Add ``"NAME"`` to ``COMMANDS`` in ``app.py``, in the order of ``--help``, and to one of the
   groups below it; a question about a run is a row of ``whence/questions.py`` instead.
3. Import Spark, Neo4j and other slow or optional packages inside the function, not at the top of
   the file: ``whence --help`` loads every command file, ``whence --version`` loads none.
4. Print through ``whence.cli.output.output()`` only: it knows ``--format``, ``--quiet`` and
   ``--no-color``. Add a row to ``tests/cli/test_forms.py``. Refuse with a ``WhenceError``: the user
   reads its one line, exit code 1.
5. Describe the command and each option in ``docs/reference/cli.md``; a test holds that page.

The options of ``whence.cli.forms`` (``--format``, ``--json``, ``--csv``, ``--quiet``, …) belong to
``whence`` itself and may be anywhere on the line, so no command may use these names for something
else. Only ``draw``, ``export``, ``import`` and ``validate`` have a ``--format`` of their own.
"""

from whence.cli.app import main

__all__ = ["main"]
