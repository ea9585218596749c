"""The bots on the form of a tournament or an event where the league has more of them than a form shows."""

from __future__ import annotations

import re

import pytest

from league.enums import BotState, VersionStatus
from league.models import Bot, BotVersion, EntryRequest, Event, Tournament
from league.web.tournaments.entrants import MOST_OFFERED, offer
from tests.support import league as made
from tests.support import rows

MANY = MOST_OFFERED + 20


def boxes(text: str) -> dict[str, bool]:
    """Return each name on a form with True if it is ticked."""
    tags = re.findall(r'<input type="checkbox" name="bots" value="([^"]+)" id="\w+"( checked)?>', text)
    return {name: bool(ticked) for name, ticked in tags}


def fill(league) -> None:
    """Many bots of berto, each with one accepted version."""
    bots = Bot.objects.bulk_create(
        Bot(owner=league.berto, slug=f"many-{number:03}", created=made.NOW) for number in range(MANY)
    )
    like = BotVersion.objects.get(pk=league.luna.pk)
    BotVersion.objects.bulk_create(
        BotVersion(
            **{
                field.attname: getattr(like, field.attname)
                for field in BotVersion._meta.concrete_fields
                if field.attname not in ("id", "bot_id", "public_id")
            },
            bot=bot,
        )
        for bot in bots
    )


@pytest.fixture
def many(league):
    rows.once(fill, league)
    return league


def test_a_form_shows_some_bots_and_ticks_own_ones(many, owner) -> None:
    ticks = boxes(owner.get("/t/new/?game=partnership").content.decode())
    assert len(ticks) == MOST_OFFERED
    assert [name for name, ticked in ticks.items() if ticked] == ["rufo"]
    assert next(iter(ticks)) == "rufo"
    assert {"many-000", "many-097"} <= set(ticks)
    assert not {"many-098", "sol"} & set(ticks)


def test_a_form_of_a_small_league_has_no_search(league, owner) -> None:
    text = owner.get("/t/new/?game=partnership").content.decode()
    assert 'name="find"' not in text
    assert boxes(text) == {"rufo": True, "luna": False, "sol": False}, "only one's own bots are ticked"


def test_looking_for_a_bot_loses_nothing(many, owner) -> None:
    sent = {
        "name": "",
        "boards": "no number",
        "format": "swiss",
        "bots": ["rufo", "many-119"],
        "find": " SO ",
        "action": "find",
    }
    answer = owner.post("/t/new/?game=partnership", sent)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert list(boxes(text).items()) == [("many-119", True), ("rufo", True), ("sol", False)]
    assert 'value="no number"' in text
    assert re.search(r'value="swiss"[^>]* checked', text)
    assert 'value="so"' in text
    assert 'class="errors"' not in text
    assert not Tournament.objects.filter(name="").exists()


def test_looking_for_a_bot_of_an_event_keeps_its_stages(many, owner) -> None:
    sent = {"name": "Copa", "bots": ["many-119"], "stage2_format": "swiss", "find": "sol", "action": "find"}
    text = owner.post("/t/new/?game=partnership", sent).content.decode()
    assert boxes(text) == {"many-119": True, "sol": False}
    assert re.search(r'<select name="stage2_format".*?<option value="swiss" selected>', text, re.DOTALL)
    assert not Event.objects.filter(name="Copa").exists()


def test_a_bot_that_the_first_page_did_not_show_can_play(many, owner) -> None:
    sent = {"name": "Lejos", "boards": "2", "format": "round_robin", "bots": ["rufo", "many-119"], "action": "create"}
    answer = owner.post("/t/new/?game=partnership", sent)
    tournament = Tournament.objects.get(name="Lejos")
    assert answer.url == f"/t/{tournament.slug}/"
    entered = set(tournament.entries.values_list("version__bot__slug", flat=True))
    waits = set(EntryRequest.objects.filter(tournament=tournament).values_list("bot__slug", flat=True))
    assert entered | waits == {"rufo", "many-119"}


def test_a_name_that_nobody_has_is_refused_and_what_was_chosen_stays(many, owner) -> None:
    sent = {"name": "Nadie", "boards": "2", "format": "round_robin", "bots": ["rufo", "nobody", "x"]}
    answer = owner.post("/t/new/?game=partnership", sent)
    assert answer.status_code == 422
    assert boxes(answer.content.decode())["rufo"] is True


def test_boxes_alone_while_somebody_types(many, owner, reader) -> None:
    path = "/t/new/bots/?game=partnership&find=many-11&bots=rufo"
    text = owner.get(path).content.decode()
    assert boxes(text) == {"rufo": True} | {f"many-11{digit}": False for digit in range(10)}
    assert "<html" not in text
    assert "zzz" in owner.get("/t/new/bots/?game=partnership&find=zzz").content.decode()
    assert owner.get("/t/new/bots/?game=mus").status_code == 404
    assert reader.get(path).status_code == 302


def test_who_is_offered(many) -> None:
    """Own bots and those of the house come before others; those that may not enter do not come."""
    Bot.objects.filter(slug="sol").update(is_house=True)
    Bot.objects.filter(slug="many-000").update(state=BotState.PAUSED)
    BotVersion.objects.filter(bot__slug="many-001").update(status=VersionStatus.REJECTED)
    BotVersion.objects.filter(bot__slug="many-002").update(games=["bato"])
    BotVersion.objects.filter(bot__slug="many-003").update(games=["bato", "partnership"], refused=["partnership"])
    BotVersion.objects.filter(bot__slug="many-004").update(games=["partnership"])
    offered = offer("partnership", many.ana)
    names = [slug for slug, _version in offered.versions]
    assert offered.more
    assert {"rufo", "sol", "many-004"} < set(names)
    assert not {f"many-00{digit}" for digit in range(4)} & set(names)
    assert len(names) == MOST_OFFERED
    exactly = offer("partnership", many.ana, part="many-0")
    assert (len(exactly.versions), exactly.more) == (96, False)


def test_what_is_offered_costs_the_same_in_any_league(many, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(4):
        offer("partnership", many.ana)
