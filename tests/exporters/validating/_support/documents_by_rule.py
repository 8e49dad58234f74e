"""Hand-written cases: for every rule documents that keep it and documents that break it."""

from __future__ import annotations

from pathlib import Path

from whence.exporters.validating import Report, validate

__all__ = ["CASES", "document", "judged"]

NINE, TEN, ELEVEN, NOON = (f"2026-03-01T{hour}:00:00Z" for hour in ("09", "10", "11", "12"))


def document(body: str) -> str:
    return f"document\nprefix ex <http://example.org/>\n{body}\nendDocument\n"


def judged(folder: Path, body: str, *, beyond: bool = True) -> Report:
    """The verdict on a PROV-N document with this body."""
    file = folder / "case.provn"
    file.write_text(document(body), encoding="utf-8")
    return validate(file, beyond=beyond)


CASES: dict[str, tuple[list[str], list[str]]] = {
    "C22": (
        [
            f"activity(ex:a, {TEN}, -) activity(ex:a, -, {NOON})",
            "activity(ex:a, 2026-03-01T12:00:00Z, -) activity(ex:a, 2026-03-01T13:00:00+01:00, -)",
        ],
        [f"activity(ex:a, {TEN}, -) activity(ex:a, {NOON}, -)"],
    ),
    "C23": (
        [
            "wasGeneratedBy(ex:g; ex:e, ex:a, -) wasGeneratedBy(ex:g; ex:e, -, -)",
            "wasInfluencedBy(ex:g; ex:e, ex:a) wasGeneratedBy(ex:g; ex:e, ex:a, -)",
            "used(ex:u; ex:a, ex:e1, -) wasGeneratedBy(ex:g; ex:e2, ex:a, -)"
            " wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, ex:g, ex:u)",
        ],
        [
            "wasGeneratedBy(ex:g; ex:e, ex:a, -) wasGeneratedBy(ex:g; ex:other, ex:a, -)",
            "wasAssociatedWith(ex:s; ex:a, ex:ag, ex:plan) wasAssociatedWith(ex:s; ex:a, ex:ag, -)",
            "wasInfluencedBy(ex:g; ex:e, ex:b) wasGeneratedBy(ex:g; ex:e, ex:a, -)",
            "wasDerivedFrom(ex:x; ex:e2, ex:e1, -, -, -) wasInformedBy(ex:x; ex:a2, ex:a1)",
            "used(ex:u; ex:a, ex:other, -) wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, ex:g, ex:u)",
            "wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, -, -) wasDerivedFrom(ex:d; ex:e2, ex:e1)",
            "wasDerivedFrom(ex:x; ex:e3, ex:e2) wasDerivedFrom(ex:e1, ex:e2, ex:a, ex:x, ex:u)",
        ],
    ),
    "C24": (
        ["wasGeneratedBy(ex:g1; ex:e, ex:a, -) wasGeneratedBy(ex:g2; ex:e, ex:b, -)"],
        [
            "wasGeneratedBy(ex:g1; ex:e, ex:a, -) wasGeneratedBy(ex:g2; ex:e, ex:a, -)",
            f"wasGeneratedBy(ex:e, ex:a, {TEN}) wasGeneratedBy(ex:e, ex:a, {NOON})",
            "wasGeneratedBy(ex:g1; ex:e2, ex:a, -)"
            " wasDerivedFrom(ex:d; ex:e2, ex:e1, ex:a, ex:g2, ex:u)",
            "wasGeneratedBy(ex:g1; ex:e, -, -) wasGeneratedBy(ex:g1; ex:e, ex:a, -)"
            " wasGeneratedBy(ex:g2; ex:e, ex:a, -)",
        ],
    ),
    "C25": (
        ["wasInvalidatedBy(ex:i1; ex:e, ex:a, -) wasInvalidatedBy(ex:e, ex:a, -)"],
        ["wasInvalidatedBy(ex:i1; ex:e, ex:a, -) wasInvalidatedBy(ex:i2; ex:e, ex:a, -)"],
    ),
    "C26": (
        ["wasStartedBy(ex:s1; ex:a, ex:e, ex:b, -) wasStartedBy(ex:s2; ex:a, ex:e, ex:c, -)"],
        [
            "wasStartedBy(ex:s1; ex:a, ex:e, ex:b, -) wasStartedBy(ex:s2; ex:a, ex:e, ex:b, -)",
            "wasStartedBy(ex:a, ex:e, ex:b, -) wasStartedBy(ex:a, ex:f, ex:b, -)",
        ],
    ),
    "C27": (
        ["wasEndedBy(ex:s1; ex:a, ex:e, ex:b, -) wasEndedBy(ex:a, -, ex:b, -)"],
        ["wasEndedBy(ex:s1; ex:a, ex:e, ex:b, -) wasEndedBy(ex:s2; ex:a, ex:e, ex:b, -)"],
    ),
    "C28": (
        [f"activity(ex:a, {TEN}, -) wasStartedBy(ex:a, -, -, {TEN})"],
        [
            f"activity(ex:a, {TEN}, -) wasStartedBy(ex:a, -, -, {NOON})",
            f"activity(ex:a) wasStartedBy(ex:a, -, -, {TEN}) wasStartedBy(ex:a, -, -, {NOON})",
        ],
    ),
    "C29": (
        [f"activity(ex:a, -, {TEN}) wasEndedBy(ex:a, -, -, {TEN})"],
        [f"activity(ex:a, -, {TEN}) wasEndedBy(ex:a, -, -, {NOON})"],
    ),
    "C30": ([f"activity(ex:a, {TEN}, {NOON})"], [f"activity(ex:a, {NOON}, {TEN})"]),
    "C31": (
        [f"wasStartedBy(ex:a, ex:e, -, {TEN}) wasStartedBy(ex:a, ex:f, -, {TEN})"],
        [f"wasStartedBy(ex:a, ex:e, -, {TEN}) wasStartedBy(ex:a, ex:f, -, {NOON})"],
    ),
    "C32": (
        [f"wasEndedBy(ex:a, ex:e, -, {TEN}) wasEndedBy(ex:a, ex:f, -, {TEN})"],
        [f"wasEndedBy(ex:a, ex:e, -, {TEN}) wasEndedBy(ex:a, ex:f, -, {NOON})"],
    ),
    "C33": (
        [f"activity(ex:a, {TEN}, {NOON}) used(ex:a, ex:e, {ELEVEN})"],
        [
            f"activity(ex:a, {TEN}, -) used(ex:a, ex:e, {NINE})",
            f"activity(ex:a, -, {TEN}) used(ex:a, ex:e, {ELEVEN})",
        ],
    ),
    "C34": (
        [f"activity(ex:a, {TEN}, {NOON}) wasGeneratedBy(ex:e, ex:a, {ELEVEN})"],
        [
            f"activity(ex:a, {TEN}, -) wasGeneratedBy(ex:e, ex:a, {NINE})",
            "activity(ex:a) entity(ex:e) entity(ex:f) wasGeneratedBy(ex:e, ex:a, -)"
            " wasDerivedFrom(ex:f, ex:e) wasStartedBy(ex:a, ex:f, -, -)",
        ],
    ),
    "C35": (
        [f"activity(ex:a, {TEN}, -) activity(ex:b, -, {NOON}) wasInformedBy(ex:b, ex:a)"],
        [f"activity(ex:a, {NOON}, -) activity(ex:b, -, {TEN}) wasInformedBy(ex:b, ex:a)"],
    ),
    "C36": (
        [f"wasGeneratedBy(ex:e, -, {TEN}) wasInvalidatedBy(ex:e, -, {NOON})"],
        [f"wasGeneratedBy(ex:e, -, {NOON}) wasInvalidatedBy(ex:e, -, {TEN})"],
    ),
    "C37": (
        [f"wasGeneratedBy(ex:e, -, {TEN}) used(ex:a, ex:e, {NOON})"],
        [f"wasGeneratedBy(ex:e, -, {NOON}) used(ex:a, ex:e, {TEN})"],
    ),
    "C38": (
        [f"used(ex:a, ex:e, {TEN}) wasInvalidatedBy(ex:e, -, {NOON})"],
        [f"used(ex:a, ex:e, {NOON}) wasInvalidatedBy(ex:e, -, {TEN})"],
    ),
    "C39": (
        [f"wasGeneratedBy(ex:e, ex:a, {TEN}) wasGeneratedBy(ex:e, ex:b, {TEN})"],
        [f"wasGeneratedBy(ex:e, ex:a, {TEN}) wasGeneratedBy(ex:e, ex:b, {NOON})"],
    ),
    "C40": (
        [f"wasInvalidatedBy(ex:e, ex:a, {TEN}) wasInvalidatedBy(ex:e, ex:b, {TEN})"],
        [f"wasInvalidatedBy(ex:e, ex:a, {TEN}) wasInvalidatedBy(ex:e, ex:b, {NOON})"],
    ),
    "C41": (
        [
            f"used(ex:u; ex:a, ex:e1, {TEN}) wasGeneratedBy(ex:g; ex:e2, ex:a, {NOON})"
            " wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)"
        ],
        [
            f"used(ex:u; ex:a, ex:e1, {NOON}) wasGeneratedBy(ex:g; ex:e2, ex:a, {TEN})"
            " wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:u)"
        ],
    ),
    "C42": (
        [
            "entity(ex:e1) entity(ex:e2) entity(ex:e3) wasDerivedFrom(ex:e3, ex:e2)"
            " wasDerivedFrom(ex:e3, ex:e1) wasDerivedFrom(ex:e2, ex:e1)",
            f"entity(ex:e) entity(ex:f) wasGeneratedBy(ex:e, -, {TEN})"
            f" wasGeneratedBy(ex:f, -, {TEN}) wasDerivedFrom(ex:f, ex:e)",
        ],
        [
            "entity(ex:e) wasDerivedFrom(ex:e, ex:e)",
            "entity(ex:e1) entity(ex:e2) wasDerivedFrom(ex:e1, ex:e2) wasDerivedFrom(ex:e2, ex:e1)",
            "entity(ex:e1) entity(ex:e2) entity(ex:e3) wasDerivedFrom(ex:e1, ex:e2)"
            " wasDerivedFrom(ex:e2, ex:e3) wasDerivedFrom(ex:e3, ex:e1)",
            f"entity(ex:e) entity(ex:f) wasGeneratedBy(ex:e, -, {NOON})"
            f" wasGeneratedBy(ex:f, -, {TEN}) wasDerivedFrom(ex:f, ex:e)",
        ],
    ),
    "C43": (
        [f"wasGeneratedBy(ex:e, -, {TEN}) wasStartedBy(ex:a, ex:e, -, {NOON})"],
        [
            f"wasGeneratedBy(ex:e, -, {NOON}) wasStartedBy(ex:a, ex:e, -, {TEN})",
            f"wasStartedBy(ex:a, ex:e, -, {NOON}) wasInvalidatedBy(ex:e, -, {TEN})",
            f"activity(ex:b, {NOON}, -) wasStartedBy(ex:a, -, ex:b, {TEN})",
        ],
    ),
    "C44": (
        [f"wasGeneratedBy(ex:e, -, {TEN}) wasEndedBy(ex:a, ex:e, -, {NOON})"],
        [
            f"wasGeneratedBy(ex:e, -, {NOON}) wasEndedBy(ex:a, ex:e, -, {TEN})",
            f"wasEndedBy(ex:a, ex:e, -, {NOON}) wasInvalidatedBy(ex:e, -, {TEN})",
        ],
    ),
    "C45": (
        ["entity(ex:e) entity(ex:f) specializationOf(ex:f, ex:e) wasDerivedFrom(ex:f, ex:e)"],
        [
            "entity(ex:e) entity(ex:f) specializationOf(ex:f, ex:e) wasDerivedFrom(ex:e, ex:f)",
            "entity(ex:e) specializationOf(ex:f, ex:e) specializationOf(ex:g, ex:f)"
            " wasDerivedFrom(ex:e, ex:g)",
        ],
    ),
    "C46": (
        [
            f"specializationOf(ex:f, ex:e) wasInvalidatedBy(ex:f, -, {TEN})"
            f" wasInvalidatedBy(ex:e, -, {NOON})"
        ],
        [
            f"specializationOf(ex:f, ex:e) wasInvalidatedBy(ex:f, -, {NOON})"
            f" wasInvalidatedBy(ex:e, -, {TEN})",
            f"entity(ex:e) specializationOf(ex:f, ex:e) used(ex:a, ex:f, {NOON})"
            f" wasInvalidatedBy(ex:e, -, {TEN})",
        ],
    ),
    "C47": (
        [
            f"activity(ex:a, {TEN}, {NOON}) wasAssociatedWith(ex:a, ex:ag, -)"
            f" wasGeneratedBy(ex:ag, -, {NINE}) wasInvalidatedBy(ex:ag, -, {ELEVEN})"
        ],
        [
            f"activity(ex:a, {TEN}, -) wasAssociatedWith(ex:a, ex:ag, -)"
            f" wasInvalidatedBy(ex:ag, -, {NINE})",
            f"activity(ex:a, -, {TEN}) wasAssociatedWith(ex:a, ex:ag, -)"
            f" wasGeneratedBy(ex:ag, -, {NOON})",
            f"activity(ex:a, {TEN}, -) wasAssociatedWith(ex:a, ex:ag, -)"
            f" activity(ex:ag, -, {NINE})",
            f"activity(ex:a, -, {TEN}) wasAssociatedWith(ex:a, ex:ag, -)"
            f" activity(ex:ag, {NOON}, -)",
            f"activity(ex:a, {TEN}, -) actedOnBehalfOf(ex:ag, ex:boss, ex:a)"
            f" wasInvalidatedBy(ex:boss, -, {NINE})",
        ],
    ),
    "C48": (
        [
            f"wasAttributedTo(ex:e, ex:ag) wasGeneratedBy(ex:ag, -, {TEN})"
            f" wasGeneratedBy(ex:e, -, {NOON})"
        ],
        [
            f"wasAttributedTo(ex:e, ex:ag) wasGeneratedBy(ex:ag, -, {NOON})"
            f" wasGeneratedBy(ex:e, -, {TEN})",
            f"wasAttributedTo(ex:e, ex:ag) activity(ex:ag, {NOON}, -)"
            f" wasGeneratedBy(ex:e, -, {TEN})",
            "entity(ex:e) entity(ex:ag) wasAttributedTo(ex:e, ex:ag) wasDerivedFrom(ex:ag, ex:e)",
        ],
    ),
    "C49": (
        [
            f"actedOnBehalfOf(ex:ag, ex:boss) wasGeneratedBy(ex:boss, -, {TEN})"
            f" wasInvalidatedBy(ex:ag, -, {NOON})"
        ],
        [
            f"actedOnBehalfOf(ex:ag, ex:boss) wasGeneratedBy(ex:boss, -, {NOON})"
            f" wasInvalidatedBy(ex:ag, -, {TEN})",
            f"actedOnBehalfOf(ex:ag, ex:boss) activity(ex:boss, {NOON}, -)"
            f" activity(ex:ag, -, {TEN})",
        ],
    ),
    "C50": (
        ["entity(ex:ag) wasAssociatedWith(ex:a, ex:ag, -)"],
        [
            "entity(ex:e) wasGeneratedBy(ex:f, ex:e, -)",
            "used(ex:x, ex:e, -) wasInvalidatedBy(ex:x, ex:a, -)",
            "activity(ex:a) hadMember(ex:c, ex:a)",
            "wasInformedBy(ex:a, ex:b) alternateOf(ex:e, ex:b)",
        ],
    ),
    "C51": (
        [
            "wasDerivedFrom(ex:e2, ex:e1, -, -, -)",
            "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, -)",
        ],
        [
            "wasDerivedFrom(ex:e2, ex:e1, -, ex:g, -)",
            "wasDerivedFrom(ex:e2, ex:e1, -, -, ex:u)",
            "wasDerivedFrom(ex:e2, ex:e1, -, ex:g, ex:u)",
        ],
    ),
    "C52": (
        ["specializationOf(ex:f, ex:e) specializationOf(ex:g, ex:f) specializationOf(ex:g, ex:e)"],
        [
            "specializationOf(ex:e, ex:e)",
            "specializationOf(ex:f, ex:e) specializationOf(ex:g, ex:f)"
            " specializationOf(ex:e, ex:g)",
            "mentionOf(ex:f, ex:e, ex:b) specializationOf(ex:e, ex:f)",
        ],
    ),
    "C53": (
        ["wasInfluencedBy(ex:x; ex:a, ex:e) used(ex:x; ex:a, ex:e, -)"],
        [
            "wasGeneratedBy(ex:x; ex:e, ex:a, -) used(ex:x; ex:a, ex:f, -)",
            "wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:x, ex:x)",
        ],
    ),
    "C54": (
        ["entity(ex:e) wasGeneratedBy(ex:g; ex:e, ex:a, -)"],
        [
            "entity(ex:g) wasGeneratedBy(ex:g; ex:e, ex:a, -)",
            "agent(ex:x) wasInfluencedBy(ex:x; ex:e, ex:f)",
            "activity(ex:x) wasDerivedFrom(ex:e2, ex:e1, ex:a, ex:g, ex:x)",
            "entity(ex:e) specializationOf(ex:x, ex:e) wasEndedBy(ex:x; ex:a, ex:f, ex:b, -)",
        ],
    ),
    "C55": (
        ["entity(ex:x) agent(ex:x)", "activity(ex:x) agent(ex:x)"],
        ["entity(ex:x) activity(ex:x)"],
    ),
    "C56": (
        [
            "entity(ex:c, [prov:type='prov:Collection']) hadMember(ex:c, ex:e)",
            "entity(ex:c, [prov:type=\"prov:EmptyCollection\"]) hadMember(ex:c, ex:e)",
        ],
        [
            "entity(ex:c, [prov:type='prov:EmptyCollection']) hadMember(ex:c, ex:e)",
            "entity(ex:c, [prov:type='prov:EmptyCollection']) specializationOf(ex:d, ex:c)"
            " hadMember(ex:d, ex:e)",
        ],
    ),
    "syntax": (
        ["wasGeneratedBy(ex:e, -, -)", "wasAssociatedWith(ex:a, -, -)"],
        [
            "wasAttributedTo(ex:e, -)",
            "wasGeneratedBy(-, ex:a, -)",
            "wasInformedBy(ex:a, -)",
            "hadMember(-, ex:e)",
            "wasDerivedFrom(ex:e, -)",
            "mentionOf(ex:e, ex:f, -)",
            "activity(ex:a, yesterday, -)",
            "wasGeneratedBy(ex:e, ex:a, 2026-02-30T00:00:00Z)",
            'entity(ex:e, [prov:activity="ex:a"])',
        ],
    ),
    "mention": (
        ["mentionOf(ex:e, ex:f, ex:b) mentionOf(ex:e, ex:f, ex:b)"],
        ["mentionOf(ex:e, ex:f, ex:b) mentionOf(ex:e, ex:f, ex:c)"],
    ),
    "usage": (
        ["used(ex:u1; ex:a, ex:e, -) used(ex:a, ex:e, -) used(ex:u2; ex:a, ex:f, -)"],
        [
            "used(ex:u1; ex:a, ex:e, -) used(ex:u2; ex:a, ex:e, -)",
            f"used(ex:a, ex:e, {TEN}) used(ex:a, ex:e, {NOON})",
        ],
    ),
    "delegation": (
        ["actedOnBehalfOf(ex:d; ex:x, ex:y, ex:a) actedOnBehalfOf(ex:d; ex:x, ex:y, ex:a)"],
        ["actedOnBehalfOf(ex:d; ex:x, ex:y, ex:a) actedOnBehalfOf(ex:d; ex:x, ex:y, -)"],
    ),
    "cycle": (
        [
            "bundle ex:b1 entity(ex:e) entity(ex:f) wasDerivedFrom(ex:f, ex:e) endBundle"
            " bundle ex:b2 entity(ex:f) entity(ex:g) wasDerivedFrom(ex:g, ex:f) endBundle"
        ],
        [
            "wasDerivedFrom(ex:e, ex:f) wasDerivedFrom(ex:f, ex:e)",
            "bundle ex:b1 entity(ex:e) entity(ex:f) wasDerivedFrom(ex:f, ex:e) endBundle"
            " bundle ex:b2 entity(ex:e) entity(ex:f) wasDerivedFrom(ex:e, ex:f) endBundle",
            "entity(ex:e) entity(ex:f) wasDerivedFrom(ex:f, ex:e)"
            " bundle ex:b entity(ex:e) entity(ex:f) specializationOf(ex:e, ex:f) endBundle",
        ],
    ),
    "clock": (
        [
            # Without a zone, a time may be up to 14 hours away from what it says.
            f"wasGeneratedBy(ex:e, -, {NOON}) used(ex:a, ex:e, 2026-03-01T11:00:00)",
        ],
        [
            f"wasGeneratedBy(ex:e, -, {NOON}) used(ex:a, ex:e, 2026-02-27T11:00:00)",
            f"entity(ex:e) entity(ex:f) entity(ex:g) wasGeneratedBy(ex:e, -, {NOON})"
            f" wasDerivedFrom(ex:f, ex:e) wasDerivedFrom(ex:g, ex:f)"
            f" wasGeneratedBy(ex:g, -, {TEN})",
            f"bundle ex:b1 wasInvalidatedBy(ex:e, ex:erasure, {TEN}) endBundle"
            f" bundle ex:b2 used(ex:a, ex:e, {NOON}) endBundle",
        ],
    ),
}  # fmt: skip
"""Of each rule: bodies of PROV-N that keep it, and bodies that break it."""
