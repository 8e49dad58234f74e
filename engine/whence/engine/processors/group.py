"""Group: a chain under one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.processor import MachineFactory, Processor, Site
from whence.engine.language.traits import Traits

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain

__all__ = ["Group"]


@dataclass(frozen=True)
class Group(Processor):
    """A chain as if it were written in the Group's place; inner ids are ``group/inner``.

    >>> from whence.engine.processors.cumulate import Cumulate
    >>> from whence.engine.processors.trim import Trim
    >>> from whence.engine.testing import run
    >>> run(Group("late-sum", Trim("skip", n=1) | Cumulate("sum", "add")), [1, 2, 3])
    [(2, {1}), (5, {1, 2})]
    """

    chain: Chain

    tag: ClassVar[str] = "group"
    inlined: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Accept a single processor as a chain of one."""
        super().__post_init__()
        from whence.engine.language.chain import Chain

        object.__setattr__(self, "chain", Chain.of(self.chain))

    @property
    def input_count(self) -> int | None:
        return len(self.chain.inputs)

    @property
    def output_count(self) -> int:
        return len(self.chain.outputs)

    @property
    def closes(self) -> bool:  # type: ignore[override]
        """Closing goes through the inner chain."""
        return self.chain.closes

    def pipe_traits(self, inputs: tuple[Traits, ...], closed: bool) -> tuple[Traits, ...]:
        return self.chain.output_traits(inputs, closed)

    @property
    def holds(self) -> tuple[Chain, ...]:
        return (self.chain,)

    @property
    def delay(self) -> float:
        """As long as what it holds."""
        return max(self.holds[0].delays().values())

    def machine(self, site: Site) -> MachineFactory:
        """A Group has no machine: the plan writes its chain in its place."""
        msg = f"Group {self.id!r} is opened by the plan"
        raise AssertionError(msg)

    def parameters(self) -> Any:
        return self.chain.tree()

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Group:
        return cls(id, read["chain"](value))
