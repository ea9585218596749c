"""Open bots: publishing a source, readers, and bots that come from it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engine.packages import archive
from league.domain.bots import bots, closing, house, languages, sources
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.upkeep import reconcile
from league.enums import ClassRole, Licence, TournamentStatus
from league.models import Assignment, Bot, BotVersion, ClassMember, HandIn, LeagueEvent, Player, SchoolClass, Tournament
from tests.support.league import NOW, accepted, later, source, started

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def publish(version: BotVersion, **how) -> None:
    sources.publish(version, Licence.MIT, actor="ana", now=NOW, **how)


def readers(version: BotVersion, *people: Player | None) -> list[bool]:
    return [sources.find(player, version.bot.slug, version.number) is not None for player in people]


@pytest.fixture
def rufo(ana) -> BotVersion:
    return accepted(ana, "rufo")


def test_what_is_published_stays_published(ana, berto, rufo) -> None:
    otto = players.create("otto", staff=True)
    everybody = (ana, berto, otto, None)
    assert readers(rufo, *everybody) == [True, False, False, False]
    publish(rufo)
    publish(rufo)
    assert readers(rufo, *everybody) == [True] * 4
    assert (rufo.opened, rufo.licence) == (NOW, "MIT")
    assert LeagueEvent.objects.filter(kind="version.opened", subject="bot:rufo").count() == 1
    with pytest.raises(Refused, match="published under MIT"):
        sources.publish(rufo, Licence.GPL, actor="ana", now=NOW)
    with pytest.raises(Refused, match="stays so"):
        sources.drop_plan(rufo, actor="ana", now=NOW)
    for columns in ({"owner_banned": True}, {"state": "retired"}):
        Bot.objects.filter(slug="rufo").update(**columns)
        assert readers(rufo, None) == [True]
    bots.stop(rufo.bot, why="stolen", actor="otto", now=NOW)
    assert readers(rufo, *everybody) == [True, False, False, False]
    bots.release(rufo.bot, why="it is hers", actor="otto", now=NOW)
    closing.close(ana, now=NOW)
    assert readers(rufo, None) == [True], "it is used under its licence"


@pytest.mark.parametrize(
    ("columns", "how", "why"),
    [
        ({"status": "rejected"}, {}, "not accepted"),
        *(({"runtime": runtime}, {}, "machine code") for runtime in ("binary", "java", "mono", "wasm")),
        ({"bot": {"in_class": True}}, {}, "only your class"),
        ({"bot": {"stopped": NOW}}, {}, "suspended"),
        ({"bot": {"owner_banned": True}}, {}, "suspended"),
        ({}, {"at": NOW}, "next 366 days"),
        ({}, {"at": NOW + 400 * DAY}, "next 366 days"),
        ({}, {"after": "tournament:nothing"}, "that has not finished"),
        ({}, {"at": NOW + DAY, "after": "tournament:cup"}, "either"),
    ],
)
def test_what_cannot_be_published(rufo, columns, how, why) -> None:
    Bot.objects.update(**columns.get("bot", {"held_at": None}))
    BotVersion.objects.update(**{name: value for name, value in columns.items() if name != "bot"} or {"fault": ""})
    with pytest.raises(Refused, match=why):
        publish(rufo, **how)
    rufo.refresh_from_db()
    assert (rufo.opened, rufo.opens, rufo.opens_after, rufo.licence) == (None, None, "", "")
    with pytest.raises(Refused, match="choose a licence"):
        sources.publish(rufo, "mine", actor="ana", now=NOW)


def test_a_source_is_published_on_its_date_unless_the_plan_is_dropped(ana, rufo) -> None:
    publish(rufo, at=NOW + DAY)
    assert readers(rufo, None) == [False]
    assert sources.publish_due(now=NOW + DAY / 2) == 0
    sources.drop_plan(rufo, actor="ana", now=NOW)
    sources.drop_plan(rufo, actor="ana", now=NOW)
    assert sources.publish_due(now=NOW + DAY) == 0
    publish(rufo, at=NOW + DAY)
    Bot.objects.update(owner_banned=True)
    assert sources.publish_due(now=NOW + DAY) == 0, "a banned owner's plan waits"
    Bot.objects.update(owner_banned=False)
    assert reconcile.reconcile(now=NOW + DAY).published == 1
    assert sources.publish_due(now=NOW + DAY) == 0
    rufo.refresh_from_db()
    assert (rufo.opened, rufo.opens) == (NOW + DAY, None)


def test_a_closed_account_publishes_nothing_more(ana, rufo) -> None:
    publish(rufo, at=NOW + DAY)
    closing.close(ana, now=NOW)
    assert sources.publish_due(now=NOW + 2 * DAY) == 0
    assert readers(rufo, None) == [False]


@pytest.mark.parametrize(("status", "count"), [("running", 0), ("finished", 1), ("cancelled", 0)])
def test_a_source_is_published_after_its_tournament_has_finished(ana, berto, rufo, status, count) -> None:
    cup = started(ana, [rufo, accepted(berto, "luna")])
    assert sources.choices(rufo) == [(f"tournament:{cup.slug}", "Cup")]
    publish(rufo, after=f"tournament:{cup.slug}")
    Tournament.objects.update(status=TournamentStatus(status))
    assert sources.publish_due(now=later(5)) == count
    rufo.refresh_from_db()
    assert (rufo.opened is not None) is bool(count)


@pytest.mark.parametrize(("late_percent", "after_due"), [(0, True), (50, False)])
def test_what_is_handed_in_is_published_after_the_assignment(ana, berto, rufo, late_percent, after_due) -> None:
    row = SchoolClass.objects.create(slug="trufas", name="Trufas", places=40, created=NOW)
    member = ClassMember.objects.create(school_class=row, player=ana, name="Ana", role=ClassRole.STUDENT, joined=NOW)
    cup = started(berto, [accepted(berto, "luna"), accepted(berto, "sol")])
    terms = {"rule": "better", "attempts": 3, "marks": 10, "clean_marks": 0, "place_marks": 0, "is_extra": False}
    task = Assignment.objects.create(
        school_class=row, number=1, title="First", pool=cup.pool, rival=rufo, opens=NOW, due=NOW + DAY, secret=b"",
        late_percent=late_percent, created=NOW, **terms,
    )  # fmt: skip
    HandIn.objects.create(assignment=task, member=member, attempt=1, version=rufo, created=NOW, is_late=False)
    with pytest.raises(Refused, match="handed in"):
        publish(rufo)
    publish(rufo, at=NOW + DAY / 2)
    assert sources.publish_due(now=NOW + DAY / 2) == 0
    assert sources.publish_due(now=NOW + 2 * DAY) == int(after_due)
    SchoolClass.objects.update(archived=NOW)
    assert sources.publish_due(now=NOW + 2 * DAY) == int(not after_due)


def test_a_fork_names_its_origin_on_every_way(ana, berto, rufo) -> None:
    text = languages.text_of(rufo)
    fork = sources.forked_text(rufo, text)
    assert fork.splitlines()[0] == "# Fork of rufo/1 by ana ()"
    early = bots.upload(berto, "early", fork.encode() + b"# mine\n", "bot.py", now=NOW)
    assert early.origin is None, "what is not published is no origin"
    publish(rufo)
    fork = sources.forked_text(rufo, text)
    for same in (fork, f"{fork}# Fork of me/7\n"):
        with pytest.raises(Refused, match="nothing but the name differs"):
            bots.upload(berto, "clone", same.encode(), "bot.py", now=NOW)
    alone = bots.upload(berto, "alone", fork.encode() + b"# one\n", "bot.py", now=NOW)
    package = archive.read(sources.forked_package(rufo), "rufo.zip")
    assert b"# Fork of rufo/1 by ana (MIT)" in package.files["bot.toml"]
    changed = archive.BotPackage(package.manifest, {**package.files, "bot.py": source()})
    packed = bots.upload(berto, "packed", changed.zip(), "rufo.zip", now=NOW)
    own = bots.upload(ana, "rufo", fork.encode() + b"# two\n", "bot.py", now=NOW)
    assert (alone.origin, packed.origin, own.origin) == (rufo, rufo, None)
    assert [bot.slug for bot in sources.forks(rufo.bot, None)] == ["alone", "packed"]
    assert sources.origins(alone.bot) == [rufo]
    Bot.objects.filter(slug="packed").update(in_class=True)
    assert [bot.slug for bot in sources.forks(rufo.bot, None)] == ["alone"], "nobody hears of a bot in class"


@pytest.mark.parametrize(
    "line", ["# Fork of nobody/1", "# Fork of rufo/0", "# Fork of rufo/99999999999", "# Fork of \0/1"]
)
def test_a_wrong_origin_is_none(berto, rufo, line) -> None:
    publish(rufo)
    assert bots.upload(berto, "luna", line.encode() + b"\n" + source(), "bot.py", now=NOW).origin is None


def test_the_source_of_house_bots_is_open(db) -> None:
    ((version, _),) = house.enter(["greedy"], now=NOW)
    assert readers(version, None) == [True]
    version.refresh_from_db()
    assert version.licence == Licence.MIT
