"""Puzzles of the league's own matches: which matches are looked at, what is kept, and what is taken out again."""

from __future__ import annotations

import fcntl
import io
from functools import partial
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from engine.puzzles import read
from league.domain.judgements import asking
from league.domain.matches import embargoes, matches, sight
from league.domain.puzzles import finding, shelf
from league.enums import JudgementStatus
from league.models import Judgement, Match, Tournament
from tests.support.league import NOW, accepted, later, play, started

FEW = {"deals": 4, "nodes": 2000, "margin": 3}


@pytest.fixture
def match(ana, berto, settings, tmp_path) -> Match:
    """Finished and judged fairly; the file of its league is empty."""
    versions = [accepted(who, name, games=["two_player"]) for who, name in ((ana, "rufo"), (berto, "lola"))]
    found = play(started(ana, versions, game="two_player", boards=1).matches.get())
    settings.STATE_DIR = tmp_path
    row, _made = asking.ask(found, "fair", ana, now=NOW)
    Judgement.objects.filter(pk=row.pk).update(status=JudgementStatus.DONE, finished=NOW)
    return found


look = partial(finding.look, 600, **FEW, now=later(1))


def test_a_pass_finds_puzzles_of_what_was_judged_and_begins_where_the_one_before_ended(match) -> None:
    shipped = len(shelf.shelf().by_id)
    assert finding.look(0, **FEW) == finding.Pass(left=True)

    first = look()
    assert (first.matches, first.dropped, first.left) == (1, 0, False)
    assert 0 < first.made <= finding.OF_A_MATCH

    everything = shelf.shelf().by_id
    mine = [one for one in everything.values() if one.source["match"] == match.public_id]
    assert (len(mine), len(everything)) == (first.made, shipped + first.made)
    for one in mine:
        assert (one.game, one.deals) == ("two_player", FEW["deals"])
        assert one.margin >= FEW["margin"]
        assert one.source["board"] == 1
    page = Client(headers={"accept-language": "en"})
    assert page.get(f"/puzzles/{mine[0].id}/").status_code == 200
    lines = b"".join(page.get("/puzzles.jsonl").streaming_content).decode().splitlines()
    assert {one.id for one in mine} <= {read(line).id for line in lines}

    assert look() == finding.Pass()
    assert set(shelf.shelf().by_id) == set(everything)


def test_what_not_everybody_may_see_makes_none_and_is_taken_out(match) -> None:
    made = look().made
    assert made

    embargoes.change(match, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    assert look() == finding.Pass(dropped=made)
    assert all(one.source["match"] != match.public_id for one in shelf.shelf().by_id.values())

    finding.own_file().unlink()
    assert look() == finding.Pass()


@pytest.mark.parametrize("why", ["private", "held back once", "struck out"])
def test_a_match_that_was_ever_held_back_or_counts_for_nothing_makes_none(match, why: str) -> None:
    if why == "struck out":
        matches.void(match, why="odd", actor="eva", now=NOW)
    else:
        Tournament.objects.update(opens=sight.NEVER if why == "private" else NOW)
    assert look() == finding.Pass()


def test_a_damaged_file_is_made_anew_and_two_passes_do_not_meet(match) -> None:
    file: Path = finding.own_file()
    file.write_text("rubbish\n{}\n", encoding="utf-8")
    assert look().made
    text = file.read_text(encoding="utf-8")
    file.write_text(text + '{"format":"x"}\n', encoding="utf-8")
    assert look() == finding.Pass()
    assert file.read_text(encoding="utf-8") == text

    with file.with_suffix(".lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(finding.BusyError):
            look()
        with pytest.raises(CommandError, match="another pass is under way"):
            call_command("find_puzzles")
    out = io.StringIO()
    call_command("find_puzzles", "--seconds", "0", stdout=out)
    assert out.getvalue().strip() == "0 new puzzles in 0 matches, 0 taken out"
