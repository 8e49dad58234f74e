"""What ``whence demo`` does and says, section by section."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from whence.api import Answer, NotLoadedWarning, Result, run
from whence.engine.runners import RunOptions
from whence.engine.sources.generate import PaymentLog, payment_log, write_log
from whence.store import Connection

if TYPE_CHECKING:
    from whence.cli.output import Output
    from whence.store.questions import Impact, Why

__all__ = ["Story"]

Events = Sequence[Mapping[str, Any]]

QUESTIONS = {
    "lifecycle": "Does every payment follow its life cycle (checked, approved, then paid)?",
    "audit": "Is every payment above 5,000 followed by an audit?",
}


class Story:
    """The demo's work and words."""

    def __init__(
        self,
        folder: Path,
        chains: Mapping[str, Path],
        connection: Connection,
        events: int,
        *,
        own_server: bool,
    ) -> None:
        """Remember where everything is; nothing is done yet."""
        self.folder = folder
        self.chains = chains
        self.connection = connection
        self.events = events
        self.own_server = own_server

    def run(self, out: Output) -> None:
        """Do everything and print it, a section at a time."""
        log = payment_log(self.events)
        path = self.folder / "payments.csv"
        written = write_log(log, path)
        out.text(f"  {written:,} events of {log.cases:,} payments, in {path}", head="\n1 The log")
        events = log.table().to_pylist()
        runs = self._runs(out, path)
        answers = self._why(out, events, runs)
        never = runs["lifecycle"].never_matters().found
        certain, softer = never.certain[0], never.softer[0]
        out.text(
            f"  (life cycle)\n"
            f"  {softer.count:,} of {softer.length:,} events ({softer.share:.0%}) explain no "
            f"verdict;\n  {certain.count:,} ({certain.share:.0%}) could be changed, each and all "
            "of them, and no verdict would change: guaranteed.",
            head="\n4 What never mattered?",
        )
        impacts = self._impact(out, log, events, runs["lifecycle"])
        prov = answers["lifecycle"].save(self.folder / "why-lifecycle.json")
        rdf = answers["audit"].save(self.folder / "why-audit.trig")
        out.text(f"  the reasons as W3C PROV: {prov} (PROV-JSON), {rdf} (RDF)", head="\n6 Export")
        self._next(out, runs, answers)
        out.result(_data(written, runs, answers, never, impacts, (prov, rdf)))

    def _runs(self, out: Output, path: Path) -> dict[str, Result]:
        out.text("", head="\n2 Two questions, checked on Spark, stored in Neo4j")
        runs: dict[str, Result] = {}
        for name, chain in self.chains.items():
            options = RunOptions(closed=name == "audit")
            with out.progress() as advance, warnings.catch_warnings():
                warnings.simplefilter("ignore", NotLoadedWarning)  # it ends the demo, see below
                result = run(
                    chain,
                    path,
                    options=options,
                    record=self.folder / "record",
                    connection=self.connection,
                    progress=advance,
                )
            if result.not_loaded is not None:
                raise result.not_loaded
            runs[name] = result
            values = [value for _, value in result.outputs()]
            closing = " and one at the end of the log" if options.closed else ""
            out.text(
                f"  {QUESTIONS[name]}\n"
                f"    {len(values):,} verdicts, one after each event{closing}; the last is "
                f"{_word(values[-1])}, {values.count(False):,} are false. Run {result.id}"
            )
        return runs

    def _why(
        self, out: Output, events: Events, runs: Mapping[str, Result]
    ) -> dict[str, Answer[Why]]:
        out.text("  the few events, of all of them, that made it false", head="\n3 Why?")
        answers = {}
        for name, result in runs.items():
            why = result.explain(result.first(False))
            answers[name] = why
            output = why.found.output
            out.text(f"  {output.name}@{output.position} is false because")
            for each in why.found.events:
                out.text(f"    payments@{each.position:<6} {_shown(events[each.position])}")
        return answers

    def _impact(
        self, out: Output, log: PaymentLog, events: Events, result: Result
    ) -> dict[str, Answer[Impact]]:
        guilty = log.planted["unapproved"][0]
        faulty = {case for cases in log.planted.values() for case in cases}
        later = events[len(events) // 3 :]
        innocent = next(event["case"] for event in later if event["case"] not in faulty)
        out.text("  (life cycle)", head="\n5 And if a case was forged?")
        impacts = {}
        for case in (innocent, guilty):
            places = [n for n, event in enumerate(events) if event["case"] == case]
            answer = result.impact(places)
            impacts[case] = answer
            found = answer.found
            out.text(
                f"  {case} ({len(places)} events): {found.unaffected[0].count:,} verdicts hold, "
                f"guaranteed; {found.possibly[0].count:,} may be affected, "
                f"{found.explained[0].count:,} of them are explained by it"
            )
        return impacts

    def _next(
        self, out: Output, runs: Mapping[str, Result], answers: Mapping[str, Answer[Why]]
    ) -> None:
        run_id = runs["lifecycle"].id
        at = answers["lifecycle"].found.output.position
        lines = [f"  export WHENCE_RECORD={self.folder / 'record'}"]
        if self.own_server:
            lines[0] += " WHENCE_INSTANCE=demo"
        whence = typed()
        lines += [
            f"  {whence} explain {run_id} {at} --support",
            f"  {whence} impact {run_id} --inputs {at}",
            f"  {whence} export {run_id} -o run.nq.gz",
        ]
        if self.own_server:
            lines.append(f"  {whence} server stop --name demo      # when you have seen enough")
        out.text("\n" + "\n".join(lines), head="\n7 Go on")


def typed() -> str:
    """The command as one types it here: by its place, where the environment is not activated."""
    if which("whence") is not None:
        return "whence"
    program = Path(sys.executable).with_name("whence")
    here = Path.cwd()
    return str(program.relative_to(here) if program.is_relative_to(here) else program)


def _shown(event: Mapping[str, Any]) -> str:
    amount = "-" if event["amount"] is None else f"{event['amount']:,.2f}"
    return (
        f"{event['time']:%Y-%m-%dT%H:%M:%SZ}  {event['case']}  "
        f"{event['activity']:<9} {amount:>9}  {event['clerk'] or '-'}"
    )


def _word(value: object) -> str:
    return str(value).lower()


def _data(
    written: int,
    runs: Mapping[str, Result],
    answers: Mapping[str, Answer[Why]],
    never: Any,
    impacts: Mapping[str, Answer[Impact]],
    files: tuple[Path, ...],
) -> dict[str, object]:
    return {
        "events": written,
        "runs": {name: result.id for name, result in runs.items()},
        "why": {
            name: {
                "output": answer.found.output.position,
                "events": [event.position for event in answer.found.events],
            }
            for name, answer in answers.items()
        },
        "never_matters": {"certain": never.certain[0].count, "softer": never.softer[0].count},
        "impact": {
            case: {
                "unaffected": answer.found.unaffected[0].count,
                "possibly": answer.found.possibly[0].count,
                "explained": answer.found.explained[0].count,
            }
            for case, answer in impacts.items()
        },
        "prov": [str(path) for path in files],
    }
