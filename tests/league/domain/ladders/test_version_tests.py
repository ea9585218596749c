"""Is a new version better than the one before? The test of the two goes on by itself, and ends."""

from __future__ import annotations

import pytest

from league.domain.ladders import drawing, places, version_tests
from league.domain.matches import workers
from league.domain.people import players
from league.domain.upkeep import reconcile
from league.enums import VersionStatus
from league.models import BotVersion, Match, Rung, VersionTest
from tests.support.league import NOW, accepted, later, play, uploaded
from tests.support.parts import mostly_slow

GAME, SOLO = "partnership", "cabrero"


def next_version(old: BotVersion, games: list[str]) -> BotVersion:
    new = uploaded(old.bot.owner, old.bot.slug, games=games)
    Match.objects.filter(kind="validation").update(status="cancelled")
    BotVersion.objects.filter(pk=new.pk).update(status=VersionStatus.ACCEPTED)
    places.enter(now=later(1))
    return BotVersion.objects.get(pk=new.pk)


@pytest.fixture
def old(ana, settings) -> BotVersion:
    settings.LADDERS = True
    workers.register("w1", tier="landlock", now=NOW)
    version = accepted(ana, "rufo", games=[GAME, SOLO])
    places.enter(now=NOW)
    return version


def waiting_matches() -> list[Match]:
    return list(Match.objects.filter(key__startswith="s:", status="queued").order_by("pk"))


def test_the_first_version_is_tested_against_nobody(old):
    assert not VersionTest.objects.exists()


@pytest.mark.parametrize(
    ("winner", "verdict"), mostly_slow([(0, "stronger"), (1, "not_stronger")], lambda case: case[0] == 0)
)
def test_a_new_version_is_tested_against_the_one_before_until_it_is_decided(old, winner, verdict):
    new = next_version(old, [GAME])
    [test] = VersionTest.objects.all()
    assert (test.game, test.version, test.before, test.verdict) == (GAME, new, old, "")
    played = 0
    while drawing.draw(now=later(2 + played)):
        [match] = waiting_matches()
        assert (match.kind, match.rated, match.priority) == ("ladder", False, drawing.PRIORITY)
        assert list(match.parties.order_by("number").values_list("version", flat=True)) == [new.pk, old.pk]
        assert drawing.draw(now=later(2 + played)) == 0, "one match of it at a time"
        play(match, winner=winner, now=later(2 + played))
        played += 1

    test.refresh_from_db()
    assert (test.verdict, test.matches) == (verdict, played)
    boards = version_tests.BOARDS * played
    assert (test.won, test.lost) == ((boards, 0) if winner == 0 else (0, boards))
    assert abs(test.llr) >= version_tests.BOUNDS.upper
    assert test.decided == later(2 + played)


def test_level_versions_are_not_told_apart_by_as_many_boards_as_it_may_take():
    half = version_tests.CAP // 2

    assert version_tests.RULES.decide(half, 0, half)[1] in ("cap", "not_stronger")
    assert version_tests.RULES.decide(10, 0, 10)[1] == ""
    assert version_tests.RULES.decide(490, 0, 510 + 12)[1] == "cap"


@pytest.mark.slow
def test_what_was_void_is_played_again_and_a_newer_version_ends_the_test(old):
    new = next_version(old, [GAME])
    drawing.draw(now=later(2))
    Match.objects.filter(key__startswith="s:").update(status="void")
    assert drawing.draw(now=later(3)) == 1
    [match] = waiting_matches()
    assert match.key.endswith(":2")

    newest = next_version(new, [GAME])

    assert dict(VersionTest.objects.values_list("version", "verdict")) == {new.pk: "superseded", newest.pk: ""}
    assert VersionTest.objects.get(version=newest).before == new
    play(match, winner=0, now=later(4))
    drawing.draw(now=later(5))
    assert VersionTest.objects.get(version=new).won == 0
    assert list(waiting_matches()[0].parties.order_by("number").values_list("version", flat=True)) == [
        newest.pk,
        new.pk,
    ]


@pytest.mark.slow
def test_where_more_sit_house_bots_keep_them_company(old):
    house = players.create("house", reserved=True, now=NOW)
    next_version(old, [SOLO])
    assert drawing.draw(now=later(2)) == 0
    others = [accepted(house, f"house-{n}", games=[SOLO]) for n in range(3)]
    reconcile.play_ladders(now=later(3))

    test = next(match for match in Match.objects.filter(key__startswith="s:"))
    seats = list(test.parties.order_by("number").values_list("version__bot__slug", flat=True))
    assert seats[:2] == ["rufo", "rufo"]
    assert set(seats[2:]) <= {version.bot.slug for version in others}
    Match.objects.filter(key__startswith="l:").update(status="cancelled")
    play(test, winner=0, now=later(4))
    drawing.draw(now=later(5))
    assert VersionTest.objects.get().won == version_tests.BOARDS


def test_tests_leave_half_of_the_room_to_the_ladder(old, berto):
    next_version(old, [GAME])
    accepted(berto, "lola", games=[GAME])
    places.enter(now=later(1))

    assert drawing.draw(now=later(2)) == drawing.AHEAD
    assert sorted(key[:2] for key in Match.objects.filter(kind="ladder").values_list("key", flat=True)) == ["l:", "s:"]
    assert Rung.objects.filter(game=GAME).count() == 2
