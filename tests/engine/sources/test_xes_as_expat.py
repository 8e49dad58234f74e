from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.sources._support.slow_xes_reader import Attribute, events_by_expat
from tests.engine.text_strategies import BROAD
from whence.engine.sources import events_of, open_source
from whence.engine.sources.xes import pieces

LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs"
needs_logs = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real logs (../shared/logs) are not here"
)


@needs_logs
def test_a_real_log_reads_as_expat_reads_it(tmp_path: Path) -> None:
    file = LOGS / "receipt.xes.gz"
    plain = tmp_path / "receipt.xes"
    plain.write_bytes(gzip.decompress(file.read_bytes()))
    expected = [_expected(*found) for found in events_by_expat(file)]
    for path in (file, plain):
        assert [_present(row) for row in events_of(open_source(path))] == expected


def _present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _expected(shared: list[Attribute], own: list[Attribute]) -> dict[str, Any]:
    made = {f"case:{a[1]}": a for a in shared} | {a[1]: a for a in own}
    found: dict[str, Any] = {}
    for name, attribute in made.items():
        found[name] = _value(attribute)
        if attribute[3] and attribute[0] != "list":
            found[f"{name}:nested"] = {child[1]: _whole(child) for child in attribute[3]}
    return found


def _whole(attribute: Attribute) -> Any:
    value = _value(attribute)
    if not attribute[3] or attribute[0] == "list":
        return value
    return {"value": value, "nested": {child[1]: _whole(child) for child in attribute[3]}}


def _value(attribute: Attribute) -> Any:
    kind, _, text, inside = attribute
    if kind == "list":
        (values,) = inside
        return [{child[1]: _whole(child)} for child in values[3]]
    assert text is not None
    if kind == "date":
        return datetime.fromisoformat(text).astimezone(UTC)
    if kind == "boolean":
        return text == "true"
    return {"int": int, "float": float}.get(kind, str)(text)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5) | st.sampled_from(
    ["A & B", "a > b", "it's", 'say "x"', "</event>", "<!-- x -->", "tab\tline\nend", "é\r"]
)
QUOTING = st.sampled_from(["plain", "single", "spaced", "reversed", "prefixed", "pair"])
PLAIN = st.one_of(
    st.tuples(st.just("string"), TEXTS),
    st.tuples(st.just("int"), st.integers(-(2**63), 2**63 - 1).map(str)),
    st.tuples(st.just("float"), st.floats(allow_nan=False, allow_infinity=False).map(repr)),
    st.tuples(st.just("boolean"), st.sampled_from(["true", "false"])),
    st.tuples(st.just("date"), st.datetimes(timezones=st.just(UTC)).map(lambda t: t.isoformat())),
)
ASIDE = st.sampled_from(
    ["", "\n", "\t", "<!-- <event> ' \" -->", "<![CDATA[<event>]]>", "<?x <e ?>"]
)


def _quoted(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


@st.composite
def attributes(draw: st.DrawFn, key: str, depth: int = 0) -> str:
    name, text = draw(PLAIN)
    style = draw(QUOTING)
    value = _quoted(text)
    if style == "single":
        value = (
            "'"
            + _quoted(text + "'\"")[1:-1]
            .replace("'", "&apos;")
            .removesuffix("&apos;&quot;" if "&quot;" in _quoted(text + "'\"") else '&apos;"')
            + "'"
        )
    written = f" key={_quoted(key)} value={value}"
    if style == "reversed":
        written = f" value={value}\n key={_quoted(key)}"
    if style == "prefixed":
        name = f"x:{name}"
    inside = ""
    if depth < 2 and draw(st.integers(0, 5)) == 0:
        inside = "".join(draw(attributes(k, depth + 1)) for k in draw(KEYS))
    aside = draw(ASIDE)
    if inside or style == "pair":
        return f"<{name}{written}>{inside}</{name}>{aside}"
    return f"<{name}{written}{' ' if style == 'spaced' else ''}/>{aside}"


KEYS = st.lists(st.sampled_from(["a", "b", "c d", "é", "&", "x>y"]), unique=True, max_size=4)


@st.composite
def logs(draw: st.DrawFn) -> str:
    made = ""
    for number in range(draw(st.integers(0, 4))):
        inside = f'<string key="concept:name" value="{number}"/>'
        inside += "".join(draw(attributes(key)) for key in draw(KEYS))
        for _ in range(draw(st.integers(0, 4))):
            inside += f"<event>{''.join(draw(attributes(key)) for key in draw(KEYS))}</event>"
        made += draw(ASIDE) + f"<trace>{inside}</trace>"
    return f"<?xml version='1.0'?><!-- log --><log xmlns:x='y'>{made}</log>"


@BROAD
@given(logs(), st.sampled_from([40, 300, 1 << 20]))
def test_however_it_is_written_and_cut_a_log_reads_as_expat_reads_it(log: str, block: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_BLOCK", block)
        file = Path(folder) / "log.xes"
        file.write_text(log, encoding="utf-8", newline="")
        read = [_present(row) for row in events_of(open_source(file))]
        assert read == [_expected(*found) for found in events_by_expat(file)]
