"""The page of a match: its names and letters, the words for its result, and the way from a step to the editor."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import partial

from django.contrib.auth.models import User
from django.template import Context, Template
from django.test import Client

from engine.runner import Limits
from league.domain.matches import embargoes
from league.domain.people import players
from league.models import Match, Party, RatingPoint
from tests.league.web.conftest import put, record
from tests.league.web.page import text as page_text
from tests.support import league as made

LIST = Template('{% include "matches/parts/match_list.html" %}')

text = partial(page_text, lang="en")


def between_versions(league) -> Match:
    """Return a finished match of rufo's two versions."""
    second = made.accepted(league.ana, "rufo")
    return made.play(made.started(league.ana, [league.rufo, second], name="Versions").matches.get())


def test_two_versions_of_one_bot_are_told_apart_in_the_title_and_in_lists(league, reader) -> None:
    match = between_versions(league)
    page = reader.get(f"/m/{match.public_id}/").content.decode()
    assert "<title>rufo v1 – rufo v2" in page
    rows = reader.get("/m/").content.decode()
    assert re.search(r">rufo v1</a>.*>rufo v2</a>", rows, re.S)
    assert 'aria-label="Ver rufo v1 – rufo v2"' in rows


def test_nobody_is_drawn_bold_after_a_draw(league) -> None:
    match = league.clean
    Party.objects.filter(match=match).update(wins=1, draws=0, losses=1)
    assert "<strong>" not in LIST.render(Context({"matches": [match]}))
    Party.objects.filter(match=match, number=0).update(wins=2, losses=0)
    assert LIST.render(Context({"matches": [Match.objects.get(pk=match.pk)]})).count("<strong>") == 1


def test_a_change_of_rating_has_a_sign_and_a_loser_who_gains_is_explained(league, reader) -> None:
    match = league.clean
    where = f"/m/{match.public_id}/"
    loser, winner = match.parties.order_by("wins", "points")
    RatingPoint.objects.filter(match=match, version=loser.version).update(change=-8.0)
    RatingPoint.objects.filter(match=match, version=winner.version).update(change=8.0)
    page = text(reader, where)
    assert "The loser of a match can gain rating" not in page
    assert "+8.0" in page
    assert "−8.0" in page
    heads = re.findall(r"<th[^>]*>(.*?)</th>", reader.get(where).content.decode(), re.S)
    assert not any("±" in head for head in heads), "± is only a margin"
    RatingPoint.objects.filter(match=match, version=loser.version).update(change=151.5)
    assert "The loser of a match can gain rating" in text(reader, where)


def test_seats_have_letters_and_the_protocol_is_named_once(league, reader, owner) -> None:
    messages = {"pass": {"boards": [1], "limits": asdict(Limits()), "seeds": [1, 2, 3, 4]}}
    put(league.faulty, {**record("partnership", "letters", deals=1), **messages})
    page = text(owner, f"/m/{league.faulty.public_id}/")
    assert "Seats A" in page
    assert page.count("Seats A are pass 0 there, and seat 1 is seat 0") == 1
    strange = text(reader, f"/m/{league.faulty.public_id}/")
    assert "pass 0" not in strange
    assert "Seating 1" not in strange


def test_files_stand_behind_one_button(league, reader) -> None:
    page = reader.get(f"/m/{league.clean.public_id}/").content.decode()
    files = page[page.index('<details class="files">') :]
    files = files[: files.index("</details>")]
    for name in (".txt", ".txt?b=1", ".jsonl", "/api/v1/matches/"):
        assert name in files
    assert page.count(f"{league.clean.public_id}.jsonl") == 1


def test_a_step_opens_in_the_editor_for_the_owner_of_the_bot_alone(league, reader, owner) -> None:
    match = league.faulty
    put(match, record("partnership", "open", deals=1))
    where = f"/m/{match.public_id}/open/?b=1&s=0"
    assert reader.get(where).url.startswith("/accounts/login/")
    players.create("zoe", now=made.NOW)
    stranger = Client()
    stranger.force_login(User.objects.get(username="zoe"))
    assert stranger.get(where).status_code == 404
    seat = (
        match.boards.get(number=1).sittings.get(number=0).seating.index(match.parties.get(version=league.rufo).number)
    )

    first = owner.get(where)
    assert first.status_code == 302
    assert first.url.startswith(f"/editor/?at={match.public_id}.1.0.")
    page = owner.get(f"/m/{match.public_id}/").content.decode()
    steps = re.findall(r'<li id="(d1p\d+)" class="play[^"]*" data-seat="(\d)"', page)
    later = [anchor for anchor, at in steps if int(at) == seat][3]
    at = re.search(r"at=([\w.]+)", owner.get(f"{where}&at={later}").url)
    assert at is not None
    _match, _board, _sitting, opened, step = at[1].split(".")
    assert int(opened) % 2 == seat % 2, "her side of the table"
    assert int(step) > 3
    assert owner.get(f"{where}&at=rubbish").url == first.url
    assert "max-age=0" in first["Cache-Control"]
    embargoes.change(match, made.NOW.replace(year=2126), why="a final", actor="eva", now=made.NOW)
    assert owner.get(where).url == f"/m/{match.public_id}/?b=1&s=0"


def test_the_trump_stands_on_the_page_of_a_board(league, reader) -> None:
    replay = record("partnership", "trump", deals=1)
    put(league.clean, replay)
    page = reader.get(f"/m/{league.clean.public_id}/b/1/", headers={"accept-language": "en"}).content.decode()
    assert '<p class="trumps"><strong>Trump</strong>' in page or "Seats B" in page
    names = set(re.findall(r'<span\s+class="soft small">([a-z]+ \d)</span>', page))
    assert len(names) == 4, "each card stands beside the name of its seat, not beside a digit"
