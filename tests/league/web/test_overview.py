"""The page of operators: what it says of a league in trouble, what its search finds, what it knows of a person, and how an act is undone."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.audits import cases
from league.domain.core import clock, journal, search_words
from league.domain.core.errors import Refused
from league.domain.judgements import asking
from league.domain.matches import workers
from league.domain.operators import acting, searching
from league.domain.operators.actions import ACTIONS
from league.domain.operators.overview import Guide, Urgency, overview
from league.domain.people import bans, links, players, rights, tokens
from league.domain.tables import seating
from league.domain.upkeep import invariants, schedulers
from league.enums import Right
from league.models import (
    Case,
    Comment,
    Job,
    Judgement,
    Match,
    Notice,
    Party,
    Passkey,
    Report,
    Subscription,
    Table,
    Worker,
)
from league.web.operators import people, views
from tests.league.web.page import Page
from tests.support import league as made

ENGLISH = {"accept-language": "en"}
WHY = {"why": "a test", "actor": "operator"}
LATER = timedelta(hours=1)


@pytest.fixture
def olga(db) -> Client:
    """An operator with every right."""
    player = players.create("olga", staff=True, now=made.NOW)
    rights.change(player, Right.values, give=True, **WHY)
    client = Client(headers=ENGLISH)
    client.force_login(player.user)
    return client


def signs() -> dict[str, Urgency]:
    """Return the sentences of the overview with their urgencies."""
    state = overview()
    return {str(sign.what): sign.urgency for sign in (*state.stuck, *state.failing, *state.growing, *state.calm)}


def urgency(part: str) -> Urgency | None:
    return next((urgent for text, urgent in signs().items() if part in text), None)


def no_worker(league) -> None:
    Worker.objects.all().delete()
    queued(league)


def queued(league) -> Match:
    """Queue a finished match once more, as a row."""
    Match.objects.filter(pk=league.clean.pk).update(
        status="queued", finished=None, created=clock.present() - timedelta(hours=2)
    )
    return league.clean


def overdue(league) -> None:
    Match.objects.filter(pk=queued(league).pk).update(
        status="running", worker="w1", lease_until=clock.present() - timedelta(minutes=5)
    )


def paused(league) -> None:
    Match.objects.filter(pk=queued(league).pk).update(
        not_before=clock.present() + timedelta(hours=1), reason="attempt 2: no disk"
    )


def void(league) -> None:
    Match.objects.filter(pk=league.clean.pk).update(
        status="void", finished=clock.present(), reason="void after 5 attempts; the last one failed: worker 7 was lost"
    )


def silent_scheduler(league) -> None:
    schedulers.register("host:1", now=clock.present() - timedelta(hours=1))


def lost_worker(league) -> None:
    workers.register("host:2", tier="landlock", now=clock.present() - timedelta(minutes=5))
    workers.register("host:3", tier="landlock")


def refusing_worker(league) -> None:
    workers.register("host:2", tier="", refusal="the sandbox does not hold")


def unsent_mail(league) -> None:
    user = league.ana.user
    user.email = "ana@example.org"
    user.save()
    now = clock.present()
    Subscription.objects.create(
        player=league.ana, address=user.email, confirmed=now, period="day", tries=3, due=now + timedelta(hours=1)
    )


def unsent_notice(league) -> None:
    now = clock.present()
    Notice.objects.create(player=league.ana, kind="failed", about="x", text="paused", created=now, due=now + LATER)


def unsent_link(league) -> None:
    for _number in range(5):
        links.note_unsent(league.ana)


def failed_analysis(league) -> None:
    row, _fresh = asking.ask(league.clean, "open", league.ana)
    Job.objects.all().delete()
    Judgement.objects.filter(pk=row.pk).update(status="failed", finished=clock.present(), reason="no room")


def pausing_job(league) -> None:
    asking.ask(league.clean, "open", league.ana)
    Job.objects.update(attempts=1, not_before=clock.present() + LATER, reason="no disk")


def broken_row(league) -> None:
    findings = [{"check": "sums", "subject": "pool:1", "what": "boards are missing", "do": "rebuild"}]
    journal.append("league.checked", "league", now=clock.present(), count=1, whole=True, findings=findings)


def full_disk(league) -> None:
    workers.register("host:2", tier="landlock")
    Worker.objects.update(free_mb=10)


def waiting_table(league) -> None:
    Job.objects.create(kind="table", table=seat(league), created=clock.present() - timedelta(minutes=5))


def seat(league) -> Table:
    seating.sit(league.berto, "partnership", "luna")
    Job.objects.filter(kind="table").delete()
    return Table.objects.get()


def standing_still(league) -> None:
    queued(league)
    workers.register("host:2", tier="landlock")


def retried(league) -> None:
    Match.objects.filter(pk=league.clean.pk).update(attempts=3)


def failing_bots(league) -> None:
    Party.objects.update(fault="timeout")


TROUBLES = {
    no_worker: ("No worker is running", Urgency.NOW),
    overdue: ("past its deadline", Urgency.NOW),
    paused: ("pause after a failed attempt, the longest for another 59 min: attempt 2: no disk", Urgency.SOON),
    void: ("Void in the last day: 1. worker # was lost", Urgency.SOON),
    silent_scheduler: ("took its last step 60 min ago", Urgency.NOW),
    lost_worker: ("Workers that stopped reporting: 1 (host:2)", Urgency.SOON),
    refusing_worker: ("host:2 says: the sandbox does not hold", Urgency.NOW),
    unsent_mail: ("Mail could not be sent", Urgency.SOON),
    unsent_notice: ("Mail could not be sent", Urgency.SOON),
    unsent_link: ("letters with a link that the mail server did not take, 5", Urgency.SOON),
    failed_analysis: ("Analyses and consultations that failed in the last day: 1", Urgency.SOON),
    pausing_job: ("Jobs pause after a failed attempt, the longest for another 59 min: no disk", Urgency.SOON),
    broken_row: ("pool:1: boards are missing", Urgency.NOW),
    full_disk: ("Free on the disk of a worker: 0.0 GB", Urgency.NOW),
    waiting_table: ("Waiting, jobs of kind table: 1", Urgency.NOW),
    standing_still: ("Waiting, matches: 1; the oldest for 2 h", Urgency.SOON),
    retried: ("needed more than one attempt", Urgency.SOON),
    failing_bots: ("Faults of bots in the latest", Urgency.SOON),
}


BUTTONS = (unsent_mail, unsent_notice, failed_analysis, pausing_job)


def test_each_trouble_is_seen_with_its_urgency_and_a_remedy(league, settings) -> None:
    settings.MAIL = True
    for trouble, (text, urgent) in TROUBLES.items():
        with transaction.atomic():
            trouble(league)
            assert (trouble.__name__, urgency(text)) == (trouble.__name__, urgent)
            state = overview()
            order = [sign.urgency for sign in state.stuck]
            assert order == sorted(order)
            for sign in (*state.stuck, *state.failing, *state.growing):
                assert sign.do is not None, sign
                assert sign.action in ACTIONS or sign.guide, sign
            if trouble in BUTTONS:
                [subject] = next(sign.subjects for sign in (*state.stuck, *state.failing) if text in str(sign.what))
                assert acting.act("retry", [subject], {}, why="mended", operator=None).effects
                assert trouble is unsent_mail or urgency(text) is None, "it waits until the next pass"
                assert not acting.act("retry", [subject], {}, why="mended", operator=None).effects
            transaction.set_rollback(True)


def test_each_guide_has_a_page_with_its_section(olga: Client) -> None:
    assert set(views.GUIDES) == set(Guide)
    for guide in Guide:
        path, _hash, section = views._guide(guide)[1].partition("#")
        answer = olga.get(path)
        assert (path, answer.status_code) == (path, 200)
        assert not section or f'id="{section}"' in answer.content.decode(), (path, section)


def test_the_page_has_the_button_and_the_button_helps(league, olga: Client) -> None:
    """A match that nobody took back: the page names it, its button asks for a reason, shows what would happen, and then does it."""
    overdue(league)
    page = Page(olga.get("/operators/").content.decode())
    assert "One thing" in page.text or "things cannot wait" in page.text
    [address] = {link for link in page.links if link.startswith("/operators/retry/?")}
    sent = {"subjects": f"match:{league.clean.public_id}", "why": "the host was switched off"}
    assert olga.get(address).context["form"].initial["subjects"] == sent["subjects"]
    assert olga.post(address, sent | {"why": "", "step": "look"}).status_code == 422
    assert "back from w1" in olga.post(address, sent | {"step": "look"}).content.decode()
    assert olga.post(address, sent | {"step": "do"}).status_code == 302
    assert (Match.objects.get(pk=league.clean.pk).status, urgency("A worker is past")) == ("queued", None)
    assert "Cannot be undone" in Page(olga.get("/operators/").content.decode()).text


def test_the_most_urgent_section_stands_first(league, olga: Client) -> None:
    paused(league)
    broken_row(league)
    workers.register("host:2", tier="landlock")
    schedulers.register("host:1")
    titles = [title for title, _signs in olga.get("/operators/").context["sections"]]
    assert titles.index("Failing") < titles.index("Stuck")


def test_an_act_is_undone_from_the_list_with_a_reason_of_its_own(league, olga: Client) -> None:
    acting.act("quota", ["ana"], {"limit": "bots", "value": "50"}, why="a class", operator=None)
    acting.act("quota", ["ana"], {"limit": "bots", "value": "60"}, why="a bigger one", operator=None)
    address = next(link for link in Page(olga.get("/operators/").content.decode()).links if "value=" in link)
    assert parse_qs(urlsplit(address).query) == {"subject": ["player:ana"], "limit": ["bots"], "value": ["50"]}
    form = olga.get(address).context["form"]
    assert (form["value"].value(), form["limit"].value()) == ("50", "bots")


def new_case(league) -> Case:
    who = {"pool": league.pool, "loser": league.ana, "winner": league.berto, "created": made.NOW}
    return Case.objects.create(**who, boards=9, points=1, expected=4, deviations=5)


def test_a_case_is_not_opened_beside_another(league) -> None:
    first = new_case(league)
    cases.close(first, conclusion="honest", **WHY)
    new_case(league)
    with pytest.raises(Refused, match="an open case already"):
        cases.reopen(first, **WHY)


def test_both_kinds_of_open_cases_are_one_list(league, olga: Client) -> None:
    case = new_case(league)
    assert "Open cases (1)" in Page(olga.get("/operators/").content.decode()).text
    page = Page(olga.get("/operators/cases/").content.decode())
    assert "ana against berto" in page.text
    assert f"/operators/conclude/?subject=case%3A{case.pk}" in [*page.links]


def test_the_search_finds_every_subject_by_index(league, olga: Client) -> None:
    token, key = tokens.create(league.ana, "laptop")
    table = seat(league)
    job = Job.objects.create(kind="table", table=table, created=made.NOW)
    workers.register("host:2", tier="landlock")
    match = league.clean.public_id
    exact = {
        "ana": "player:ana",
        "rufo": "bot:rufo",
        "rufo v1": f"version:{league.rufo.pk}",
        f"https://league.example/m/{match}/b/1/": f"match:{match}",
        "/bots/rufo/v1/": f"version:{league.rufo.pk}",
        match: f"match:{match}",
        "tournament:cup": "tournament:cup",
        table.public_id: f"table:{table.public_id}",
        f"job:{job.pk}": f"job:{job.pk}",
        key[:20]: "player:ana",
        token.prefix: "player:ana",
        "host:2": "worker:host:2",
    }
    for text, subject in exact.items():
        answer = olga.get("/operators/", {"q": text})
        assert (text, parse_qs(urlsplit(answer.get("location", "")).query).get("subject")) == (text, [subject])
    assert olga.get(f"/operators/?subject=table:{table.public_id}").status_code == 200
    assert "rufo" in Page(olga.get("/operators/", {"q": "ru"}).content.decode()).text
    for text in ("999999", "x" * 300, "job:9" * 40, "'; --", "version:", "://", "/", "m/", "x v99999999999"):
        assert not searching.search(text)
    for text in (*exact, "ru", "nobody"):
        with CaptureQueriesContext(connection) as queries:
            searching.search(text)
        assert len(queries) <= 19 + 5 * len(search_words.split(text))
        for query in queries:
            plan = (
                connection.cursor().execute(f"EXPLAIN QUERY PLAN {query['sql']}").fetchall()
                if connection.vendor == "sqlite"
                else []
            )
            assert not [row for row in plan if str(row[-1]).startswith("SCAN") and "CONSTANT" not in str(row[-1])], (
                query["sql"]
            )


def test_the_page_of_a_person_has_all_that_they_did(league, olga: Client) -> None:
    tokens.create(league.ana, "laptop")
    Match.objects.filter(pk=league.clean.pk).update(owner=league.ana, kind="challenge", tournament=None)
    seating.sit(league.ana, "partnership", "rufo")
    Client().force_login(league.ana.user)
    Passkey.objects.create(player=league.ana, name="my phone", credential="x", created=made.NOW)
    expected = {
        "bots": "rufo",
        "versions": "rufo v1",
        "matches": league.clean.public_id,
        "tournaments": "Next cup",
        "tables": Table.objects.get().public_id,
        "keys": "laptop",
        "passkeys": "my phone",
        "did": "tournament.created",
        "journal": "player.created",
        "decisions": "quota.set",
        "sessions": "?",
        "limits": "50",
        "events": "Nothing here",
        "circuits": "Nothing here",
        "tries": "Nothing here",
        "comments": "what a swindle",
        "reports": "insult or threat",
    }
    comment = Comment.objects.create(author=league.ana, tournament=league.cup, text="what a swindle", created=made.NOW)
    Report.objects.create(comment=comment, reporter=league.ana, reason="insult", created=made.NOW)
    assert set(expected) == {*people.LISTS, "sessions", "limits"}
    acting.act("quota", ["ana"], {"limit": "bots", "value": "50"}, why="a class", operator=None)
    for name, text in expected.items():
        answer = olga.get("/operators/", {"subject": "player:ana", "list": name})
        assert (name, text in answer.content.decode()) == (name, True)
    bans.ban(league.ana, **WHY)
    assert "Banned permanently: a test" in Page(olga.get("/operators/?subject=player:ana").content.decode()).text
    for text in (
        "player:nobody",
        "bot:",
        "nothing",
        "match:zzz",
        "case:x",
        "version:1",
        "table:a b",
        "circuit:",
        "try:/",
        "x" * 200,
    ):
        assert olga.get("/operators/", {"subject": text, "list": "x", "cursor": "x"}).status_code == 200


def test_more_rows_cost_the_overview_no_more_queries(league, olga: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            overview()
        return len(queries)

    few = count()
    Match.objects.filter(pk=league.clean.pk).update(attempts=F("attempts") + 2)
    for trouble in (void, lost_worker, broken_row):
        trouble(league)
    invariants.last_result()
    assert count() <= few <= 18
