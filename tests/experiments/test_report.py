"""The page says what the rows say."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.figures import fit, rate
from experiments.plan import cells, declared
from experiments.report import page, pictures

SPEED = {"off": 4e6, "ends": 2e6, "steps": 1e6, "compact": 2e6, "rows": 5e5, "objects": 1e6}


def made() -> list[dict[str, Any]]:
    """A row for every cell that is declared, of a machine whose speed is known."""
    seed, experiments = declared()
    about = {"processor": "P", "cores": "2", "memory_gib": "8", "system": "Linux 6", "commit": "c"}
    versions = {"python": "3", "numpy": "2", "pyarrow": "20", "pyspark": "4"}
    rows = []
    for cell in cells(experiments, seed):
        row: dict[str, Any] = {"key": cell.key, "experiment": cell.experiment, **about, **versions}
        row |= {"length": 5000, **cell.parameters, "repetition": cell.repetition}
        if cell.measure == "sizes":
            names = ("smallest", "median", "p90", "p99", "largest", "mean")
            row |= {f"explained_by_{name}": 3.0 for name in names}
        else:
            row |= {
                "seconds": row["length"] / SPEED[row["tracking"]],
                "peak_bytes": 10**8,
                "association_bytes": row["length"] // 2,
            }
        rows.append(row)
    return rows


def test_the_page_tells_rates_and_slowdowns() -> None:
    text = page(made())
    assert "| window | 4,000,000 | 2,000,000 | 2.00x |" in text
    assert "| ltl | 9,453 | 2,128 | 4.44x | 2.00x |" in text
    assert "| window | 739 | 0.50 | 100 | 128,000,000,000 |" in text
    assert "| lifecycle | 1.000 ± 0.000 | 1.000 ± 0.000 |" in text
    assert "| window | 2.00x | 4.00x | 2.00x | 8.00x |" in text
    assert "| sepsis.csv | 5,000 | 2,000,000 | 2.00x | 0.50 |" in text


def test_the_page_and_its_pictures_are_the_same_every_time() -> None:
    assert page(made()) == page(made())
    assert pictures(made()) == pictures(made())


def test_a_page_without_real_logs_says_so() -> None:
    rows = [row for row in made() if row["experiment"] != "real"]
    assert "Not measured: the logs were not at hand." in page(rows)


def test_the_exponent_of_what_is_quadratic_is_two_with_its_error() -> None:
    noise = (0.9, 1.1, 1.0)
    rows = [{"length": 10**n, "seconds": 10.0 ** (2 * n) * x} for n in (5, 6, 7) for x in noise]
    found = fit(rows)
    assert found is not None
    assert found.exponent == pytest.approx(2, abs=found.error)
    assert 0 < found.error < 0.1


def test_the_rate_is_the_median_over_the_repetitions() -> None:
    assert rate([{"length": 10, "seconds": s} for s in (1.0, 2.0, 50.0)]) == 5.0
