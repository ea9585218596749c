"""The mutation tester itself: what it breaks, whom it asks, and that the fault is really there."""

from __future__ import annotations

import gc
import textwrap
from pathlib import Path

import pytest

from tests.mutate import mutants, patching, probes
from tests.mutate.areas import area_of

SOURCE = textwrap.dedent(
    '''
    """Words."""

    def play(card, trick=2, *, last=True):
        """More words."""
        if card < 40 and not last:
            trick += 1
            return trick
        for other in range(3):
            if other in (1, 2):
                continue
            log.info("nobody reads this")
            note(card, loud=True)
        return [card[1:] for _ in "a"]
    '''
).encode()


def changes() -> set[tuple[str, str]]:
    runnable = [mutant for mutant in mutants.of_source("a.py", SOURCE) if mutants.runs(mutant, SOURCE)]
    return {(mutant.before, mutant.after) for mutant in runnable}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if card < 40 and not last:", "if card <= 40 and not last:"),
        ("if card < 40 and not last:", "if card >= 40 and not last:"),
        ("if card < 40 and not last:", "if card < 40 or not last:"),
        ("if card < 40 and not last:", "if card < 40 and  last:"),
        ("if card < 40 and not last:", "if card < 41 and not last:"),
        ("if card < 40 and not last:", "if not (card < 40 and not last):"),
        ("def play(card, trick=2, *, last=True):", "def play(card, trick=3, *, last=True):"),
        ("def play(card, trick=2, *, last=True):", "def play(card, trick=2, *, last=False):"),
        ("trick += 1", "trick -= 1"),
        ("trick += 1", "pass"),
        ("return trick", "return None"),
        ("if other in (1, 2):", "if other not in (1, 2):"),
        ("continue", "break"),
        ("note(card, loud=True)", "pass"),
        ("note(card, loud=True)", "note(card, )"),
        ('return [card[1:] for _ in "a"]', 'return [card[:] for _ in "a"]'),
    ],
)
def test_every_kind_of_fault_is_made(before: str, after: str) -> None:
    assert (before, after) in changes()


def test_words_and_logs_are_left_alone() -> None:
    assert not [before for before, _ in changes() if "ords" in before or "log.info" in before]


def test_a_mutant_keeps_its_name_when_its_line_moves() -> None:
    moved = [mutant.key for mutant in mutants.of_source("b.py", b"import os\n\n" + SOURCE)]
    assert moved == [mutant.key for mutant in mutants.of_source("a.py", SOURCE)]
    assert len(set(moved)) == len(moved)


def test_probes_tell_which_blocks_are_reached() -> None:
    source = "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n"
    blocks = probes.Blocks()
    space: dict = {}
    exec(blocks.instrument("a.py", source), space)
    reached_blocks: list[int] = []
    space["_reached"] = type("Heard", (dict,), {"__missing__": lambda self, block: reached_blocks.append(block)})()

    assert space["f"](True) == 1

    lines = blocks.of_line["a.py"]
    assert [line for line, block in lines.items() if block in reached_blocks] == [2, 3, 6]
    assert lines[1] in blocks.imported


@pytest.mark.parametrize("frozen", [False, True])
def test_a_fault_is_put_into_living_functions(tmp_path: Path, frozen: bool) -> None:
    """It works on functions that the garbage collector has frozen, too, as the suite does."""
    file = tmp_path / "module.py"
    source = b"N = 1\ndef outer(x):\n    def inner():\n        return x + N\n    return inner() * 2\n"
    space: dict = {}
    exec(compile(source, str(file), "exec"), space)
    if frozen:
        gc.freeze()
    living = patching.functions(tmp_path)[str(file)]

    assert patching.patch(file, source, source.replace(b"x + N", b"x - N"), living) == 1
    assert space["outer"](5) == 8
    with pytest.raises(patching.NotToBePatched):
        patching.patch(file, source, source.replace(b"N = 1", b"N = 2"), living)


def test_a_file_has_one_area_or_none() -> None:
    areas = {"rules": ("engine/*.py", "engine/match/", "!engine/match/old.py"), "pure": ("league/pure/",)}
    paths = (
        "engine/a.py",
        "engine/match/b/c.py",
        "engine/match/old.py",
        "engine/cli/d.py",
        "league/pure/e.py",
        "engine/x.so",
    )
    assert [area_of(path, areas) for path in paths] == ["rules", "rules", "", "", "pure", ""]
