"""Replays are kept as long as the settings say, by what they were played for; results and digests for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command

from league.domain.audits import sampling
from league.domain.matches import replays, reports
from league.domain.upkeep import invariants, retention
from league.domain.upkeep.restoring import restore_replays
from league.models import Board, LeagueEvent, Match, MatchLog, Player, Sitting
from tests.support import rows
from tests.support.league import NOW, accepted, play, result, running, started, uploaded

DAY = timedelta(days=1)


@pytest.fixture
def played(ana, berto, settings) -> dict[str, Match]:
    """A match of each kind, finished now; drawn for audits."""
    settings.AUDIT_PERCENT = 0
    settings.KEEP_DAYS = {"rated": 0, "unrated": 20, "validation": 10}
    return rows.once(make_played, ana, berto)


def make_played(ana: Player, berto: Player) -> dict[str, Match]:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    matches = {"rated": play(Match.objects.get(status="queued"))}
    started(ana, [accepted(ana, "otra"), accepted(berto, "mas")], name="Other")
    Match.objects.filter(status="queued").update(rated=False)
    matches["unrated"] = play(Match.objects.get(status="queued"))
    uploaded(ana, "nueva")
    tried = running()
    reports.report(tried, result(tried), now=NOW)
    matches["validation"] = Match.objects.get(pk=tried.pk)
    sampling.draw(now=NOW)
    return matches


def kept() -> set[int]:
    return set(MatchLog.objects.exclude(data=b"").values_list("match", flat=True))


def test_each_kind_has_its_time_and_results_stay(played: dict[str, Match]) -> None:
    rows = list(Board.objects.values_list()), list(Sitting.objects.values_list("pk", "scores"))
    digests = set(MatchLog.objects.values_list("match", "digest"))

    assert retention.remove_expired(now=NOW + 9 * DAY) == 0
    assert retention.remove_expired(now=NOW + 10 * DAY) == 1
    assert kept() == {played["rated"].pk, played["unrated"].pk}
    assert retention.remove_expired(now=NOW + 5000 * DAY) == 1
    assert kept() == {played["rated"].pk}
    assert retention.remove_expired(now=NOW + 5000 * DAY) == 0

    assert (list(Board.objects.values_list()), list(Sitting.objects.values_list("pk", "scores"))) == rows
    assert set(MatchLog.objects.values_list("match", "digest")) == digests
    assert [event.data["count"] for event in LeagueEvent.objects.filter(kind="replays.let_go")] == [1, 1]
    assert [finding for finding in invariants.check_all(now=NOW) if finding.check == "replays"] == []
    assert restore_replays(actor="test", now=NOW).is_empty
    sitting = Sitting.objects.select_related("board__match").filter(board__match=played["unrated"]).first()
    with pytest.raises(replays.Unreadable, match="is no longer stored") as caught:
        replays.replay(sitting)
    assert caught.value.status == 410


def test_what_may_still_be_audited_is_kept(played: dict[str, Match]) -> None:
    Match.objects.filter(pk=played["unrated"].pk).update(drawn=None)
    sampling._queue(played["validation"], [(0, 0, played["validation"].parties.first().version_id)], "sample", NOW)

    assert retention.remove_expired(now=NOW + 100 * DAY) == 0
    Match.work.filter(kind="audit").update(status="void")
    assert retention.remove_expired(now=NOW + 100 * DAY) == 1
    assert kept() == {played["rated"].pk, played["unrated"].pk}


def test_other_settings_hold_for_what_is_there_when_the_command_says_so(
    played: dict[str, Match], settings, capsys
) -> None:
    settings.KEEP_DAYS = {"rated": 30, "unrated": 0, "validation": 10}

    call_command("keep_replays", "--dry-run")
    assert MatchLog.objects.get(match=played["rated"]).until is None
    call_command("keep_replays")

    assert capsys.readouterr().out.count("kept for ever: 1 matches; kept until a day that has changed: 1 matches") == 2
    assert dict(MatchLog.objects.values_list("match", "until")) == {
        played["rated"].pk: NOW + 30 * DAY, played["unrated"].pk: None, played["validation"].pk: NOW + 10 * DAY
    }  # fmt: skip
    assert list(retention.apply_settings()) == []
