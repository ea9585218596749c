"""Every page in a real Chromium against the rules of axe-core (WCAG 2.2 A and AA), light and dark, at two widths; and what it weighs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.conf import settings

from engine.judging import Child
from engine.runner.table import Question
from league.domain.bots import moves, teams
from league.domain.consultations import asking as consultations
from league.domain.core import clock
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.domain.matches import sight
from league.domain.notices import following, notifying
from league.domain.operators import acting
from league.domain.people import links, rights, subscriptions
from league.domain.tables import holding, seating
from league.domain.tournaments import circuits, events, progress, releases
from league.enums import Audience, Right
from league.models import Comment, Event, Match, Report, TablePerson
from tests.league.web import weights
from tests.league.web.conftest import PATIENT_MS, League, played
from tests.league.web.test_pages import addresses, pages_of_operators
from tests.support import consulting, jobs, rows
from tests.support import league as made
from tests.support.seats import hold

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"],  # Without the rules that hold
}


@pytest.fixture
def live(browser, live_server) -> tuple[str, League]:
    league = rows.once(played)
    rights.change(league.ana, ["staff", *Right.values], give=True, why="a test", actor="operator")
    acting.act("pause", ["bot:rufo"], {}, why="a test", operator=None)
    return live_server.url, league


@pytest.fixture
def look(browser, live, client) -> Iterator[Callable[..., list[str]]]:
    """Return a function that opens an address as Ana, logged in, and lists the violations that axe finds."""
    url, league = live
    client.force_login(league.ana.user)
    session = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies[settings.SESSION_COOKIE_NAME].value}
    pages = {}

    def page_of(width: int, scheme: str) -> Any:
        """Return one page for each width and scheme, so that style sheets and scripts are fetched once and one process draws."""
        if (width, scheme) not in pages:
            # the policy of the pages forbids eval, axe's way in; it is lifted for this browser alone
            window = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme, locale="es-ES", bypass_csp=True
            )
            window.add_cookies([{**session, "url": url}])
            window.set_default_timeout(PATIENT_MS)
            pages[width, scheme] = window.new_page()
        return pages[width, scheme]

    def violations(path: str, width: int, scheme: str) -> list[str]:
        page = page_of(width, scheme)
        answer = page.goto(url + path, wait_until="networkidle" if "/m/" in path else "load")
        assert (path, weights.too_heavy(answer.text())) == (path, [])
        page.evaluate(AXE)
        result = page.evaluate("rules => axe.run(document, rules)", RULES)
        assert result["passes"], f"axe looked at nothing on {path}"
        return [
            f"{path} {width} {scheme}: {violation['id']}: {violation['help']}: {node['html'][:160]}"
            for violation in result["violations"]
            for node in violation["nodes"][:3]
        ]

    yield violations
    for opened in pages.values():
        opened.context.close()


@pytest.mark.slow
def test_no_page_breaks_a_rule_of_axe(look, live) -> None:
    views = [(1280, "light"), (360, "dark")]  # turn about, and both where most is shown
    violations = []
    for place, (name, path) in enumerate((addresses(live[1]) | pages_of_operators(live[1])).items()):
        for width, scheme in views if name in ("home", "match", "tournament", "operators") else views[place % 2 :][:1]:
            violations += look(path, width, scheme)
    assert violations == [], "\n".join(violations)


@pytest.mark.slow
def test_comments_break_no_rule(look, live) -> None:
    at = {"match": live[1].clean, "board": 1, "sitting": 0, "author": live[1].berto, "created": made.NOW}
    first = Comment.objects.create(**at, step="d1p3", text="Why not [Rb]?")
    second = Comment.objects.create(**at, step="d1p3", answers=first, text="x" * 1000)
    Report.objects.create(comment=second, reporter=live[1].ana, reason="spam", text=second.text, created=made.NOW)
    match = f"/m/{live[1].clean.public_id}/?b=1&s=0&step=d1p3&tab=talk"
    views = [
        (match, 360, "dark"),
        (match, 1280, "light"),
        (f"/talk/{second.pk}/", 360, "light"),
        ("/operators/reports/", 360, "dark"),
    ]
    assert [problem for view in views for problem in look(*view)] == []


@pytest.mark.slow
def test_teams_break_no_rule(look, live) -> None:
    league = live[1]
    team = teams.create(league.ana, "ases", now=made.NOW)
    teams.put_in(team, league.rufo.bot, player=league.ana, now=made.NOW)
    teams.invite(team, "berto", "reader", player=league.ana, now=made.NOW)
    teams.invite(teams.create(league.berto, "reyes", now=made.NOW), "ana", "owner", player=league.berto, now=made.NOW)
    moves.offer(league.luna.bot, "ana", player=league.berto, now=made.NOW)
    views = [
        ("/teams/", 360, "dark"),
        ("/teams/ases/", 320, "light"),
        ("/bots/rufo/?tab=history", 1280, "dark"),
        ("/bots/rufo/?tab=settings", 360, "light"),
    ]
    assert [problem for view in views for problem in look(*view)] == []


@pytest.mark.slow
def test_a_match_that_was_judged_breaks_no_rule_either(look, live, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    match = live[1].clean
    Match.objects.filter(status="queued").update(held_back=True)
    for kind in ("open", "fair"):
        asking.ask(match, kind, live[1].ana, now=made.NOW)
    job = jobs.ANALYSIS.claim("host:1", now=made.NOW)
    assert job is not None
    assert jobs.run(job, now=made.NOW)
    where = f"/m/{match.public_id}/?b=2&s=0&j="
    assert look(f"{where}open", 360, "dark") + look(f"{where}fair", 1280, "light") == []


@pytest.mark.slow
def test_the_answers_of_a_bot_of_the_house_break_no_rule(look, live, tmp_path) -> None:
    consulting.enter("greedy", "random")
    match = consulting.told(live[1].clean)
    Match.objects.filter(status="queued").update(held_back=True)
    for bot in ("greedy", "random"):
        consultations.ask(match, 1, 0, 0, bot, live[1].ana, now=made.NOW)
    assert consulting.carry_out(tmp_path)
    where = f"/m/{match.public_id}/?b=1&s=0"
    assert look(where, 360, "dark") + look(f"{where}&w=random&at=0", 1280, "light") == []


@pytest.mark.slow
def test_events_that_are_held_back_or_private_break_no_rule(look, live) -> None:
    league = live[1]
    stages = [{"format": "round_robin", "boards": 2}]
    document = {"name": "Velvet night", "game": "partnership", "stages": stages}
    terms = releases.ReleaseTerms(Audience.HIDDEN, release=made.later(3600), pace_s=3600)
    event = events.create(league.ana, document, [league.luna, league.sol], terms=terms, now=made.NOW)
    for match in Match.objects.filter(tournament__event=event):
        made.play(match)
        progress.advance(match.tournament, now=made.NOW)
    events.advance(event, now=made.NOW)
    private = events.create(
        league.ana, document | {"name": "4B"}, [], terms=releases.ReleaseTerms(private=True), now=made.NOW
    )
    waits, shows = f"/e/{event.slug}/", f"/e/{event.slug}/show/"
    Event.objects.filter(pk=event.pk).update(opens=sight.NEVER, shown_from=clock.present() - timedelta(minutes=90))
    paths = [waits, shows, f"/e/{private.slug}/", f"/e/{private.slug}/join/{private.invitation}/"]
    views = [(360, "dark"), (1280, "light")]
    assert [line for path in paths for view in views for line in look(path, *view)] == []


@pytest.mark.slow
def test_pages_of_the_digest_by_mail_and_of_a_league_break_no_rule(look, live, settings) -> None:
    settings.MAIL = True
    ana = live[1].ana
    links.keep_address(ana, "ana@example.org", now=clock.present())
    ana.user.refresh_from_db()
    word = subscriptions.ask(ana, language="es", site="http://x")
    paths = [f"/accounts/mail/confirm/{word}/", "/accounts/mail/", "/accounts/digest/stop/1-0/"]
    violations = [line for path in paths for line in look(path, 360, "dark")]
    subscriptions.confirm(word)
    subscriptions.choose(ana, "day", language="es", site="http://x")
    circuit = circuits.create(ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=made.NOW)
    stop = f"/accounts/digest/stop/{subscriptions.stop_word(subscriptions.find(ana))}/"
    notifying.notify([ana], "stopped", "s", now=made.NOW, bot="rufo")
    following.follow(ana, live[1].berto, now=made.NOW)
    violations += look("/follows/", 360, "dark") + look("/notices/", 360, "dark")
    for path in ("/accounts/mail/", "/notices/", "/notices/ways/", stop, f"/c/{circuit.slug}/"):
        violations += look(path, 1280, "light")
    assert violations == []


@pytest.mark.slow
def test_a_table_of_a_person_breaks_no_rule(look, live) -> None:
    made.accepted(live[1].ana, "lince", games=["partnership"])
    row = seating.sit(live[1].ana, "partnership", "lince")
    where = f"/tables/{row.public_id}/"
    violations = look(where, 360, "light")
    lease, _ = hold(row)
    violations += look(where, 360, "dark") + look(where, 1280, "light")
    number = len(holding.taken(row)) + 1
    seating.act(live[1].ana, row.public_id, 0, TablePerson.objects.get().legal[0])
    legal = ["discard", "discard 1o", "pass", *(f"bid {points}" for points in range(50, 100, 5))]
    holding.ask(lease, Question(number, 1, legal, ["1o", "3c"], [], [[1, 0, 1, 0]]), [])
    assert violations + look(where, 360, "dark") == []


@pytest.mark.slow
def test_axe_finds_what_is_wrong(browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENT_MS)
    page.set_content("<html><body><img src='x.png'><p style='color:#ccc;background:#fff'>faint</p></body></html>")
    page.evaluate(AXE)
    ids = {violation["id"] for violation in page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]}
    page.close()
    assert {"image-alt", "color-contrast", "html-has-lang"} <= ids
