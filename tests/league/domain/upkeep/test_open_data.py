"""The open data of a month: only what everybody sees and owners have licensed, whole or not there, never changed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from datetime import date, timedelta

import jsonschema
import pytest
import zstandard
from django.core.management import CommandError, call_command
from django.db import connection

from engine import data
from league.domain.bots import closing, moves
from league.domain.core import clock
from league.domain.matches import embargoes, replays
from league.domain.people import players
from league.domain.upkeep import open_data
from league.models import Bot, DataFile, DataPart, LeagueEvent, Match, Player, Sitting
from tests.support import rows
from tests.support.league import NOW, accepted, play, started

# Writers of files tell each other by the machine's clock that they live.
pytestmark = pytest.mark.django_db
MONTH = date(2026, 1, 1)
NEXT = NOW + timedelta(days=31)


@pytest.fixture
def played(ana, berto, settings) -> dict[frozenset[str], Match]:
    """Three matches of one month, by their bots; all owners have accepted."""
    settings.AUDIT_PERCENT = 0
    matches = rows.once(make_played, ana, berto)
    for player in Player.objects.all():
        open_data.accept(player, True, now=NOW)
    return matches


def make_played(ana: Player, berto: Player) -> dict[frozenset[str], Match]:
    cira = players.create("cira", now=NOW)
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(cira, "vega")])
    matches = [play(match, winner=0) for match in Match.objects.filter(status="queued").order_by("pk")]
    return {frozenset(match.parties.values_list("version__bot__slug", flat=True)): match for match in matches}


def between(played: dict[frozenset[str], Match], *bots: str) -> Match:
    return played[frozenset(bots)]


def written(month: date | None = MONTH, **words) -> list[str]:
    """Write the files of a month; return the matches in them."""
    return [match for file in open_data.write_missing(month, **{"now": NEXT} | words) for match in matches_in(file)]


def lines(file: DataFile) -> list[dict]:
    whole = b"".join(open_data.content(file))
    assert (len(whole), hashlib.sha256(whole).hexdigest()) == (file.bytes, file.sha256)
    text = zstandard.ZstdDecompressor().stream_reader(whole).read().decode()
    return [json.loads(line) for line in text.splitlines()]


def matches_in(file: DataFile) -> list[str]:
    return list(dict.fromkeys(line["meta"]["match"] for line in lines(file)))


def test_a_file_is_what_its_matches_show(played, monkeypatch) -> None:
    monkeypatch.setattr(open_data, "PART", 1000)
    monkeypatch.setattr(open_data, "AT_ONCE", 2)
    (file,) = open_data.write_missing(now=NEXT)
    sittings = list(
        Sitting.objects.filter(board__match__in=played.values()).order_by("board__match", "board", "number")
    )
    assert lines(file) == [json.loads(json.dumps(replays.replay(sitting))) for sitting in sittings]
    assert (str(file), file.matches, file.replays) == ("tute-partnership-2026-01.jsonl.zst", 3, len(sittings))
    assert file.parts.count() > 3
    schema = json.loads(data.SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in lines(file):
        jsonschema.validate(line, schema)
    assert open_data.find(str(file)) == file
    for name in (
        "",
        "tute-partnership-2026-02.jsonl.zst",
        "tute-partnership-2026-01.jsonl",
        "x\x00",
        "tute-.zst",
        "ñ" * 999,
    ):
        assert open_data.find(name) is None
    assert written(None) == [], "it is written once"


def _withdraw(played) -> None:
    open_data.accept(Player.objects.get(name="cira"), False, now=NOW)


def _close(played) -> None:
    closing.close(Player.objects.get(name="cira"), now=NOW)


def _class(played) -> None:
    Bot.objects.filter(slug="vega").update(in_class=True)


def _private(played) -> None:
    Match.objects.filter(parties__version__bot__slug="vega").update(in_class=True)


def _void(played) -> None:
    Match.objects.filter(parties__version__bot__slug="vega").update(status="void")


def _embargo(played) -> None:
    for rival in ("rufo", "lola"):
        embargoes.change(
            between(played, rival, "vega"), clock.present() + timedelta(days=40), why="x", actor="eva", now=NOW
        )


def _hand_on(played) -> None:
    receiver = players.create("dora", now=NOW)
    open_data.accept(receiver, True, now=NOW)
    bot = Bot.objects.get(slug="vega")
    Player.objects.filter(name="cira").update(open_data=None)
    moves.offer(bot, "dora", player=bot.owner, now=NOW)
    moves.accept(bot, player=receiver, now=NOW + timedelta(days=1))


@pytest.mark.parametrize("closed", [_withdraw, _close, _class, _private, _void, _embargo, _hand_on])
def test_what_not_everybody_sees_or_an_owner_has_not_licensed_is_left_out(played, closed) -> None:
    closed(played)
    assert written() == [between(played, "rufo", "lola").public_id]


def test_a_bot_with_a_new_owner_is_in_the_files_again(played) -> None:
    _hand_on(played)
    later = between(played, "rufo", "vega")
    Match.objects.filter(pk=later.pk).update(started=NOW + timedelta(days=2), finished=NOW + timedelta(days=2))
    assert set(written()) == {between(played, "rufo", "lola").public_id, later.public_id}


def test_nobody_has_accepted(played) -> None:
    Player.objects.update(open_data=None)
    assert written() == []
    assert not DataFile.objects.exists()
    Player.objects.filter(name="ana").update(open_data=NOW)
    Bot.objects.filter(slug="lola").update(is_house=True)
    assert written() == [between(played, "rufo", "lola").public_id], "the house needs no licence of itself"


def test_what_was_withheld_is_in_the_month_of_its_release(played) -> None:
    late, later = between(played, "rufo", "vega"), between(played, "lola", "vega")
    Match.objects.filter(pk=late.pk).update(embargo=NOW + timedelta(days=33))
    Match.objects.filter(pk=later.pk).update(embargo=NOW + timedelta(days=63))
    assert written() == [between(played, "rufo", "lola").public_id]
    assert written(date(2026, 2, 1), now=NEXT + timedelta(days=31)) == [late.public_id]
    assert written(date(2026, 3, 1), now=NEXT + timedelta(days=62)) == [later.public_id]


def test_acceptance_is_stored_once_with_its_date(ana) -> None:
    assert not open_data.has_answered(ana)
    for accepts, kinds in ((False, 1), (False, 1), (True, 2), (True, 2), (False, 3), (False, 3), (True, 4)):
        open_data.accept(ana, accepts, now=NOW)
        assert ana.open_data == (NOW if accepts else None)
        assert open_data.has_answered(ana)
        assert LeagueEvent.objects.filter(kind__startswith="player.data_").count() == kinds


def test_a_writer_whose_row_another_has_taken_stops(played, monkeypatch) -> None:
    monkeypatch.setattr(open_data, "AT_ONCE", 1)
    renew, rivals = open_data._renew, []

    def taken(file: DataFile, **values: object) -> None:
        if not rivals:
            assert written() == [], "a live writer is left alone"
            DataFile.objects.update(renewed=clock.present() - timedelta(hours=1))
            rivals.append(file)
            rivals.append(written())
        renew(file, **values)

    monkeypatch.setattr(open_data, "_renew", taken)
    assert written() == []
    assert len(rivals[1]) == 3
    (file,) = open_data.files()
    assert len(matches_in(file)) == 3
    assert DataPart.objects.exclude(file=file).count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_killed_writer_leaves_no_half_file(played, monkeypatch) -> None:
    monkeypatch.setattr(open_data, "PART", 500)
    connection.close()
    child = os.fork()
    if child == 0:
        store = open_data._store

        def killed(file: DataFile, number: int, part: bytes) -> None:
            store(file, number, part)
            if number == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        open_data._store = killed
        list(open_data.write_missing(MONTH, now=NEXT))
        os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert DataPart.objects.count() == 3
    assert not open_data.files().exists()
    assert written() == [], "its writer may be alive"
    DataFile.objects.update(renewed=clock.present() - timedelta(hours=1))
    assert len(written()) == 3
    assert [file.parts.count() for file in open_data.files()] == [DataPart.objects.count()]


def test_the_command_says_what_it_wrote_and_what_is_wrong(played, capsys) -> None:
    call_command("publish_data", "--month", "2026-01")
    first, last = capsys.readouterr().out.splitlines()
    assert "tute-partnership-2026-01.jsonl.zst: 3 matches" in first
    assert last == "1 files written"
    for month, words in (("soon", "takes a month"), ("2999-01", "has not ended"), ("0001-01", "has not ended")):
        with pytest.raises(CommandError, match=words):
            call_command("publish_data", "--month", month)
