"""A palette in a package of its own, found through its entry point, works as ours do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "palette_example" / "example_palette"
LINE = {"line": [{"id": "steps", "difference": 1}, {"id": "up", "apply": "value > 0"}]}


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as an installer leaves it: the package and its dist-info."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(
        SOURCE, folder / "example_palette", ignore=shutil.ignore_patterns("__pycache__")
    )
    info = folder / "example_palette-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example-palette\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[whence.palettes]\nexample = example_palette\n")
    return folder


def python(code: str, folder: Path | None) -> subprocess.CompletedProcess[str]:
    path = [str(folder)] if folder else []
    path += [p for p in sys.path if p]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def printed(code: str, folder: Path) -> object:
    done = python(code, folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_works_in_python(site_folder: Path) -> None:
    code = (
        "import json; from example_palette import Difference\n"
        "from whence.engine.testing import run\n"
        "print(json.dumps([(v, sorted(w)) for v, w in run(Difference('d', lag=2), [1, 5, 4, 9])]))"
    )
    assert printed(code, site_folder) == [[3, [0, 2]], [4, [1, 3]]]


def test_it_works_in_a_chain_file_by_its_tag(site_folder: Path) -> None:
    code = (
        "import json; from whence.engine.language.definition import chain_from_tree\n"
        "from whence.engine.testing import run\n"
        f"chain = chain_from_tree({LINE!r})\n"
        "assert chain_from_tree(json.loads(json.dumps(chain.tree()))) == chain\n"
        "assert 'example_palette' in __import__('sys').modules\n"
        "print(json.dumps([(v, sorted(w)) for v, w in run(chain, [1, 5, 4])]))"
    )
    assert printed(code, site_folder) == [[True, [0, 1]], [False, [1, 2]]]


def test_it_works_inside_slice_and_window(site_folder: Path) -> None:
    inner = {"line": [{"id": "x", "apply": "x"}, {"id": "steps", "difference": 1}]}
    tree = {
        "line": [
            {"id": "per-case", "slice": {"by": "case", "of": inner, "combine": "add"}},
            {"id": "two", "window": {"n": 2, "of": {"id": "again", "difference": 1}}},
        ]
    }
    log = [{"case": c, "x": x} for c, x in [("A", 1), ("B", 5), ("A", 4), ("B", 6)]]
    code = (
        "import json, pickle; from whence.engine.language.definition import chain_from_tree\n"
        "from whence.engine import MemoryTracker, interpret\n"
        f"chain = pickle.loads(pickle.dumps(chain_from_tree({tree!r})))\n"
        f"result = interpret(chain, {log!r}, tracker=MemoryTracker())\n"
        "shown = [[o.value, sorted(p for _, p in result.explain(o.position).inputs)]\n"
        "         for o in result.outputs]\n"
        "print(json.dumps(shown))"
    )
    # Sums over the slices: 0, 0, 3, 4; while no slice speaks, all inputs so far explain.
    expected = [[0, [0, 1]], [3, [0, 1, 2]], [1, [0, 1, 2, 3]]]
    assert printed(code, site_folder) == expected


def test_its_parameters_are_checked_as_ours_are(site_folder: Path) -> None:
    code = (
        "from whence.engine import WhenceError\n"
        "from whence.engine.language.definition import chain_from_tree\n"
        "try:\n    chain_from_tree({'id': 'steps', 'difference': 0})\n"
        "except WhenceError as error:\n    print(__import__('json').dumps(str(error)))"
    )
    assert printed(code, site_folder) == "Difference 'steps': expected lag >= 1; got 0; try lag=1"


def test_without_the_package_the_tag_is_unknown() -> None:
    code = (
        "from whence.engine import WhenceError\n"
        "from whence.engine.language.definition import chain_from_tree\n"
        "try:\n    chain_from_tree({'id': 'steps', 'difference': 1})\n"
        "except WhenceError as error:\n    print(error)"
    )
    done = python(code, None)
    assert done.stdout.startswith("a processor: expected a known tag; got 'difference'; try one of")


def test_a_palette_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    info = tmp_path / "broken_palette-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-palette\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[whence.palettes]\nbroken = broken_palette\n")
    code = (
        "from whence.engine import WhenceError\n"
        "from whence.engine.language.definition import chain_from_tree\n"
        "try:\n    chain_from_tree({'id': 'skip', 'trim': 1})\n"
        "except WhenceError as error:\n    print(error)"
    )
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr.splitlines()[-1]
    assert "broken" in done.stdout
