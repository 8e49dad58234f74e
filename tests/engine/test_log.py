"""What is declared of a log: in a chain file and in Python, merged, written back, refused."""

from __future__ import annotations

from dataclasses import fields

import pytest

from whence.engine.errors import DefinitionError, ParameterError
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import dump_chain, load_chain, with_log
from whence.engine.language.log import Log

WHOLE = Log(
    columns={"at": "instant(%d.%m.%Y)", "p": "float"},
    case="customer",
    activity="action",
    time="at",
    id="number",
    order=("at", "p"),
    missing="last",
    format="csv",
    delimiter=";",
    encoding="latin-1",
    header=False,
    pattern="combined",
    object_type="order",
    timezone="Europe/Berlin",
    on_bad="drop",
    limits={"events": 5},
    decimal=",",
    sheet="March",
)


def test_everything_declared_survives_a_chain_file() -> None:
    assert None not in [getattr(WHOLE, each.name) for each in fields(Log)]
    chain = load_chain("{id: p, apply: p}")
    for format in ("yaml", "json"):
        text = dump_chain(_with(chain, WHOLE), format)
        assert load_chain(text).logs["log"] == WHOLE
        assert load_chain(text).digest == _with(chain, WHOLE).digest


def test_a_chain_knows_the_kind_of_an_instant_however_it_is_written() -> None:
    chain = load_chain("{logs: {log: {columns: {at: instant(%Y)}}}, id: at, apply: at}")
    columns = chain.input_traits()[0].columns
    assert columns is not None
    assert dict(columns) == {"at": "instant"}


def test_what_is_stated_last_counts_and_kinds_and_limits_are_merged_one_by_one() -> None:
    over = Log(columns={"q": "text", "p": "integer"}, order="file", limits={"text": 9}).over(WHOLE)
    assert over.columns == {"at": "instant(%d.%m.%Y)", "p": "integer", "q": "text"}
    assert over.limits == {"events": 5, "text": 9}
    assert (over.order, over.case, over.header) == ("file", "customer", False)
    assert Log().over(WHOLE) == WHOLE == WHOLE.over(Log()) == WHOLE.over(None)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("{on_bad: skip}", "a log's on_bad: expected refuse or drop or keep; got 'skip'; try ref"),
        ("{missing: middle}", "a log's missing: expected first or last; got 'middle'; try first"),
        ("{order: 5}", "a log's order: expected something like time; got 5; try time"),
        ("{order: []}", "a log's order: expected something like time; got (); try time"),
        ("{header: 1}", "a log's header: expected something like true; got 1; try true"),
        ("{limits: 7}", "a log's limits: expected something like {events: 5}; got 7"),
        ("{case: [a]}", "a log's case: expected something like a text; got ['a']"),
        ("{columns: {p: int}}", "column 'p': expected a kind; got 'int'; try boolean or integer"),
        ("{columns: {p: integer(5)}}", "column 'p': expected a kind; got 'integer(5)'"),
        ("{delimter: x}", "got 'delimter'; try 'delimiter' (did you mean that?)"),
    ],
)
def test_what_cannot_be_declared_is_refused_with_its_place(declared: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        load_chain(f"{{logs: {{log: {declared}}}, id: p, apply: p}}")
    assert message in str(caught.value)
    assert str(caught.value).startswith("the text, line 1, column ")


def test_python_is_told_the_same() -> None:
    with pytest.raises(ParameterError, match="a log's on_bad: expected refuse or drop or keep"):
        Log(on_bad="skip")


def _with(chain: Chain, log: Log) -> Chain:
    return with_log(chain, "log", log)
