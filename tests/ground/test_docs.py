"""What the pages promise is there: links, targets, commands, and examples that run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bench import Bench
from tests.ground.surroundings import ROOT, run, tracked

PAGES = [page for page in tracked("*.md") if page.suffix == ".md"]


def text_of(page: Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", text_of(page))
    inside = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in inside if not (ROOT / page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    known = re.findall(r"^([a-z][a-z-]*):", text_of(Path("Makefile")), re.MULTILINE)
    in_code = re.findall(r"`([^`\n]+)`", text_of(page))
    in_code += [line for block in code_blocks(page, "sh") for line in block.splitlines()]
    named = [
        match for code in in_code for match in re.findall(r"^(?:\w+=\S+ )?make ([a-z-]+)", code)
    ]
    assert [name for name in named if name not in known] == []


def code_blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def test_every_page_can_be_reached_from_the_start_page() -> None:
    reached, waiting = set(), [Path("docs/index.md")]
    while waiting:
        page = waiting.pop()
        if page in reached or page not in PAGES:
            continue
        reached.add(page)
        for link in re.findall(r"\]\(([^)#\s:]+)", text_of(page)):
            waiting.append(Path(os.path.normpath(page.parent / link)))
    assert {page for page in PAGES if page.parts[0] == "docs"} - reached == set()


def test_the_readme_names_the_command_for_the_tests() -> None:
    assert re.search(r"^make test\b", text_of(Path("README.md")), re.MULTILINE)


def test_the_benchmark_on_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_QUICK", "1")
    monkeypatch.chdir(ROOT)
    (example,) = code_blocks(Path("docs/how-to/measure.md"), "python")
    names: dict[str, object] = {}
    exec(compile(example, "measure.md", "exec"), names)
    declared = names["bench"]
    assert isinstance(declared, Bench)
    assert [result.id for result in declared.run()] == ["bytes", "text", "text.vs_bytes"]


def test_the_check_runs_what_contributors_run() -> None:
    script = ROOT / ".ci" / "run"
    words = script.read_text(encoding="utf-8")
    assert [line for line in words.splitlines() if "make " in line] == [
        "make lint",
        "exec make test",
    ]
    assert run(["bash", "-n", str(script)]).returncode == 0
