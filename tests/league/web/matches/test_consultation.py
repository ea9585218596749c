"""A house bot's decisions on the page of a match: who may ask, what the page shows meanwhile, and the marks of the steps."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.consultations import asking, reading
from league.domain.matches import embargoes
from league.models import Consultation, Match
from league.web.matches import judging
from tests.league.web.page import Page, faults, text
from tests.support import consulting
from tests.support.league import NOW


@pytest.fixture
def match(league) -> Match:
    """Two boards; greedy and random are of the house."""
    consulting.enter("greedy", "random")
    return consulting.told(league.clean)


def answered(match: Match, player, folder, bot: str = "greedy", seat: int = 0) -> Consultation:
    """Return the finished consultation of a bot at a seat of the first sitting."""
    row, _created = asking.ask(match, 1, 0, seat, bot, player, now=NOW)
    Match.objects.filter(status="queued").update(held_back=True)
    assert consulting.carry_out(folder)
    row.refresh_from_db()
    return row


def test_a_bot_is_asked_by_a_button(match, league, reader, owner) -> None:
    where = f"/m/{match.public_id}/"
    assert "Inicia sesión para preguntar a un bot de la casa" in text(reader, where)
    form = owner.get(where).content.decode()
    assert re.findall(r"<option[^>]*>(greedy|random|rufo)</option>", form) == ["greedy", "random"]
    choice = {"b": "1", "s": "0", "bot": "greedy", "seat": "2"}
    assert reader.post(f"{where}consult/", choice).url.startswith("/accounts/login/")
    assert owner.get(f"{where}consult/").status_code == 405
    for missing in ("b", "s", "seat"):
        assert owner.post(f"{where}consult/", {**choice, missing: "x"}).status_code == 404
    assert owner.post("/m/zzzzzzzzzz/consult/", choice).status_code == 404
    assert not Consultation.objects.exists()

    answer = owner.post(f"{where}consult/", choice)
    assert answer.url == f"{where}?b=1&s=0&w=greedy&at=2#consultation"
    waits = owner.get(answer.url).content.decode()
    assert "Las respuestas aparecerán en esta página" in waits
    assert re.search(r'data-live="[^"]*judgements', waits)
    refused = owner.post(f"{where}consult/", {**choice, "bot": "rufo"}, follow=True).content.decode()
    assert "no es un bot de la casa que juegue a partnership; elige uno de estos: greedy, random" in refused
    Consultation.objects.update(status="failed", reason="<b>broken</b>")
    assert "greedy v1 no pudo responder: <b>broken</b>. Puedes volver a pedirlo dentro de 30 días." in text(
        owner, f"{where}?b=1&s=0"
    )


@pytest.mark.slow
def test_each_step_of_the_seat_tells_what_the_bot_would_have_done(match, league, reader, owner, tmp_path) -> None:
    row = answered(match, league.ana, tmp_path)
    where = f"/m/{match.public_id}/?b=1&s=0"
    html = reader.get(where).content.decode()

    assert faults(Page(html)) == []
    answers = reading.answers(row)
    steps = re.findall(r'<li id="(d\d+p\d+)"(.*?)</li>', html, re.DOTALL)
    classes = {anchor: re.findall(r'<span class="(would[a-z ]*)">', rest) for anchor, rest in steps}
    marks = {anchor: words[0] for anchor, words in classes.items() if words}
    assert marks == {answer.anchor: "would unlike" if answer.differs else "would" for answer in answers}
    different = [answer for answer in answers if answer.differs]
    assert f"greedy v1 habría decidido otra cosa en {len(different)} de {len(answers)} casos" in text(reader, where)
    assert f"greedy: {judging.action_name(different[0].would)}" in text(reader, where)
    here = Page(reader.get(f"{where}&step={different[0].anchor}&tab=ask").content.decode())
    assert faults(here) == []
    assert f"Greedy v1 {judging.action_name(different[0].would)}" in here.text
    section = html[html.index('id="consultation"') :]
    assert re.findall(r'<li><a href="#(d\d+p\d+)">', section)[: len(different)] == [
        answer.anchor for answer in different
    ]
    assert 'class="would' not in reader.get(f"/m/{match.public_id}/?b=1&s=1").content.decode(), "another sitting"

    answered(match, league.ana, tmp_path, "random", 1)
    newest, chosen = text(reader, where), text(reader, f"{where}&w=greedy&at=0")
    assert "random v1 habría decidido otra cosa" in newest
    assert "greedy v1 habría decidido otra cosa" in chosen
    reader.get(where)
    with CaptureQueriesContext(connection) as queries:
        reader.get(f"{where}&w=greedy&at=1")
    reads = [query["sql"] for query in queries if "league_consultation" in query["sql"]]
    assert len(reads) == 1, reads

    Consultation.objects.update(answers=[[1]])
    assert "Estas respuestas están dañadas" in text(owner, f"{where}&")
    embargoes.change(match, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    assert "consultation" not in reader.get(f"{where}&w=greedy").content.decode()
