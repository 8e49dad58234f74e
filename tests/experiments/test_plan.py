"""Which cells there are, in which order, and what a wrong declaration says."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.plan import DECLARED, Cell, Experiment, PlanError, cells, declared, foretold

TWO = [
    Experiment("first", "?", "local", 2, {"query": ["a", "b"], "length": [1, 2]}),
    Experiment("second", "?", "spark", 1, {"length": [5]}),
]


def told(found: list[Cell]) -> list[tuple[object, ...]]:
    return [(c.experiment, *c.parameters.values(), c.repetition) for c in found]


def test_every_other_round_runs_backwards() -> None:
    assert told(list(cells(TWO, seed=1))) == [
        ("first", "a", 1, 0),
        ("first", "a", 2, 0),
        ("first", "b", 1, 0),
        ("first", "b", 2, 0),
        ("first", "b", 2, 1),
        ("first", "b", 1, 1),
        ("first", "a", 2, 1),
        ("first", "a", 1, 1),
        ("second", 5, 0),
    ]


def test_one_experiment_can_be_asked_for() -> None:
    assert told(list(cells(TWO, 1, frozenset({"second"})))) == [("second", 5, 0)]


def test_an_unknown_experiment_is_named() -> None:
    with pytest.raises(PlanError, match="expected one of first, second; got 'third'; try --list"):
        list(cells(TWO, 1, frozenset({"third"})))


def test_keys_tell_all_declared_cells_apart() -> None:
    for quick in (False, True):
        seed, experiments = declared(quick=quick)
        keys = [cell.key for cell in cells(experiments, seed)]
        assert len(keys) > 10
        assert len(keys) == len(set(keys))


def test_quick_makes_less_of_everything() -> None:
    sizes = [len(list(cells(declared(quick=q)[1], 0))) for q in (True, False)]
    assert sizes[0] < sizes[1] / 3


@pytest.mark.parametrize(("quick", "minutes"), [(False, 55), (True, 3)])
def test_all_cells_are_foretold_to_fit_in_their_time(quick: bool, minutes: float) -> None:
    seed, experiments = declared(quick=quick)
    assert 0 < foretold(cells(experiments, seed)) / 60 < minutes


def test_a_cell_is_foretold_by_its_length() -> None:
    experiment = Experiment(
        "one", "?", "local", 1, {"length": [0, 2_000_000]}, {"each": 2.0, "million": 3.0}
    )
    assert [cell.foretold for cell in cells([experiment], 1)] == [2.0, 8.0]


def test_every_measure_that_is_declared_is_a_program() -> None:
    for experiment in declared()[1]:
        text = (DECLARED.parent / "measures" / f"{experiment.measure}.py").read_text()
        assert text.endswith('if __name__ == "__main__":\n    answer(measure)\n')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("quick: {lenght: [1]}", "expected quick to name what varies; got 'lenght'; try length"),
        ("repeat: 5", "got 'repeat'"),
    ],
)
def test_a_typo_in_the_declaration_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "declared.yaml"
    file.write_text(
        "seed: 1\nexperiments:\n  one:\n    question: how?\n    measure: local\n"
        f"    repetitions: 1\n    vary: {{length: [1, 2]}}\n    {line}\n"
    )
    with pytest.raises(PlanError, match=message):
        declared(file, quick=True)
