"""What workers on other machines are given: this package as a wheel, and the user's own modules.

Workers need Python and the packages that Whence imports; Whence itself comes with each run, so that
it is always the one that the driver has. A wheel is a zip file that Python can import from. It goes
under a name that ends in ``.zip``: Spark puts nothing else on the workers' import path.
"""

from __future__ import annotations

import atexit
import base64
import hashlib
import io
import pickle
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from whence.engine.functions import Function, import_function
from whence.engine.language.chain import Chain
from whence.engine.runners.spark.workers import NEEDED, check_workers
from whence.engine.spark_session import is_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["modules_of", "ship", "wheel_of_whence"]

_SHIPPED: dict[str, set[str]] = {}
"""By application: the files that its workers were given already."""


def ship(session: SparkSession, *chains: Chain) -> None:
    """Give the workers of a cluster what chains need; nothing if they run on this machine.

    Args:
        session: where they will run.
        chains: what will be run.

    Raises:
        RunnerError: the workers have another Python, or lack a package.
    """
    if not _is_cluster(session):
        return
    own, installed = modules_of(chains)
    files = [wheel_of_whence(), *([_own_wheel(own)] if own else [])]
    shipped = _SHIPPED.setdefault(_application(session), set())
    fresh = [file for file in files if file.name not in shipped]
    for file in fresh:
        _add(session, file)
    if fresh:
        check_workers(session, [*NEEDED, *sorted(installed)])
    shipped.update(file.name for file in fresh)


def _is_cluster(session: SparkSession) -> bool:
    """Whether workers may be elsewhere; those of ``local[...]`` are children of this process."""
    return not is_here(session.conf.get("spark.master", "") or "")


def _application(session: SparkSession) -> str:
    return session.conf.get("spark.app.id", "") or ""


def _add(session: SparkSession, file: Path) -> None:
    before = list(sys.path)
    try:
        context = session.sparkContext
    except Exception:  # a session of Spark Connect has none
        session.addArtifacts(str(file), pyfile=True)
    else:
        context.addPyFile(str(file))
    # The driver has it all already, and shall not import a second copy.
    sys.path[:] = before


@cache
def wheel_of_whence() -> Path:
    """This package as it runs here, as a wheel; made once a process."""
    content: dict[str, bytes] = {}
    for portion in reversed(list(sys.modules["whence"].__path__)):
        content.update(_files(Path(portion), "whence"))  # as imports do: the first one wins
    try:
        known = distribution("whence")
    except PackageNotFoundError:
        return _wheel("whence", "0", content)
    folder = f"whence-{known.version}.dist-info"
    content[f"{folder}/METADATA"] = (known.read_text("METADATA") or "").encode()
    return _wheel("whence", known.version, content)


def modules_of(chains: Sequence[Chain]) -> tuple[list[ModuleType], set[str]]:
    """The modules that chains need on the workers, besides Whence and Python's own.

    Returns:
        The user's own, which are shipped; the names of installed packages, which must be there.
    """
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps(chains)  # type: ignore[no-untyped-call]
    seen = _Seen(io.BytesIO(packed))
    seen.load()
    own: dict[str, ModuleType] = {}
    installed: set[str] = set()
    for name in {module.partition(".")[0] for module in seen.modules}:
        module = sys.modules.get(name)
        if name in sys.stdlib_module_names or name in ("whence", "__main__") or module is None:
            continue
        if _is_installed(module):
            if name not in ("numpy", "pyarrow", "pyspark"):
                installed.add(name)
        else:
            own[name] = module
            own.update(_beside(module))
    return [own[name] for name in sorted(own)], installed


class _Seen(pickle.Unpickler):
    """Reads what was pickled a moment ago, to see which modules it names."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str, /) -> Any:
        self.modules.add(module)
        if name == "subimport":  # a function of a notebook that uses a module
            return self._imported
        if name == "import_function":
            return self._loaded
        return super().find_class(module, name)

    def _loaded(self, path: str) -> Function:
        self.modules.add(path.partition(":")[0])
        return import_function(path)

    def _imported(self, name: str) -> ModuleType:
        self.modules.add(name)
        return sys.modules[name]


def _place(module: ModuleType) -> Path | None:
    """Where a module or package is; ``None`` for what is no file."""
    if getattr(module, "__file__", None):
        path = Path(str(module.__file__)).resolve()
        return path.parent if path.name == "__init__.py" else path
    folders = list(getattr(module, "__path__", []))
    return Path(folders[0]).resolve() if folders else None


def _is_installed(module: ModuleType) -> bool:
    place = _place(module)
    if place is None:
        return True
    return any(
        place.is_relative_to(Path(sysconfig.get_path(name)).resolve())
        for name in ("purelib", "platlib", "stdlib")
    )


def _beside(module: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """Modules in the same folder that are in use too: one of them may import another."""
    place = _place(module)
    assert place is not None
    for name, other in list(sys.modules.items()):
        if "." not in name and name not in ("__main__", "whence"):
            there = _place(other)
            if there is not None and there.parent == place.parent and not _is_installed(other):
                yield name, other


def _own_wheel(modules: Iterable[ModuleType]) -> Path:
    content: dict[str, bytes] = {}
    for module in modules:
        place = _place(module)
        assert place is not None
        if place.is_dir():
            content.update(_files(place, module.__name__))
        else:
            content[place.name] = place.read_bytes()
    return _wheel("own", "0", content)


def _files(folder: Path, under: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{under}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _wheel(name: str, version: str, content: Mapping[str, bytes]) -> Path:
    """Write a wheel; its name says what is in it, so that equal ones are shipped once."""
    info = f"{name}-{version}.dist-info"
    made = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: whence\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
        **content,
    }
    listed = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in made.items()]
    made[f"{info}/RECORD"] = "\n".join([*listed, f"{info}/RECORD,,", ""]).encode()
    mark = hashlib.sha256(made[f"{info}/RECORD"]).hexdigest()[:12]
    file = _folder() / f"{name}-{version}-py3-none-any-{mark}.zip"
    if not file.exists():
        folders = {str(folder) for path in made for folder in PurePosixPath(path).parents}
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as wheel:
            # Python finds a namespace such as `whence` in a zip only if its folder is listed.
            for folder in sorted(folders - {"."}):
                wheel.mkdir(folder)
            for path, data in made.items():
                wheel.writestr(path, data)
    return file


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="whence-wheels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
