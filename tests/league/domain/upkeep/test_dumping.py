"""The files of all rated matches: whole, equal to what the league shows, and never less than before."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from engine.cli import main
from league.domain.audits import sampling
from league.domain.core import clock
from league.domain.matches import embargoes, replays
from league.domain.people import players
from league.domain.upkeep import dumping, retention
from league.models import Match, Player, Sitting
from tests.support import rows
from tests.support.league import NOW, accepted, play, started

NEXT = NOW + timedelta(days=1)


@pytest.fixture
def played(ana, berto, settings) -> list[Match]:
    """Three rated matches of one day and one unrated, with replays that are kept for three days."""
    settings.AUDIT_PERCENT = 0
    settings.KEEP_DAYS = {"rated": 3, "unrated": 3, "validation": 3}
    return rows.once(make_played, ana, berto)


def make_played(ana: Player, berto: Player) -> list[Match]:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(players.create("cira", now=NOW), "vega")])
    matches = [play(match, winner=0) for match in Match.objects.filter(status="queued").order_by("pk")]
    started(ana, [accepted(ana, "otra"), accepted(berto, "mas")], name="Other")
    Match.objects.filter(status="queued").update(rated=False)
    play(Match.objects.get(status="queued"))
    assert len(matches) == 3
    return matches


def lines(folder: Path) -> list[dict[str, object]]:
    with gzip.open(folder / f"partnership/{NOW.date()}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_a_day_is_a_file_of_what_its_matches_show(played, tmp_path, capsys) -> None:
    assert list(dumping.dump(tmp_path, now=NOW)) == [], "the day is not over"
    (file,) = dumping.dump(tmp_path, now=NEXT)

    sittings = Sitting.objects.filter(board__match__in=played).order_by("board__match", "board__number", "number")
    assert lines(tmp_path) == [json.loads(json.dumps(replays.replay(sitting))) for sitting in sittings]
    assert (file.path, file.matches, file.sittings) == (f"partnership/{NOW.date()}.jsonl.gz", 3, sittings.count())
    assert hashlib.sha256((tmp_path / file.path).read_bytes()).hexdigest() == file.sha256
    entries = json.loads((tmp_path / "files.json").read_text())["files"]
    assert [(row["path"], row["sha256"]) for row in entries] == [(file.path, file.sha256)]
    plain = tmp_path / "day.jsonl"
    plain.write_bytes(gzip.decompress((tmp_path / file.path).read_bytes()))
    assert main(["verify", str(plain)]) == 0, "the engine plays them again"
    capsys.readouterr()


def test_it_goes_on_where_it_was_ended(played, tmp_path) -> None:
    (file,) = dumping.dump(tmp_path, now=NEXT)
    before = (tmp_path / file.path).read_bytes()
    assert list(dumping.dump(tmp_path, now=NEXT)) == []

    (tmp_path / file.path).with_suffix(".part").write_bytes(b"half a file")
    (tmp_path / file.path).unlink()
    (again,) = dumping.dump(tmp_path, now=NEXT)
    assert again == file
    assert (tmp_path / file.path).read_bytes() == before, "the same replays are the same bytes"


def test_what_was_let_go_between_a_file_and_its_list_is_not_lost(played, tmp_path) -> None:
    steps = dumping.dump(tmp_path, now=NEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", killed_at(f"{NOW.date()}.jsonl.part"))
        with pytest.raises(KeyboardInterrupt):
            next(steps)
    assert not list(tmp_path.glob("*/*.gz"))
    sampling.draw(now=NEXT)
    assert retention.remove_expired(now=clock.present() + timedelta(days=9)) > 0

    assert list(dumping.dump(tmp_path, now=NEXT)) == []
    assert len(lines(tmp_path)) == Sitting.objects.filter(board__match__in=played).count()
    assert not list(tmp_path.glob("*/*.part"))


def killed_at(name: str) -> Callable[[Path, Path], Path]:
    """`Path.replace` of a process that is ended before it puts this file in its place."""
    replace = Path.replace

    def ended(self: Path, target: Path) -> Path:
        if self.name == name:
            raise KeyboardInterrupt
        return replace(self, target)

    return ended


def test_what_is_held_back_comes_later_and_what_is_let_go_stays(played, tmp_path) -> None:
    embargoes.change(played[1], clock.present() + timedelta(days=2), why="a final", actor="eva", now=NOW)
    (first,) = dumping.dump(tmp_path, now=NEXT)
    assert (first.matches, first.held) == (2, 1)
    assert played[1].public_id not in json.dumps(lines(tmp_path))
    assert list(dumping.dump(tmp_path, now=NEXT)) == [], "nothing more can be seen"

    embargoes.change(Match.objects.get(pk=played[1].pk), None, why="it is over", actor="eva", now=NOW)
    (second,) = dumping.dump(tmp_path, now=NEXT)
    assert (second.matches, second.held) == (3, 0)
    content = (tmp_path / second.path).read_bytes()

    sampling.draw(now=NEXT)
    assert retention.remove_expired(now=clock.present() + timedelta(days=9)) > 0
    (tmp_path / "files.json").write_text(
        json.dumps({"format": dumping.FORMAT, "files": [{**second.__dict__, "held": 1}]})
    )
    assert list(dumping.dump(tmp_path, now=NEXT)) == []
    assert (tmp_path / second.path).read_bytes() == content


def test_the_command_says_what_it_wrote_and_what_is_wrong(played, tmp_path, capsys) -> None:
    Match.objects.update(finished=clock.present() - timedelta(days=2))
    call_command("dump", str(tmp_path / "new"), "--game", "partnership", "--since", "2026-01-01")
    assert "3 matches" in capsys.readouterr().out.splitlines()[-1]
    for wrong, words in (
        (["--game", "mus"], "there is no game 'mus'"),
        (["--since", "soon"], "takes a day"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("dump", str(tmp_path / "new"), *wrong)
    (tmp_path / "new/files.json").write_text("[]")
    with pytest.raises(CommandError, match="choose another folder"):
        call_command("dump", str(tmp_path / "new"))
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("dump", str(tmp_path / "file"))
