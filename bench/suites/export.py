"""How fast runs leave as PROV, and in how much memory, against ``prov`` and rdflib.

The run has 10^5 events, half of them inputs and half sums over windows of two, each with its two
derivations. It is written from the record's Arrow tables, and beside it from Neo4j, where a reader
asks for events and edges chunk by chunk (of that, CPU time is this process's; the server's own is
not in it, so the clock's time stands there too). The libraries get the same statements,
made into objects beforehand, so that only their own work is timed: to build their document and to
write it. As ``prov`` takes minutes for N-Quads, the libraries run once. Times are CPU time; peaks
are those of a process that only exports, from runs of 10^5 and of 10^6 events. Beside it stands how
long it takes to check a million statements, by the clock, reading included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bench import Bench
from bench.harness import quick
from bench.suites._graph_run import GraphRun, a_server
from bench.suites._validate import checked, write_documents
from whence.engine import Chain, Cumulate, Window
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.exporters import save_run
from whence.exporters.documents import run_document
from whence.exporters.prov.rows import each_statement
from whence.exporters.prov.saving import write_document
from whence.exporters.prov.statements import Bundle, Document
from whence.exporters.prov.writing.prov_document import prov_document
from whence.exporters.prov.writing.rdf import rdflib_dataset
from whence.exporters.recorded import RecordedRun
from whence.store import Connection
from whence.store.loading import load

T = TypeVar("T")

COMPARED = 10_000 if quick() else 100_000
SMALL, LARGE = (10_000, 100_000) if quick() else (100_000, 1_000_000)

MEASURE = """
import re, sys
from pathlib import Path
from whence.exporters import save_run
save_run(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
# Not ru_maxrss, which a process inherits from the one that started it.
print(int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


@dataclass
class Runs:
    """The runs in a record of their own, and what the libraries took for the first one."""

    root: Path
    compared: str
    small: str
    large: str
    graph: Connection
    once: dict[str, float] = field(default_factory=dict)

    def written(self, file: str) -> float:
        """CPU seconds that the export takes."""
        started = time.process_time()
        save_run(self.root, self.compared, self.root / file)
        return time.process_time() - started

    def from_neo4j(self, file: str, clock: Callable[[], float]) -> float:
        """Seconds that the same export takes from the graph, and that it has the same content."""
        path = self.root / file
        started = clock()
        write_document(run_document(GraphRun(self.graph, self.compared)), path)
        seconds = clock() - started
        if file.endswith(".nq"):
            assert derived(path) == derived(self.root / "from-arrow.nq")
        return seconds

    def by_another(
        self, name: str, prepare: Callable[[Document], T], work: Callable[[T], Any]
    ) -> float:
        """CPU seconds that a library takes for what it is handed, measured once."""
        if name not in self.once:
            given = prepare(run_document(RecordedRun(self.root, self.compared)))
            started = time.process_time()
            work(given)
            self.once[name] = time.process_time() - started
        return self.once[name]

    def peak(self, run: str, file: str) -> float:
        """Megabytes that a process takes at most to export a run."""
        arguments = [sys.executable, "-c", MEASURE, str(self.root), run, str(self.root / file)]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        return float(done.stdout)


def derived(path: Path) -> set[str]:
    """The plain derivations of N-Quads."""
    with path.open(encoding="utf-8") as lines:
        return {line for line in lines if "prov#wasDerivedFrom>" in line}


def one_by_one(document: Document) -> Document:
    """The same document with every statement as an object."""
    bundles = []
    for bundle in document.bundles:
        statements = list(each_statement(bundle.statements()))
        bundles.append(Bundle(bundle.name, partial(iter, statements)))
    return Document(document.namespaces, document.top, tuple(bundles))


def terms(document: Document) -> list[tuple[Any, ...]]:
    """The quads of a document as terms of rdflib."""
    return list(rdflib_dataset(document).quads())


def written_by_rdflib(quads: list[tuple[Any, ...]], path: str) -> None:
    """Build a dataset of these quads and write it."""
    import rdflib

    dataset = rdflib.Dataset()
    dataset.addN([(*quad[:3], dataset.graph(quad[3])) for quad in quads])
    dataset.serialize(path, format="nquads", encoding="utf-8")


@contextmanager
def runs() -> Iterator[Runs]:
    """Runs of three sizes, in a record that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        chain = Chain.of(Window("pairs", n=2, of=Cumulate("sum", "add")))
        ids: list[str] = []
        for count in (COMPARED // 2, SMALL // 2, LARGE // 2):
            log = ingest(
                root, "log", [n % 97 for n in range(count)], source="numbers", chunk=50_000
            )
            ids.append(run_kernels(root, chain, {"log": log}, RunOptions()).id)
        compared, small, large = ids
        write_documents(root)
        with a_server() as graph:
            load(root, compared, graph)
            save_run(root, compared, root / "from-arrow.nq")
            yield Runs(root, compared, small, large, graph)


bench = Bench("exports of a run, from Arrow and from Neo4j", prepare=runs)


@bench.variant("prov_json")
def _prov_json(given: Runs) -> float:
    return given.written("a.json")


@bench.variant("nquads")
def _nquads(given: Runs) -> float:
    return given.written("a.nq")


@bench.variant("prov_json.from_neo4j")
def _prov_json_from_neo4j(given: Runs) -> float:
    return given.from_neo4j("graph.json", time.process_time)


@bench.variant("nquads.from_neo4j")
def _nquads_from_neo4j(given: Runs) -> float:
    return given.from_neo4j("graph.nq", time.process_time)


@bench.variant("nquads.from_neo4j.clock")
def _nquads_from_neo4j_clock(given: Runs) -> float:
    return given.from_neo4j("graph.nq", time.perf_counter)


@bench.variant("prov_json.prov")
def _prov_json_prov(given: Runs) -> float:
    path = str(given.root / "prov.json")
    return given.by_another(
        "json", one_by_one, lambda d: prov_document(d).serialize(path, format="json")
    )


@bench.variant("nquads.prov")
def _nquads_prov(given: Runs) -> float:
    path = str(given.root / "prov.nq")
    return given.by_another(
        "nquads",
        one_by_one,
        lambda d: prov_document(d).serialize(path, format="rdf", rdf_format="nquads"),
    )


@bench.variant("nquads.rdflib")
def _nquads_rdflib(given: Runs) -> float:
    path = str(given.root / "rdflib.nq")
    return given.by_another("rdflib", terms, lambda quads: written_by_rdflib(quads, path))


@bench.variant("prov_json.bytes", unit="MB")
def _prov_json_bytes(given: Runs) -> float:
    return save_run(given.root, given.compared, given.root / "a.json").stat().st_size / 1e6


@bench.variant("nquads.bytes", unit="MB")
def _nquads_bytes(given: Runs) -> float:
    return save_run(given.root, given.compared, given.root / "a.nq").stat().st_size / 1e6


@bench.variant("prov_json.peak_1e5", unit="MB")
def _prov_json_small(given: Runs) -> float:
    return given.peak(given.small, "a.json")


@bench.variant("prov_json.peak_1e6", unit="MB")
def _prov_json_large(given: Runs) -> float:
    return given.peak(given.large, "a.json")


@bench.variant("nquads.peak_1e5", unit="MB")
def _nquads_small(given: Runs) -> float:
    return given.peak(given.small, "a.nq")


@bench.variant("nquads.peak_1e6", unit="MB")
def _nquads_large(given: Runs) -> float:
    return given.peak(given.large, "a.nq")


@bench.variant("validate.s_1e6", "s")
def _validate_seconds(given: Runs) -> float:
    return checked(given.root / "large.json")[0]


@bench.variant("validate_nquads.s_1e6", "s")
def _validate_nquads_seconds(given: Runs) -> float:
    return checked(given.root / "large.nq")[0]


@bench.variant("validate.peak_mb_1e6", "MB", rounds=1)
def _validate_peak(given: Runs) -> float:
    return checked(given.root / "large.json")[1]


bench.ratio("prov_json.vs_prov", "prov_json.prov", "prov_json", "higher")
bench.ratio("nquads.vs_prov", "nquads.prov", "nquads", "higher")
bench.ratio("prov_json.from_neo4j.vs_prov", "prov_json.prov", "prov_json.from_neo4j", "higher")
bench.ratio("nquads.from_neo4j.vs_prov", "nquads.prov", "nquads.from_neo4j", "higher")
bench.ratio("nquads.vs_rdflib", "nquads.rdflib", "nquads", "higher")
bench.ratio("prov_json.peak_ratio_1e6_1e5", "prov_json.peak_1e6", "prov_json.peak_1e5")
bench.ratio("nquads.peak_ratio_1e6_1e5", "nquads.peak_1e6", "nquads.peak_1e5")
