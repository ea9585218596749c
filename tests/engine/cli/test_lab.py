"""`tute lab`: the same report on one core, on two, and after a kill; refusals."""

import fcntl
import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.cli.conftest import Tute

VARIANT = 'game = "brisca"\n\n[options]\nexchange = "none"\n'
PLAY = ("--bot", "greedy", "--against", "random", "--seed", "t", "--no-sandbox", "--json")


@pytest.mark.slow
def test_the_report_depends_on_the_seed_alone_and_goes_on_where_it_stopped(
    tute: Tute, state_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain.toml").write_text(VARIANT)
    stored = state_dir / "lab"
    whole = json.loads(tute("lab", "plain.toml", "-n", 40, "--jobs", 2, "--svg", "plain.svg", *PLAY).stdout)
    variant, parent = whole

    assert (variant["options"], parent["options"]) == ({"exchange": "none"}, {})
    assert variant["measures"]["exchange"] is None
    assert parent["measures"]["exchange"][0] > 0
    assert (tmp_path / "plain.svg").read_text().startswith("<svg")

    for file in stored.glob("*.jsonl"):  # As if the command had been killed while it wrote its second match.
        header, first, _ = file.read_text().splitlines(keepends=True)
        file.write_text(header + first + '{"boards": [')
    again = json.loads(tute("lab", "plain.toml", "-n", 40, "--jobs", 1, *PLAY).stdout)

    assert [report["digest"] for report in again] == [report["digest"] for report in whole]
    fewer = json.loads(tute("lab", "brisca", "-n", 32, *PLAY).stdout)
    assert (len(fewer), fewer[0]["boards"]) == (1, 32)

    with ExitStack() as others:
        for file in stored.glob("*.lock"):
            fcntl.flock(others.enter_context(file.open("w")), fcntl.LOCK_EX)
        busy = tute("lab", "brisca", "-n", 32, *PLAY, code=3).stderr
    assert "another tute lab is playing these boards of brisca; wait for it" in busy


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mus",), "unknown game 'mus'"),
        (("bad.toml",), "bad.toml, line 3: brisca has no option 'exchnage' for 2 players (did you mean 'exchange'?)"),
        (("missing.toml",), "missing.toml: No such file or directory"),
        (("brisca", "-n", 1), "--boards 1 is too small; give at least 2"),
        (("brisca", "--jobs", 0), "--jobs 0 is too small"),
        (("brisca", "--bot", "nobody"), "no bot 'nobody'"),
        (("podrida", "--bot", "champion", "-n", 2), "not podrida"),
    ],
)
def test_refusals(words: tuple[object, ...], message: str, tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('game = "brisca"\n[options]\nexchnage = "none"\n')

    assert message in tute("lab", *words, code=2).stderr
