"""A million PROV statements to check: written once, checked in a process of its own.

The document is half entities and half derivations, each from an earlier entity: the shape of an
export. Each check runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.harness import quick

__all__ = ["checked", "write_documents"]

STATEMENTS = 20_000 if quick() else 1_000_000
PROV = "http://www.w3.org/ns/prov#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MEASURED = """
import re, sys, time
from pathlib import Path
from whence.exporters.validating import validate
started = time.perf_counter()
report = validate(sys.argv[1])
assert report.valid and report.statements == int(sys.argv[2]), report
seconds = time.perf_counter() - started
# Not ru_maxrss, which a process inherits from the one that started it.
peak = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(seconds, peak)
"""


def prov_json(entities: int) -> Iterator[str]:
    """The document as PROV-JSON."""
    yield '{"prefix": {"ex": "http://example.org/"}, "entity": {"ex:e0": {}'
    for number in range(1, entities):
        yield f',\n"ex:e{number}": {{"ex:position": {number}}}'
    yield '},\n"wasDerivedFrom": {"ex:d1": {"prov:generatedEntity": "ex:e1", '
    yield '"prov:usedEntity": "ex:e0"}'
    for number in range(2, entities):
        yield f',\n"ex:d{number}": {{"prov:generatedEntity": "ex:e{number}", '
        yield f'"prov:usedEntity": "ex:e{number // 2}"}}'
    yield "}}\n"


def nquads(entities: int) -> Iterator[str]:
    """The same as N-Quads, each derivation plain and qualified."""
    for number in range(entities):
        yield f"<http://example.org/e{number}> {TYPE} <{PROV}Entity> .\n"
    for number in range(1, entities):
        made, source, own = (
            f"<http://example.org/{name}>"
            for name in (f"e{number}", f"e{number // 2}", f"d{number}")
        )
        yield f"{made} <{PROV}wasDerivedFrom> {source} .\n"
        yield f"{made} <{PROV}qualifiedDerivation> {own} .\n"
        yield f"{own} {TYPE} <{PROV}Derivation> .\n{own} <{PROV}entity> {source} .\n"


WRITERS: dict[str, Callable[[int], Iterator[str]]] = {"json": prov_json, "nq": nquads}


def write_documents(folder: Path) -> None:
    """Write the document in both syntaxes."""
    for ending, writer in WRITERS.items():
        with (folder / f"large.{ending}").open("w", encoding="utf-8") as file:
            file.writelines(writer(STATEMENTS // 2))


def checked(file: Path) -> tuple[float, float]:
    """Seconds, reading included, and megabytes that a process takes to check a document."""
    arguments = [sys.executable, "-c", MEASURED, str(file), str(2 * (STATEMENTS // 2) - 1)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)
