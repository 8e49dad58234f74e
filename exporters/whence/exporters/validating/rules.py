"""The rules that a document is checked by: those of W3C PROV-CONSTRAINTS, and a few beyond it."""

from __future__ import annotations

__all__ = ["BEYOND", "CONSTRAINTS", "RULES"]

CONSTRAINTS = {
    "C22": ("key-object", "statements about one entity, activity or agent agree with each other"),
    "C23": ("key-properties", "statements with one identifier agree in every argument"),
    "C24": ("unique-generation", "an activity generates an entity in one generation"),
    "C25": ("unique-invalidation", "an activity invalidates an entity in one invalidation"),
    "C26": ("unique-wasStartedBy", "an activity starts another in one start"),
    "C27": ("unique-wasEndedBy", "an activity ends another in one end"),
    "C28": ("unique-startTime", "an activity's start time is the time of each of its starts"),
    "C29": ("unique-endTime", "an activity's end time is the time of each of its ends"),
    "C30": ("start-precedes-end", "an activity starts before it ends"),
    "C31": ("start-start-ordering", "all starts of an activity are at the same time"),
    "C32": ("end-end-ordering", "all ends of an activity are at the same time"),
    "C33": ("usage-within-activity", "an activity uses something between its start and its end"),
    "C34": ("generation-within-activity", "an activity generates between its start and its end"),
    "C35": ("wasInformedBy-ordering", "who informs has started before the informed ends"),
    "C36": ("generation-precedes-invalidation", "an entity is generated before it is invalidated"),
    "C37": ("generation-precedes-usage", "an entity is generated before it is used"),
    "C38": ("usage-precedes-invalidation", "an entity is used before it is invalidated"),
    "C39": ("generation-generation-ordering", "all generations of an entity are at the same time"),
    "C40": (
        "invalidation-invalidation-ordering",
        "all invalidations of an entity are at the same time",
    ),
    "C41": (
        "derivation-usage-generation-ordering",
        "a derivation uses the one entity before it generates the other",
    ),
    "C42": (
        "derivation-generation-generation-ordering",
        "an entity is generated strictly after those it was derived from: no cycle",
    ),
    "C43": ("wasStartedBy-ordering", "what starts an activity exists at that time"),
    "C44": ("wasEndedBy-ordering", "what ends an activity exists at that time"),
    "C45": ("specialization-generation-ordering", "the general is generated before the specific"),
    "C46": (
        "specialization-invalidation-ordering",
        "the specific is invalidated before the general",
    ),
    "C47": ("wasAssociatedWith-ordering", "an agent exists while it takes part in an activity"),
    "C48": ("wasAttributedTo-ordering", "an agent exists before what is attributed to it"),
    "C49": ("actedOnBehalfOf-ordering", "the responsible agent exists before the delegate ends"),
    "C50": ("typing", "arguments have the type that their statement needs"),
    "C51": (
        "impossible-unspecified-derivation-generation-use",
        "a derivation without an activity names no generation and no usage",
    ),
    "C52": ("impossible-specialization-reflexive", "nothing is a specialization of itself"),
    "C53": ("impossible-property-overlap", "two kinds of relation never share an identifier"),
    "C54": (
        "impossible-object-property-overlap",
        "a relation never shares its identifier with an entity, activity or agent",
    ),
    "C55": ("entity-activity-disjoint", "nothing is both an entity and an activity"),
    "C56": ("membership-empty-collection", "an empty collection has no member"),
}
"""The constraints of the Recommendation, by number: their name there, and what they ask for."""

BEYOND = {
    "syntax": "PROV-DM: arguments that must be there are there, times are times",
    "mention": "PROV-Links: an entity is a mention of one entity in one bundle",
    "usage": "an activity uses an entity in one usage",
    "delegation": "of two statements about one delegation, both or neither name the activity",
    "cycle": "no derivation returns to its start, also across bundles and undeclared entities",
    "clock": "clock times do not contradict the order of events, also across bundles",
}
"""What is checked beside them; of these only ``syntax`` belongs to the standard."""

RULES = {**{number: text for number, (_, text) in CONSTRAINTS.items()}, **BEYOND}
