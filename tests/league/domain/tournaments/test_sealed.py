"""Sealed bots in the league: who can be, who was, what people see of it, and tournaments that take no other."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from league.domain.bots import bots
from league.domain.core.errors import Refused
from league.domain.jobs.handlers.matches import match_spec
from league.domain.matches import reports
from league.domain.people import bans
from league.domain.ratings import leaderboards, ratings
from league.domain.tournaments import enrolment, events, tournaments
from league.enums import Entrance
from league.models import Bot, BotVersion, LeagueEvent, Match, Player
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support.league import NOW, SECRET, accepted, later, play, result, running, source, started

JAVASCRIPT = b"// nothing\n"
MARK = ">sin sellar</span>"


def packed(says: str) -> bytes:
    """A package whose bot.toml says something besides."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bot.toml", f'name = "x"\nruntime = "python"\nentry = "bot.py"\n{says}')
        archive.writestr("bot.py", source())
    return buffer.getvalue()


def unsealable(player: Player, name: str) -> BotVersion:
    version = accepted(player, name)
    BotVersion.objects.filter(pk=version.pk).update(sealable=False)
    return BotVersion.objects.get(pk=version.pk)


def test_a_version_can_be_sealed_unless_it_says_no_or_runs_in_node(ana: Player) -> None:
    uploads = {
        "plain": (source(), "bot.py"),
        "silent": (packed(""), "bot.zip"),
        "says-no": (packed("sealable = false\n"), "bot.zip"),
        "node": (JAVASCRIPT, "bot.js"),
    }

    sealable = {name: bots.upload(ana, name, *upload, now=NOW).sealable for name, upload in uploads.items()}

    assert sealable == {"plain": True, "silent": True, "says-no": False, "node": False}


def test_a_sealed_tournament_takes_only_bots_that_can_be_sealed(ana: Player, berto: Player) -> None:
    cup = tournaments.create(ana, "Cup", "partnership", versions=[accepted(ana, "one")], sealed=True, now=NOW)

    with pytest.raises(Refused, match=r"two v1 cannot be sealed off from the clocks of the host"):
        enrolment.enter(cup, unsealable(berto, "two"), now=NOW)

    assert [str(entry.version) for entry in cup.entries.all()] == ["one v1"]


@pytest.mark.slow
def test_the_stages_of_a_sealed_event_are_sealed(ana: Player) -> None:
    field = [accepted(ana, f"bot{number}") for number in range(6)]
    numbers = dict.fromkeys(("sealed", "open"))

    for name in numbers:
        event = events.create(ana, {**GOOD, "name": name, "sealed": name == "sealed"}, field, secret=SECRET, now=NOW)
        numbers[name] = set(event.tournaments.values_list("sealed", flat=True))

    assert numbers == {"sealed": {True}, "open": {False}}


@pytest.mark.parametrize("how", ["uploads", "stopped", "banned"])
def test_nobody_can_block_the_start_of_an_event(how: str, ana: Player, berto: Player) -> None:
    """An entrant that may not play when the event starts is left out."""
    theirs = accepted(berto, "theirs")
    field = [*(accepted(ana, f"bot{number}").bot for number in range(6)), theirs.bot]
    event = events.create(ana, {**GOOD, "sealed": True}, field, wait=True, secret=SECRET, now=NOW)
    if how == "uploads":
        unsealable(berto, "theirs")
    elif how == "stopped":
        bots.stop(theirs.bot, why="odd", actor="olga", now=NOW)
    else:
        bans.ban(berto, why="odd", actor="olga", now=NOW)

    events.start(event, actor="ana", now=later(1))

    entered = BotVersion.objects.filter(entries__tournament__event=event)
    assert set(entered.values_list("bot__owner__name", flat=True)) == {"ana"}
    assert LeagueEvent.objects.get(kind="event.left_out").data["bot"] == "theirs"
    document = {**GOOD, "name": "Other", "sealed": True}
    other = events.create(ana, document, field[:6], entrance=Entrance.ANYBODY, wait=True, now=NOW)
    with pytest.raises(Refused, match=r"cannot be sealed|an operator has paused"):
        events.enter(other, Bot.objects.get(slug="theirs"), berto, now=NOW)


@pytest.mark.parametrize(("sealed", "word"), [(True, "always"), (False, "possible")])
def test_a_worker_is_told_what_to_seal(sealed: bool, word: str, ana: Player, tmp_path: Path) -> None:
    pair = [accepted(ana, name) for name in ("one", "two")]
    cup = tournaments.create(ana, "Cup", "corriente", boards=2, versions=pair, sealed=sealed, now=NOW)
    tournaments.start(cup, now=NOW)

    match = Match.objects.get(tournament=cup)

    assert match_spec(match, tmp_path).sealing == word


def test_passes_are_kept_apart_where_the_result_counts_and_a_bot_is_not_the_leagues(
    ana: Player, berto: Player, tmp_path: Path, settings
) -> None:
    bots = [accepted(ana, "one"), accepted(berto, "two")]
    started(ana, bots)
    match = Match.objects.get(tournament__isnull=False)

    def apart() -> bool:
        return match_spec(Match.objects.get(pk=match.pk), tmp_path).apart

    assert not apart()
    settings.PASSES_APART = True
    assert apart()
    Match.objects.filter(pk=match.pk).update(kind="challenge")
    assert not apart()
    Match.objects.filter(pk=match.pk).update(kind="ladder")
    Bot.objects.filter(slug="one").update(is_house=True)
    assert apart()
    Bot.objects.update(is_house=True)
    assert not apart()


def test_the_record_says_who_played_sealed_and_pages_and_answers_tell_it(ana: Player, berto: Player, client) -> None:
    started(ana, [accepted(ana, "one"), unsealable(berto, "two")])
    match = running()
    outcome = result(match)
    outcome.parties[0] = replace(outcome.parties[0], sealed=True)
    assert reports.report(match, outcome, now=NOW) == reports.Receipt.STORED

    answer = client.get(f"/api/v1/matches/{match.public_id}").json()
    page = client.get(f"/m/{match.public_id}/", headers={"accept-language": "es"}).content.decode()
    version = client.get("/bots/two/v1/", headers={"accept-language": "es"}).content.decode()

    assert [party["sealed"] for party in answer["parties"]] == [True, False]
    assert page.count(MARK) == 1
    assert version.count(MARK) == 1
    assert client.get(f"/api/v1/versions/{match.parties.get(number=1).version_id}").json()["sealable"] is False


@pytest.mark.parametrize("game", ["partnership", "corriente"])
def test_the_leaderboard_marks_who_cannot_be_sealed(game: str, ana: Player, berto: Player, client) -> None:
    cup = started(ana, [accepted(ana, "one"), unsealable(berto, "two")], game=game)
    play(Match.objects.get(tournament=cup))
    ratings.refresh(cup.pool, now=NOW)

    marks = {str(row.rating.version): row.unsealed for row in leaderboards.leaderboard(cup.pool)}
    answer = client.get(f"/api/v1/pools/{cup.pool_id}/leaderboard").json()
    page = client.get(f"/g/{game}/", headers={"accept-language": "es"}).content.decode()

    assert marks == {"one v1": False, "two v1": True}
    assert {row["version"]["bot"]: row["unsealed"] for row in answer["results"]} == {"one": False, "two": True}
    assert page.count(MARK) == 1
