"""What is built is what is tracked, and it can be imported from the wheel alone."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tests.ground.surroundings import offline, run, tracked


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist (not from the tree), without network."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out)]
    done = run([*offline(), *build])
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(out.glob("whence-*.tar.gz"))) == 1
    (built,) = out.glob("whence-*.whl")
    return built


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    tops = {Path(name).parts[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {"whence"} < tops
    assert [top for top in tops if top != "whence" and not top.endswith(".dist-info")] == []


def test_the_wheel_holds_every_tracked_file_but_the_check_of_worked_cases(wheel: Path) -> None:
    files = tracked("engine/whence", "store/whence", "exporters/whence", "app/whence")
    tracked_files = {Path(*file.parts[1:]).as_posix() for file in files}
    checks = {file for file in tracked_files if file.startswith("whence/engine/vectors/")}
    built = set(zipfile.ZipFile(wheel).namelist())
    assert tracked_files - checks - built == set()
    assert len(checks) > 3
    assert checks & built == set()


def test_the_wheel_imports_without_the_tree(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    # Before the editable install's own entries, so that only the unpacked wheel can answer.
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "import whence.engine.errors, whence.engine.testing, whence.store, whence.exporters; "
        "import whence.cli, whence.web, whence.api, whence.results, whence.streams; "
        "import whence.notebook; "
        "print(*(p for n, m in sys.modules.items() if n.startswith('whence.')"
        " for p in [m.__file__ or list(m.__path__)[0]]), sep='\\n')"
    )
    done = run([sys.executable, "-I", "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [file for file in done.stdout.splitlines() if not file.startswith(str(tmp_path))] == []


def test_the_wheel_names_its_licence_and_its_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    (metadata,) = (n for n in names if n.endswith(".dist-info/METADATA"))
    (entries,) = (n for n in names if n.endswith(".dist-info/entry_points.txt"))
    assert "License-Expression: Apache-2.0" in archive.read(metadata).decode()
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert "whence = whence.cli:main" in archive.read(entries).decode()
