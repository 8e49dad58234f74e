"""The PROV-DM definition of each kind of statement: its arguments, and their types."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ACTIVITY",
    "AGENT",
    "COLLECTION",
    "ELEMENTS",
    "EMPTY",
    "ENTITY",
    "KINDS",
    "RESERVED",
    "Kind",
]

ENTITY, ACTIVITY, AGENT, COLLECTION, EMPTY = 1, 2, 4, 8, 16
"""The types that constraints refer to, as bits."""


@dataclass(frozen=True)
class Kind:
    """One kind of statement.

    Attributes:
        word: what PROV-N and PROV-JSON call it.
        slots: its arguments that are names, in the order of PROV-N, as PROV-JSON calls them.
        needed: how many of the first arguments must be there.
        types: the type that each argument thereby has (constraint 50).
        times: its arguments that are times; in PROV-N they come behind the names.
        named: whether a statement of this kind has an identifier of its own.
        fixed: arguments of which "not said" is a statement too, and stands for nothing unknown.
    """

    word: str
    slots: tuple[str, ...] = ()
    needed: int = 0
    types: tuple[int, ...] = ()
    times: tuple[str, ...] = ()
    named: bool = True
    fixed: tuple[int, ...] = ()

    @property
    def element(self) -> bool:
        """Whether it is an entity, activity or agent, and no relation."""
        return not self.slots


KINDS = {
    kind.word: kind
    for kind in (
        Kind("entity", types=(ENTITY,)),
        Kind("activity", types=(ACTIVITY,), times=("startTime", "endTime")),
        Kind("agent", types=(AGENT,)),
        Kind("wasGeneratedBy", ("entity", "activity"), 1, (ENTITY, ACTIVITY), ("time",)),
        Kind("used", ("activity", "entity"), 1, (ACTIVITY, ENTITY), ("time",)),
        Kind("wasInformedBy", ("informed", "informant"), 2, (ACTIVITY, ACTIVITY)),
        Kind(
            "wasStartedBy", ("activity", "trigger", "starter"), 1, (ACTIVITY, ENTITY, ACTIVITY),
            ("time",),
        ),
        Kind(
            "wasEndedBy", ("activity", "trigger", "ender"), 1, (ACTIVITY, ENTITY, ACTIVITY),
            ("time",),
        ),
        Kind("wasInvalidatedBy", ("entity", "activity"), 1, (ENTITY, ACTIVITY), ("time",)),
        Kind("wasAttributedTo", ("entity", "agent"), 2, (ENTITY, AGENT)),
        Kind(
            "wasAssociatedWith", ("activity", "agent", "plan"), 1, (ACTIVITY, AGENT, ENTITY),
            fixed=(2,),
        ),
        Kind(
            "actedOnBehalfOf", ("delegate", "responsible", "activity"), 1,
            (AGENT, AGENT, ACTIVITY), fixed=(2,),
        ),
        Kind(
            "wasDerivedFrom",
            ("generatedEntity", "usedEntity", "activity", "generation", "usage"), 2,
            (ENTITY, ENTITY, ACTIVITY, 0, 0), fixed=(2,),
        ),
        Kind("wasInfluencedBy", ("influencee", "influencer"), 2, (0, 0)),
        Kind(
            "specializationOf", ("specificEntity", "generalEntity"), 2, (ENTITY, ENTITY),
            named=False,
        ),
        Kind("alternateOf", ("alternate1", "alternate2"), 2, (ENTITY, ENTITY), named=False),
        Kind("hadMember", ("collection", "entity"), 2, (ENTITY | COLLECTION, ENTITY), named=False),
        Kind(
            "mentionOf", ("specificEntity", "generalEntity", "bundle"), 3,
            (ENTITY, ENTITY, ENTITY), named=False,
        ),
    )
}  # fmt: skip
"""Every kind, elements first, then relations that have an identifier, then those that have none."""

ELEMENTS = ("entity", "activity", "agent")

RESERVED = frozenset(
    word for kind in KINDS.values() for word in (kind.word, *kind.slots, *kind.times)
)
"""Words of PROV that name a statement or an argument: never an attribute beside the arguments."""
