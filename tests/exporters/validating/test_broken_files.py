"""What is no PROV document is refused in one line, soon and in little memory."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.ground.surroundings import run
from whence.engine.errors import WhenceError
from whence.exporters.validating import validate

JSON = '{"prefix": {"ex": "http://example.org/"}, "entity": {"ex:e": {}, "ex:f": {}}}'
N = "document\nprefix ex <http://example.org/>\nentity(ex:e)\nendDocument\n"
XML = (
    '<prov:document xmlns:prov="http://www.w3.org/ns/prov#" xmlns:ex="http://example.org/">'
    '<prov:entity prov:id="ex:e"/></prov:document>'
)
TURTLE = "@prefix prov: <http://www.w3.org/ns/prov#> .\n<http://example.org/e> a prov:Entity .\n"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns:prov="http://www.w3.org/ns/prov#">'
    '<prov:Entity rdf:about="http://example.org/e"/></rdf:RDF>'
)
GOOD = {"a.json": JSON, "a.provn": N, "a.provx": XML, "a.ttl": TURTLE, "a.rdf": RDF_XML}

BROKEN = {
    "truncated JSON": ("a.json", JSON[:-9], "expected"),
    "truncated in a string": ("a.json", JSON[:55], "expected JSON; got Unterminated string"),
    "something behind JSON": ("a.json", JSON + "}", "expected the end of the file"),
    "no JSON": ("a.json", "{entity: 1}", "expected JSON"),
    "a section twice": ("a.json", JSON[:-1] + ', "entity": {}}', "got 'entity' twice"),
    "a record twice": ("a.json", JSON.replace("ex:f", "ex:e"), "got 'ex:e' twice"),
    "an attribute twice": (
        "a.json",
        JSON.replace('"ex:e": {}', '"ex:e": {"ex:a": 1, "ex:a": 2}'),
        "the name 'ex:a' twice in one object",
    ),
    "JSON, wrong namespace": (
        "a.json",
        JSON.replace('"ex": ', '"prov": "http://example.org/prov#", "ex": '),
        "expected the prefix 'prov' to stand for http://www.w3.org/ns/prov#",
    ),
    "JSON, unknown prefix": ("a.json", JSON.replace('"ex:e"', '"no:e"'), "the prefix 'no'"),
    "JSON, no default": ("a.json", '{"entity": {"e": {}}}', "a default namespace"),
    "JSON, a list": ("a.json", JSON.replace("{}", "5"), "expected a record under 'ex:e'; got '5'"),
    "JSON, an empty object": ("a.json", "{}", "expected statements of W3C PROV"),
    "PROV-N, truncated": ("a.provn", N[:-12], "got the end"),
    "PROV-N, truncated in a statement": ("a.provn", N[:48], "the arguments of entity; got the end"),
    "PROV-N, no document": ("a.provn", "entity(ex:e)", "begins with 'document'"),
    "PROV-N, wrong namespace": (
        "a.provn",
        N.replace("prefix ex", "prefix prov <http://example.org/prov#>\nprefix ex"),
        "expected the prefix 'prov' to stand for http://www.w3.org/ns/prov#",
    ),
    "PROV-N, too many arguments": ("a.provn", N.replace("ex:e)", "ex:e, ex:f)"), "at most 0"),
    "PROV-N, open string": ("a.provn", N.replace("ex:e)", 'ex:e, [ex:a="b)'), "expected"),
    "XML, truncated": ("a.xml", XML[:-9], "expected XML"),
    "XML, wrong namespace": (
        "a.xml",
        XML.replace("www.w3.org/ns/prov#", "example.org/prov"),
        "expected <document> of http://www.w3.org/ns/prov#",
    ),
    "XML, an entity bomb": (
        "a.xml",
        BOMB + XML,
        "expected a PROV document without a document type",
    ),
    "XML, another root": ("a.xml", "<html/>", "got <html>"),
    "Turtle, truncated": ("a.ttl", TURTLE[:-9], "expected turtle"),
    "Turtle, wrong namespace": (
        "a.ttl",
        TURTLE.replace("www.w3.org/ns/prov#", "example.org/prov#"),
        "expected statements of W3C PROV (http://www.w3.org/ns/prov#); got none",
    ),
    "N-Quads, no RDF": ("a.nq", "hello\n", "expected nquads"),
    "RDF/XML, an entity bomb": (
        "a.rdf",
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;&b;">]>'
        + RDF_XML.replace("example.org/e", "example.org/&c;"),
        "expected RDF/XML without a document type",
    ),
    "JSON-LD with a context elsewhere": (
        "a.jsonld",
        '{"@context": "http://example.org/context", "@id": "http://example.org/e"}',
        "expected jsonld",
    ),
    "not UTF-8": ("a.provn", "document \udcff", "expected utf-8; got byte 0xff"),
    "a name that says nothing": ("a.txt", "hello", "expected a name that ends in one of"),
    "gzip that is none": ("a.json.gz", JSON, "expected a gzip file"),
}


@pytest.mark.parametrize("name", GOOD)
def test_the_same_files_whole_are_valid(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(GOOD[name], encoding="utf-8")
    assert validate(tmp_path / name).valid


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    name, text, part = BROKEN[what]
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WhenceError) as refused:
        validate(tmp_path / name)
    said = str(refused.value)
    assert part in said
    assert "\n" not in said
    assert "; got" in said
    assert "; try " in said


@pytest.mark.parametrize("what", ["truncated JSON", "XML, an entity bomb"])
def test_the_command_ends_with_that_line_and_1(what: str, tmp_path: Path, cli: Cli) -> None:
    name, text, _ = BROKEN[what]
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = cli("validate", str(tmp_path / name))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


HEADS = {
    "json": (b'{"entity": {"', b"a"),
    "provn": (b"document\nentity(", b"a"),
    "xml": (XML.replace("/></prov:document>", "><prov:type>").encode(), b" "),
    "nq": (b'<http://example.org/e> <http://example.org/p> "', b"a"),
    "rdf": (RDF_XML.replace("/></rdf:RDF>", "><prov:value>").encode(), b"a"),
}
MEASURED = """
import resource, sys
from whence.engine.errors import WhenceError
from whence.exporters.validating import validate
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    validate(sys.argv[1])
except WhenceError as refused:
    print(refused)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("ending", HEADS)
def test_a_line_of_a_gigabyte_is_refused_in_bounded_memory(ending: str, tmp_path: Path) -> None:
    head, sign = HEADS[ending]
    piece = gzip.compress(sign * (16 << 20), 1)
    file = tmp_path / f"long.{ending}.gz"
    with file.open("wb") as out:
        out.write(gzip.compress(head))
        for _ in range(64):
            out.write(piece)
    done = run([sys.executable, "-c", MEASURED, str(file)], cwd=tmp_path)
    *said, grown = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(said) == 1
    assert "expected" in said[0]
    assert int(grown) < 600
