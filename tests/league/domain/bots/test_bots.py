"""Uploads: what is refused, what is stored, what is validated."""

from __future__ import annotations

import io
import stat
import zipfile
from datetime import timedelta

import pytest
from django.conf import settings

from engine.runner import FaultReport, PackageRefused
from league.domain.bots import bots
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import reports, validation
from league.domain.people import players
from league.enums import BotState, MatchStatus, VersionStatus
from league.models import Bot, BotVersion, LeagueEvent, Match, Package
from tests.support.league import BOT, NOW, SECRET, accepted, later, result, running, source, uploaded


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py"), data)
    return buffer.getvalue()


def test_upload_stores_an_immutable_version_and_queues_its_validation(ana) -> None:
    version = bots.upload(ana, "Rufo el Grande", BOT, "bot.py", ["partnership"], now=NOW)

    assert (version.bot.slug, version.number, version.runtime, version.entry) == (
        "rufo-el-grande",
        1,
        "python",
        "bot.py",
    )
    assert (version.games, version.status, version.created) == (["partnership"], VersionStatus.VALIDATING, NOW)
    match = Match.objects.get()
    assert (match.kind, match.rated, match.status) == ("validation", False, MatchStatus.QUEUED)
    # No house bot: against itself
    assert [party.version_id for party in match.parties.all()] == [
        version.pk,
        version.pk,
    ]
    assert LeagueEvent.objects.get(kind="version.uploaded").data["sha256"] == version.package_id


def test_upload_of_a_zip_takes_name_and_games_from_its_manifest(ana) -> None:
    toml = b'name = "Lola"\nruntime = "python"\nentry = "main.py"\ngames = ["cabrero", "corriente"]\n'

    version = bots.upload(ana, "", zipped(bot_toml=toml, main_py=BOT), "x.zip", now=NOW)

    assert (str(version), version.games) == ("lola v1", ["cabrero", "corriente"])
    match = Match.objects.get()  # one for both games
    assert (match.pool.game, match.parties.count()) == ("cabrero", 4)
    assert [plan.pool.game for plan in validation.plan_rest(match)] == ["corriente"]


def test_second_upload_is_the_next_version_and_plays_the_house(ana) -> None:
    house = players.create("house", reserved=True, now=NOW)
    rival = accepted(house, "greedy")
    uploaded(ana, "rufo")

    version = uploaded(ana, "rufo")

    assert version.number == 2
    match = Match.objects.get(key=f"v:{version.pk}:1")
    assert [party.version_id for party in match.parties.order_by("number")] == [version.pk, rival.pk]


@pytest.mark.parametrize("path", ["../evil.py", "/etc/passwd", "a/../../b.py", "C:evil.py"])
def test_unsafe_paths_are_refused_before_anything_is_written(ana, path: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bot.toml", 'name="x"\nruntime="python"\nentry="bot.py"\n')
        archive.writestr("bot.py", BOT)
        archive.writestr(path, "boo")

    with pytest.raises(PackageRefused, match="rename it and pack again"):
        bots.upload(ana, "rufo", buffer.getvalue(), "x.zip", now=NOW)

    assert (Bot.objects.count(), Package.objects.count(), Match.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_are_refused(ana, kind: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bot.toml", 'name="x"\nruntime="python"\nentry="bot.py"\n')
        entry = zipfile.ZipInfo("bot.py")
        entry.external_attr = (kind | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")

    with pytest.raises(PackageRefused, match="link, device or pipe"):
        bots.upload(ana, "rufo", buffer.getvalue(), "x.zip", now=NOW)


def test_too_many_files_and_bombs_are_refused(ana) -> None:
    with pytest.raises(PackageRefused, match="more than 500 files"):
        bots.upload(ana, "rufo", zipped(**{f"f{i}": b"" for i in range(501)}), "x.zip", now=NOW)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 9_000_000)
    with pytest.raises(PackageRefused, match="more than 100 times its size"):
        bots.upload(ana, "rufo", buffer.getvalue(), "x.zip", now=NOW)


def test_equal_contents_are_refused_politely(ana, berto) -> None:
    bots.upload(ana, "rufo", BOT, "bot.py", ["partnership"], now=NOW)

    with pytest.raises(Refused, match="these exact files already, as rufo v1"):
        bots.upload(ana, "other", BOT, "bot.py", ["partnership"], now=NOW)
    with pytest.raises(Refused, match="another player has uploaded these"):
        bots.upload(berto, "lola", BOT, "bot.py", ["partnership"], now=NOW)

    assert BotVersion.objects.count() == 1
    assert Bot.objects.count() == 1


def test_names_of_others_and_of_retired_bots_are_refused(ana, berto) -> None:
    version = uploaded(ana, "rufo")
    with pytest.raises(Refused, match="is taken by another player"):
        uploaded(berto, "rufo")
    bots.set_state(version.bot, BotState.RETIRED, actor="ana", now=NOW)

    with pytest.raises(Refused, match="is retired"):
        uploaded(ana, "rufo")
    with pytest.raises(Refused, match="permanently"):
        bots.set_state(version.bot, BotState.ACTIVE, actor="ana", now=NOW)


@pytest.mark.slow
def test_upload_rate_is_limited_per_player_and_hour(ana, berto) -> None:
    for _ in range(settings.UPLOADS_PER_HOUR):
        uploaded(ana, "rufo")

    with pytest.raises(TooMany) as refused:
        uploaded(ana, "rufo", now=later(1800))

    assert refused.value.retry_after == 1800
    uploaded(berto, "lola", now=later(1800))
    BotVersion.objects.update(status="accepted")
    uploaded(ana, "rufo", now=NOW + timedelta(hours=1, seconds=1))


def test_validation_without_a_fault_accepts(ana) -> None:
    version = uploaded(ana, "rufo")
    match = running()

    reports.report(match, result(match), now=NOW)

    version.refresh_from_db()
    assert (version.status, version.refused) == (VersionStatus.ACCEPTED, [])
    assert list(version.checks.values_list("game", "name", "fault")) == [("partnership", "boards", "")]


def test_validation_with_a_fault_rejects_and_says_why(ana) -> None:
    version = uploaded(ana, "rufo")
    match = running()
    fault = FaultReport(0, 2, 1, 0, 7, "crash", "the process ended with exit code 1")

    reports.report(match, result(match, faults=[fault]), now=NOW)

    version.refresh_from_db()
    assert (version.status, version.fault) == (VersionStatus.REJECTED, "crash")
    place = f"partnership, board 1, sitting 0, step 7; match {match.public_id}"
    assert version.fault_detail == f"the process ended with exit code 1 ({place})"


def test_fault_of_the_rival_does_not_reject(ana) -> None:
    house = players.create("house", reserved=True, now=NOW)
    accepted(house, "greedy")
    version = uploaded(ana, "rufo")
    match = running()

    reports.report(match, result(match, faults=[FaultReport(1, 1, 1, 0, 3, "crash", "boom")]), now=NOW)

    version.refresh_from_db()
    assert version.status == VersionStatus.ACCEPTED


def test_validation_can_be_played_again_after_rejection(ana) -> None:
    version = uploaded(ana, "rufo")
    with pytest.raises(Refused, match="being validated already"):
        validation.validate_again(version, now=NOW)
    match = running()
    reports.report(match, result(match, faults=[FaultReport(0, 0, 1, 0, 0, "crash", "boom")]), now=NOW)
    version.refresh_from_db()

    validation.validate_again(version, now=NOW)

    assert (version.status, version.fault) == (VersionStatus.VALIDATING, "")
    second = running()
    assert second.key == f"v:{version.pk}:2"
    reports.report(second, result(second), now=NOW)
    version.refresh_from_db()
    assert version.status == VersionStatus.ACCEPTED
    with pytest.raises(Refused, match="accepted already"):
        validation.validate_again(version, now=NOW)


@pytest.mark.parametrize("name", ["", "¿?", "new", "---"])
def test_names_without_letters_are_refused(ana, name: str) -> None:
    with pytest.raises(Refused, match="cannot be used"):
        bots.slug(name)


def test_secret_fixes_the_deals_of_the_validation(ana) -> None:
    bots.upload(ana, "rufo", source(), "bot.py", ["partnership"], secret=SECRET, now=NOW)

    assert bytes(Match.objects.get().secret) == SECRET


def test_a_change_of_state_is_written_down(ana) -> None:
    bot = accepted(ana, "rufo").bot
    bots.set_state(bot, "paused", actor="ana", now=NOW)

    moved = LeagueEvent.objects.get(kind="bot.moved")
    assert (moved.actor, moved.data["was"], moved.data["to"]) == ("ana", "active", "paused")


def test_the_newest_accepted_version_that_plays_the_game_is_sent(ana) -> None:
    accepted(ana, "rufo", games=("partnership", "corriente"))
    accepted(ana, "rufo", games=("partnership",))
    uploaded(ana, "rufo", games=("brisca",))  # not accepted yet
    bot = Bot.objects.get(slug="rufo")

    assert bots.sent_version(bot).number == 2
    assert bots.sent_version(bot, "partnership").number == 2
    assert bots.sent_version(bot, "corriente").number == 1
    with pytest.raises(Refused, match="has no accepted version that plays brisca"):
        bots.sent_version(bot, "brisca")
    with pytest.raises(Refused, match=r"has no accepted version$"):
        bots.sent_version(uploaded(ana, "nena").bot)
