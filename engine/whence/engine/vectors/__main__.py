"""``python -m whence.engine.vectors FILE [--runner NAME]``: run worked cases, say what failed."""

from __future__ import annotations

import argparse
import sys

from whence.engine.errors import WhenceError
from whence.engine.vectors.check import RUNNERS, check_file


def main() -> int:
    """Check one file of cases; the exit code is 1 if any case failed."""
    parser = argparse.ArgumentParser(prog="python -m whence.engine.vectors", description=__doc__)
    parser.add_argument("file", help="chains.json or nested.json, or a file of that form")
    parser.add_argument("--runner", default="interpreter", choices=sorted(RUNNERS))
    options = parser.parse_args()
    try:
        report = check_file(options.file, options.runner)
    except (WhenceError, OSError) as error:
        print(f"whence: {error}", file=sys.stderr)
        return 1
    for failure in report.failures:
        print(failure)
    print(
        f"support: {report.extra} events more than the rules give, "
        f"{report.fewer} fewer; open: {report.extra_open} more, {report.fewer_open} fewer"
    )
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
