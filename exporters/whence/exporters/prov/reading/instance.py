"""The statements of a document as columns of numbers: small, and quick to go through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from whence.exporters.prov.reading.kinds import KINDS, Kind
from whence.exporters.prov.reading.times import Times

__all__ = ["Document", "Instance", "Table"]

Origin = tuple[str, int]
"""A statement: the word of its table, and its row there."""


class Table:
    """All statements of one kind.

    Attributes:
        kind: the kind.
        ids: the identifier of each; 0 for none.
        slots: a column for each argument that is a name; 0 if it is absent.
        times: a column for each argument that is a time.
        origins: the statement that each row was made from; ``None``: it is that statement.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.ids: list[int] = []
        self.slots: tuple[list[int], ...] = tuple([] for _ in kind.slots)
        self.times: tuple[list[int], ...] = tuple([] for _ in kind.times)
        self.origins: list[Origin] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, id: int, slots: Sequence[int], times: Sequence[int]) -> None:
        self.ids.append(id)
        for column, value in zip(self.slots, slots, strict=True):
            column.append(value)
        for column, value in zip(self.times, times, strict=True):
            column.append(value)

    def origin(self, row: int) -> Origin:
        """The statement that a row was made from."""
        return (self.kind.word, row) if self.origins is None else self.origins[row]

    def copy(self) -> Table:
        """The same rows, which may be changed, and know where they come from."""
        made = Table(self.kind)
        made.ids = list(self.ids)
        made.slots = tuple(list(column) for column in self.slots)
        made.times = tuple(list(column) for column in self.times)
        word = self.kind.word
        made.origins = list(self.origins or ((word, row) for row in range(len(self.ids))))
        return made


class Instance:
    """The statements of one bundle, or of those outside bundles.

    Attributes:
        document: what it is a part of.
        name: of the bundle.
        texts: every name that occurs, by its number; 0 means none.
        tables: the statements, by the word of their kind.
        empty: the entities that are stated to be empty collections.
    """

    def __init__(self, document: Document, name: str | None = None) -> None:
        self.document, self.name = document, name
        self.texts = [""]
        self._known: dict[str, int] = {"": 0}
        self.tables: dict[str, Table] = {}
        self.empty: set[int] = set()
        self.faults: list[tuple[Origin, str]] = []

    def table(self, word: str) -> Table:
        """All statements of one kind; made when the first is added, for bundles may be many."""
        found = self.tables.get(word)
        return Table(KINDS[word]) if found is None else found

    def add(self, word: str, id: int, slots: Sequence[int] = (), times: Sequence[int] = ()) -> None:
        table = self.tables.get(word)
        if table is None:
            table = self.tables[word] = Table(KINDS[word])
        table.add(id, slots, times)

    def number(self, text: str) -> int:
        """The number of a name."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = len(self.texts)
            self.texts.append(text)
        return found

    def known(self, text: str) -> int:
        """The number of a name; 0 if it does not occur."""
        return self._known.get(text, 0)

    def time(self, text: str, word: str) -> int:
        """The number of a time; what is none becomes a fault of the statement that comes next."""
        number = self.document.times.number(text)
        if number is None:
            self.fault(word, f"{text[:60]!r} is no xsd:dateTime")
            return 0
        return number

    def fault(self, word: str, what: str) -> None:
        """Remember what is wrong with the statement of this kind that is added next."""
        self.faults.append(((word, len(self.table(word))), what))

    def shown(self, origin: Origin) -> str:
        """A statement in PROV-N."""
        word, row = origin
        table = self.tables[word]
        name, times = self.document.short, self.document.times.texts
        own = name(self.texts[table.ids[row]]) if table.ids[row] else None
        parts = [name(self.texts[c[row]]) if c[row] else "-" for c in table.slots]
        parts += [times[column[row]] or "-" for column in table.times]
        if table.kind.element:
            said = any(part != "-" for part in parts)
            return f"{word}({', '.join([own or '-', *(parts if said else [])])})"
        while len(parts) > table.kind.needed and parts[-1] == "-":
            parts.pop()
        return f"{word}({own + '; ' if own else ''}{', '.join(parts)})"


class Document:
    """All that was read from one file.

    Attributes:
        times: every time that occurs.
        prefixes: the namespaces that the file names, by IRI, for messages.
        top: the statements outside bundles.
        bundles: the others, by the bundle's name.
        unchecked: how many statements of each kind that PROV-DM does not have.
    """

    def __init__(self) -> None:
        self.times = Times()
        self.prefixes: dict[str, str] = {}
        self.top = Instance(self)
        self.bundles: dict[str, Instance] = {}
        self.unchecked: Counter[str] = Counter()

    def bundle(self, name: str) -> Instance:
        found = self.bundles.get(name)
        if found is None:
            found = self.bundles[name] = Instance(self, name)
        return found

    @property
    def instances(self) -> list[Instance]:
        """Those outside bundles, then bundle by bundle."""
        return [self.top, *self.bundles.values()]

    def __len__(self) -> int:
        return sum(len(table) for each in self.instances for table in each.tables.values())

    def short(self, iri: str) -> str:
        """A name as people read it."""
        best = max(
            (space for space in self.prefixes if space and iri.startswith(space)),
            key=len,
            default=None,
        )
        if best is None or len(best) == len(iri):
            return f"<{iri}>"
        return f"{self.prefixes[best]}:{iri[len(best) :]}"
