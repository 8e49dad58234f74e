"""Files of 2 MB that were made to take hours end in time: the work grows with the file.

They are read in a process of its own, which is ended if it takes longer than any machine needs.
"""

from __future__ import annotations

from pathlib import Path

from tests._support.hostile_files import SIZE, assert_read_in_time

READ = """
import resource, sys
from pathlib import Path
from whence.engine.errors import WhenceError
from whence.engine.sources import open_source
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
for path in map(Path, sys.argv[1:]):
    try:
        said = f"{sum(batch.num_rows for batch in open_source(path).batches())} rows"
    except WhenceError as error:
        said = error
    print(path.name, said, sep=": ", flush=True)
"""
XES = '<?xml version="1.0"?><log xes.version="1.0">'
NAMED = f'{XES}<trace><string key="concept:name" value="x"/>'
TWICE = '<event><int key="a" value="1"/><int key="a" value="1"/></event>'
NESTED = '<event><int key="a" value="1"><int key="b" value="1"/></int></event>'
KEY = '<event><string key="k{}" value="1"/></event>'
FIELDS = ",".join(f'"a{number}":1' for number in range(SIZE // 12))
HOSTILE = {
    "traces.xes": (f"{XES}{'<trace/>' * (SIZE // 8)}</log>", "0 rows"),
    "cases.xes": (
        f"{XES}{'<trace><event/></trace>' * (SIZE // 23)}</log>",
        "expected a trace with a concept:name; got one without",
    ),
    "keys.xes": (
        f"{XES}<trace>{''.join(KEY.format(n) for n in range(SIZE // 48))}</trace></log>",
        "expected at most 4,096 columns (the limit 'columns'); got more",
    ),
    "twice.xes": (
        f"{NAMED}{TWICE * (SIZE // 63)}</trace></log>",
        "expected each key once in an event or trace; got it twice",
    ),
    "nested.xes": (
        f"{NAMED}{NESTED * (SIZE // 70)}</trace></log>",
        f"{SIZE // 70} rows",
    ),
    "comments.xes": (f"{XES}{'<!-- -->' * (SIZE // 8)}</log>", "0 rows"),
    "fields.jsonl": (f'{{{FIELDS},"z":1,"z":2}}', "the field 'z' twice"),
    "fields.jsonocel": (f'{{"events":[{{{FIELDS},"z":1,"z":2}}]}}', "the name 'z' twice"),
    "quotes.csv": ("a,b\n" + '"\n' * (SIZE // 2), "expected 2 cells as in the header; got 1"),
}


def test_hostile_logs_end_in_time(tmp_path: Path) -> None:
    assert_read_in_time(READ, HOSTILE, tmp_path)
