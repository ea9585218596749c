"""Replays that the disk has damaged, lost or exchanged: found, told of, and restored where that can be proved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import call_command

import engine
from league.domain.matches import replays
from league.domain.upkeep import invariants
from league.domain.upkeep.restoring import RESTORED, restore_replays
from league.models import LeagueEvent, Match, Sitting
from tests.support.league import NOW, accepted, play, started


@pytest.fixture
def match(ana, berto) -> Match:
    """A finished match of two boards in two sittings."""
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    return play(Match.objects.get(status="queued"))


def sittings() -> list[Sitting]:
    return list(Sitting.objects.select_related("board__match").order_by("board__number", "number"))


def stored(sitting: Sitting, packed: bytes) -> None:
    """Written past the league, as a disk does."""
    Sitting.objects.filter(pk=sitting.pk).update(replay=packed)


def cut_short() -> None:
    first = sittings()[0]
    stored(first, bytes(first.replay)[: len(bytes(first.replay)) * 3 // 4])


def overwritten() -> None:
    stored(sittings()[0], bytes(1000))


def rotten() -> None:
    """One bit, of the checksum: it can be unpacked, and is right."""
    first = sittings()[0]
    packed = bytearray(first.replay)
    packed[-1] ^= 1
    stored(first, bytes(packed))


def repacked() -> None:
    """A record that nobody stored."""
    first = sittings()[0]
    stored(first, replays.pack(replays.unpack(first) | {"scores": [9, 9, 9, 9]}))


def emptied() -> None:
    stored(sittings()[0], b"")


def exchanged() -> None:
    first, second = sittings()[:2]
    stored(first, bytes(second.replay))
    stored(second, bytes(first.replay))


def copied() -> None:
    stored(sittings()[0], bytes(sittings()[2].replay))


# how: words of the finding, status of a page, sittings found, what repair does
WAYS: dict[str, tuple[Callable[[], None], str, int, int, str]] = {
    "cut short": (cut_short, "is damaged", 500, 1, "played"),
    "overwritten": (overwritten, "is damaged", 500, 1, "lost"),
    "a bit": (rotten, "is damaged", 500, 1, "played"),
    "another record": (repacked, "is damaged", 500, 1, "played"),
    "empty": (emptied, "is not kept any more", 410, 1, "lost"),
    "exchanged": (exchanged, "belongs to another sitting", 500, 2, "put_back"),
    "copied": (copied, "belongs to another sitting", 500, 1, "lost"),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_found_told_and_restored_where_that_can_be_proved(way: str, match: Match, client) -> None:
    break_it, words, status, count, how = WAYS[way]
    before = [replays.unpack(one) for one in sittings()]
    assert invariants.check_all(now=NOW) == []
    break_it()

    with pytest.raises(replays.Unreadable, match=words) as caught:
        replays.replay(sittings()[0])
    assert caught.value.status == status
    found = [one for one in invariants.check_all(now=NOW) if one.check == "replays"]
    assert [(one.subject, words in one.what) for one in found] == [(f"match:{match.public_id}", True)] * count
    assert "manage.py repair --replays" in found[0].do

    would = restore_replays(actor="test", dry_run=True, now=NOW)
    assert len(invariants.check_all(now=NOW)) == count
    did = restore_replays(actor="test", now=NOW)
    assert would == did
    assert {name: len(getattr(did, name)) for name in ("put_back", "played", "lost")} == {
        "put_back": 0, "played": 0, "lost": 0, how: count
    }  # fmt: skip
    if how == "lost":
        assert len(invariants.check_all(now=NOW)) == count
        return
    assert invariants.check_all(now=NOW) == []
    for old, one in zip(before, sittings(), strict=True):
        new = replays.unpack(one)
        assert (new["actions"], new["events"], new["scores"]) == (old["actions"], old["events"], one.scores)
        engine.replay.verify(new)
        assert how == "put_back" or one.number or one.board.number > 1 or new["meta"]["restored"] == RESTORED
    assert how == "played" or [replays.unpack(one) for one in sittings()] == before
    events = LeagueEvent.objects.filter(kind="match.replay_restored", subject=f"match:{match.public_id}")
    assert events.count() == count
    assert restore_replays(actor="test", now=NOW).empty


def test_a_wrong_action_is_never_taken_for_what_was_played(match: Match) -> None:
    """The text of the actions may be damaged and still be legal: the scores of the row decide."""
    first = sittings()[0]
    other = replays.unpack(sittings()[2])
    stored(first, replays.pack(replays.unpack(first) | {"actions": other["actions"]}))

    assert len(restore_replays(actor="test", now=NOW).lost) == 1


def test_replays_from_before_there_were_digests_are_bound_by_repair(match: Match, capsys) -> None:
    Sitting.objects.update(digest="")
    assert invariants.check_all(now=NOW) == []
    assert replays.unpack(sittings()[0])["actions"]
    exchanged()
    assert {one.check for one in invariants.check_all(now=NOW)} == {"replays"}
    with pytest.raises(replays.Unreadable, match="belongs to another sitting"):
        replays.unpack(sittings()[0])
    exchanged()

    call_command("repair", "--replays")

    assert "bound to their sittings: 4 replays" in capsys.readouterr().out
    assert not Sitting.objects.filter(digest="").exists()
    assert invariants.check_all(now=NOW) == []
    call_command("repair", "--replays")
    assert "nothing to repair" in capsys.readouterr().out
