"""Documents of 2 MB that were made to take hours end in time: the work grows with the file.

They are read in a process of its own, which is ended if it takes longer than any machine needs.
"""

from __future__ import annotations

from pathlib import Path

from tests._support.hostile_files import SIZE, assert_read_in_time

CHECK = """
import sys
from pathlib import Path
from whence.engine.errors import WhenceError
from whence.exporters.importing import import_runs
from whence.exporters.validating import validate
for path in map(Path, sys.argv[1:]):
    try:
        if path.name.startswith("import"):
            import_runs(path, path.parent / "record")
        said = f"violations {dict(validate(path).counts)}"
    except WhenceError as error:
        said = error
    print(path.name, said, sep=": ", flush=True)
"""
DOCUMENT = "document prefix ex <urn:x:>\n"
END = "\nendDocument\n"
XML = '<prov:document xmlns:prov="http://www.w3.org/ns/prov#"'
PREFIXES = " ".join(f'xmlns:a{n}="urn:{n}:"' for n in range(SIZE // 60))
ENTITY = '<prov:entity xmlns:b="urn:{0}:" prov:id="a1:x{0}"/>'
CYCLE = "specializationOf(ex:a{0},ex:b{0})\nspecializationOf(ex:b{0},ex:a{0})"
FIELDS = ",".join(f'"a{number}":1' for number in range(SIZE // 12))
HOSTILE = {
    "comments.provn": (DOCUMENT + "foo(" + "/* " * (SIZE // 3), "expected PROV-N; got '/* /* "),
    "stars.provn": (DOCUMENT + "foo(" + "/*" + "*" * SIZE, "expected PROV-N; got '/***"),
    "less.provn": ("document prefix ex " + "<" * SIZE, "expected PROV-N; got '<<<"),
    "quotes.provn": (DOCUMENT + "foo(" + '"' * (SIZE | 1), "expected PROV-N; got '\"'"),
    "escapes.provn": (DOCUMENT + "foo(" + '"""\\' * (SIZE // 4), "expected PROV-N; got"),
    "blanks.provn": (DOCUMENT + "foo(" + " " * SIZE + "%", "expected PROV-N; got '%'"),
    "prefixes.provn": (
        "document\n"
        + "\n".join(f"prefix p{n} <urn:{n}:>" for n in range(SIZE // 22))
        + "\nentity(p1:e)"
        + END,
        "violations {}",
    ),
    "cycles.provn": (
        DOCUMENT + "\n".join(CYCLE.format(n) for n in range(SIZE // 72)) + END,
        "violations {'C52': ",
    ),
    "prefixes.xml": (
        f"{XML} {PREFIXES}>" + "".join(ENTITY.format(n) for n in range(SIZE // 120)) + END,
        "expected XML; got",
    ),
    "less.xml": (f"{XML}>" + "<" * SIZE, "expected XML; got"),
    "less.trig": ("<" * SIZE, "expected trig; got: "),
    "fields.json": (f'{{"prefix":{{{FIELDS},"z":1,"z":2}}}}', "the name 'z' twice"),
    "import.json": (f'{{"prefix":{{{FIELDS},"z":1,"z":2}}}}', "the key 'z' twice"),
}


def test_hostile_documents_end_in_time(tmp_path: Path) -> None:
    assert_read_in_time(CHECK, HOSTILE, tmp_path)
