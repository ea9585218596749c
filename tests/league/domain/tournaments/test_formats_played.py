"""Every format from start to end with house bots and a guest, by a real worker and a real scheduler, and an event from its documented file."""

from __future__ import annotations

import re

import pytest
import yaml
from django.conf import settings

from engine.replay import verify
from league.domain.bots import bots, house
from league.domain.matches import replays
from league.domain.people import players
from league.domain.tournaments import events, tournaments
from league.enums import TournamentStatus
from league.models import Event, Match, Sitting, Tournament
from league.pure.formats import FORMATS
from tests.support.league import SECRET, source
from tests.support.live import LiveLeague

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
SMALL = {
    "ladder": {"budget": 2},
    "duel": {"cap": 2},
    "arena": {"most": 2},
    "single_elimination": {"cap": 1},
    "double_elimination": {"cap": 1},
}


def documented() -> object:
    """The example of docs/tournaments.md, made short."""
    text = (settings.BASE_DIR / "docs" / "tournaments.md").read_text(encoding="utf-8")
    document = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1))
    for stage in document["stages"]:
        stage["boards"] = 1
        if "advance" in stage:
            stage["groups"], stage["advance"] = 1, 3
    return document


@pytest.mark.slow
def test_house_bots_play_every_format_to_its_end(live: LiveLeague) -> None:
    entered = {version.bot.slug: version for version, _ in house.enter(["random", "greedy"], secret=SECRET)}
    guest, other = (
        bots.upload(players.create(name), name, source(), "bot.py", ["partnership"], secret=SECRET)
        for name in ("guest", "other")
    )
    versions = [entered["greedy"], entered["random"], other]  # a table of four with the guest
    live.start("worker")
    live.start("scheduler")
    live.wait_until(lambda: not Match.objects.filter(status__in=["queued", "leased", "running"]).exists(), "validation")
    owner = house.player()
    for form in FORMATS:
        field = versions[: FORMATS[form].most]
        tournaments.start(
            tournaments.create(
                owner,
                form,
                "partnership",
                boards=1,
                versions=field,
                format=form,
                parameters=SMALL.get(form, {}),
                secret=SECRET,
            )
        )
    pairs = tournaments.create(
        owner, "pairs", "partnership", boards=1, versions=[*versions, guest], mixed=True, secret=SECRET
    )
    tournaments.start(pairs)
    event = events.create(owner, documented(), [*versions, guest], secret=SECRET)

    live.wait_until(
        lambda: not Tournament.objects.filter(status="running").exists() and Event.objects.get().finished,
        "the end",
    )

    event.refresh_from_db()
    assert event.status == TournamentStatus.FINISHED
    assert event.tournaments.count() == 2
    assert set(Tournament.objects.values_list("status", flat=True)) == {TournamentStatus.FINISHED}
    for tournament in Tournament.objects.all():
        low, high = tournaments.count_planned(tournament)
        assert low <= tournament.matches.count() <= high, tournament.name
        assert set(tournament.matches.values_list("status", flat=True)) == {"finished"}
        assert tournament.entries.filter(place=1).exists()
    deals = list(Match.objects.exclude(tournament=None).values_list("tournament", "table", "first_board"))
    assert len(set(deals)) == len(deals)
    assert pairs.matches.count() == 3
    for sitting in Sitting.objects.filter(board__match__tournament=pairs):
        assert sorted(sitting.seating) == [0, 1, 2, 3]
        verify(replays.unpack(sitting))
