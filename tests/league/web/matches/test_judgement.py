"""A judgement on the page of its match: who may ask, what stands there meanwhile, and what it says when it is done."""

from __future__ import annotations

import re
from functools import partial

import pytest

from engine.judging import Child
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking, bodies, reading
from league.domain.matches import embargoes
from league.models import Judgement, Match
from league.web.matches import judging
from tests.league.web.page import Page, faults, text
from tests.support import jobs
from tests.support.league import NOW
from tests.support.parts import mostly_slow


@pytest.fixture(autouse=True)
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))


def judged(match: Match, player, kind: str = "open") -> Judgement:
    """Request a judgement of `match`, carry it out and return it."""
    row, _created = asking.ask(match, kind, player, now=NOW)
    Match.objects.filter(status="queued").update(held_back=True)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    assert jobs.run(job, now=NOW)
    row.refresh_from_db()
    return row


def test_a_match_is_judged_by_a_button(league, reader, owner) -> None:
    where = f"/m/{league.clean.public_id}/"
    assert "Inicia sesión para analizar esta partida" in text(reader, where)
    assert "El límite habitual es de 20 partidas al día; tu cuenta muestra cuántas llevas" in text(owner, where)
    assert reader.post(f"{where}judge/", {"kind": "open"}).url.startswith("/accounts/login/")
    assert owner.post(f"{where}judge/", {"kind": "odd"}).status_code == 404
    assert owner.get(f"{where}judge/").status_code == 405

    answer = owner.post(f"{where}judge/", {"kind": "fair", "b": "1", "s": "0"})
    assert answer.url == f"{where}?b=1&s=0&j=fair#judgement"
    waits = owner.get(answer.url).content.decode()
    assert "El resultado aparecerá en esta página" in waits
    assert re.search(r'data-live="[^"]*judgements', waits)
    assert "Analizar esta partida" in text(owner, f"{where}?j=open"), "the other way is another judgement"

    refused = owner.post(f"/m/{league.next_cup.slug}/judge/", {"kind": "open"})
    assert refused.status_code == 404
    Judgement.objects.update(status="failed", reason="<b>broken</b>")
    assert "El análisis ha fallado: <b>broken</b>" in text(owner, f"{where}?j=fair")


@pytest.mark.parametrize("kind", mostly_slow(["open", "fair"], "open".__eq__))
def test_what_was_judged_stands_under_the_table(league, reader, kind: str) -> None:
    match = league.clean
    row = judged(match, league.ana, kind)
    every = reading.placed(bodies.unpack(bytes(row.body)), reading.seatings(row))
    worst = reading.costliest(every, "points", 1)[0]
    where = f"/m/{match.public_id}/?b={worst.board}&s={worst.sitting}&j={kind}"
    html = reader.get(where).content.decode()
    page = Page(html)

    assert faults(page) == []
    assert "style=" not in html[html.index('id="judgement"') :]
    links = re.findall(r'<a href="#(d\d+p\d+)" class="at ([a-z ]*)"', html)
    here = [place for place in every if (place.board, place.sitting) == (worst.board, worst.sitting)]
    assert [anchor for anchor, _mark in links] == [
        judging.anchor(place) for place in here if place.verdict.lost is not None
    ]
    assert all(f'<li id="{anchor}" class="play' in html for anchor, _mark in links)
    assert [mark.strip() for _anchor, mark in links] == [
        place.mark("points") for place in here if place.verdict.lost is not None
    ]
    assert f"b={worst.board}&amp;s={worst.sitting}&amp;j={kind}#{judging.anchor(worst)}" in html
    assert f"{row.judged} de {row.decisions} decisiones analizadas" in text(reader, where)
    assert ("polyline" in html) == (kind == "open")
    assert re.search(r"\d,\d\d\s+± \d", html), "means with their margins"

    lined = [place for place in here if place.verdict.line]
    assert bool(lined) == (kind == "open") == ("Mejores continuaciones" in html)
    if lined:
        assert lined[0].verdict.lost
        details = html[html.index('<details class="more lines">') :]
        assert details.index(f'href="#{judging.anchor(lined[0])}"') < details.index("</details>")
        assert lined[0].verdict.line[0].action == lined[0].verdict.best[0]
        rest = judging.moves_text(lined[0], ["w", "x", "y", "z"]).split("; ")
        assert len(rest) == len(lined[0].verdict.line)

    other = "fair" if kind == "open" else "open"
    assert '<svg class="chart"' not in reader.get(f"/m/{match.public_id}/?j={other}").content.decode()
    embargoes.change(match, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    assert "judgement" not in reader.get(f"/m/{match.public_id}/?j={kind}&").content.decode()


@pytest.mark.slow
def test_a_damaged_judgement_is_said_to_be_so(league, reader) -> None:
    row = judged(league.clean, league.ana)
    Judgement.objects.filter(pk=row.pk).update(body=b"rubbish")
    assert "Este análisis está dañado" in text(reader, f"/m/{league.clean.public_id}/")
