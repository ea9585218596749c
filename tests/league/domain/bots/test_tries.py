"""Tries: whose text is played when, at nobody's cost, for nobody else to see; and by a real worker."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from engine.packages.manifest import PackageRefused
from league.domain.bots import house, tries
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers import tries as handler
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import conversations, leases, matches, workers
from league.domain.matches.reports import Receipt
from league.domain.people import bans, players, quotas, tokens
from league.domain.upkeep import metrics, reconcile
from league.enums import MatchKind, MatchStatus, TokenScope, VersionStatus
from league.models import Bot, BotVersion, Match, Package, Player, Sitting, Try
from tests.league.api.client import Api
from tests.support import rows
from tests.support.league import BOT, NOW, accepted, later, started, uploaded, with_token

TEXT = BOT.decode()


@pytest.fixture
def greedy(db) -> BotVersion:
    """Create a house bot."""
    return rows.once(make_greedy)


def make_greedy() -> BotVersion:
    version = accepted(house.player(now=NOW), "greedy")
    assert version.bot.is_house
    return version


def begun(player: Player, *, after: float = 0, text: str = TEXT) -> Try:
    return tries.begin(player, text, "partnership", "greedy", "rufo", now=later(after))


def over(tried: Try, *, after: float = 0, **fields: object) -> None:
    """A worker has played it."""
    work = leases.claim("w1", prefer=tried.work_id, now=later(after))
    assert work is not None
    assert work.pk == tried.work_id
    leases.start(work, now=later(after))
    assert handler.report(work, tries.TryResult(**fields), now=later(after)) == Receipt.STORED


def test_a_try_makes_nothing_and_nobody_sees_it(ana, greedy) -> None:
    before = [model.objects.count() for model in (Bot, BotVersion, Package)]
    tried = begun(ana)

    assert [model.objects.count() for model in (Bot, BotVersion, Package)] == before
    assert not Match.objects.filter(pk=tried.work_id).exists()  # No page, count or rating includes it
    assert (tried.work.rated, tried.work.boards_planned, tried.work.parties.count()) == (False, 1, 0)
    assert workers.queue(now=NOW).queued == 0
    assert reconcile.count_waiting(now=NOW, most=9) == 1  # Workers get a hint
    assert metrics.lanes(NOW)["validation"].count == 1
    assert tries.opened(tried) is None


@pytest.mark.slow
def test_it_waits_with_the_uploads_where_owners_take_turns(ana, berto, greedy) -> None:
    uploads = [uploaded(ana, f"bot-{number}") for number in range(3)]
    started(berto, [accepted(berto, "luna"), accepted(berto, "sol")])
    tried = begun(berto)
    begun(ana)

    order = []
    while (match := leases.claim("w1", now=NOW)) is not None:
        order.append((match.kind, match.owner.name))
    assert order == [
        ("validation", "ana"),
        ("try", "berto"),
        ("validation", "ana"),
        ("validation", "ana"),
        ("try", "ana"),
        ("tournament", "berto"),
    ]
    assert len(uploads) == 3
    assert Match.line.get(pk=tried.work_id).status == MatchStatus.LEASED


def test_its_result_is_stored_once_by_who_holds_it(ana, greedy) -> None:
    tried = begun(ana)
    work = leases.claim("w1", now=NOW)
    assert work is not None
    leases.start(work, now=NOW)
    assert (
        handler.report(with_token(work, work.token + 1), tries.TryResult(stderr="another"), now=NOW) == Receipt.REFUSED
    )
    assert handler.report(work, tries.TryResult(stderr="mine"), now=later(1)) == Receipt.STORED
    assert handler.report(work, tries.TryResult(stderr="again"), now=later(2)) == Receipt.REFUSED
    tried.refresh_from_db()
    outcome = tries.opened(tried)
    assert outcome is not None
    assert (outcome.stderr, tried.finished) == ("mine", later(1))
    with pytest.raises(IntegrityError), transaction.atomic():
        Try.objects.update(result=None)


def test_what_breaks_off_is_tried_again_and_at_last_void(ana, greedy, settings) -> None:
    settings.MAX_ATTEMPTS = 2
    tried = begun(ana)
    for after in (0, 60):
        work = leases.claim("w1", now=later(after))
        assert work is not None
        assert leases.fail(work, why="the disk is gone", party=0, now=later(after))
    assert leases.expire(now=later(61)) == 1
    tried.work.refresh_from_db()
    assert tried.work.status == MatchStatus.VOID
    begun(ana, after=62)


def test_what_is_refused(ana, greedy) -> None:
    refused = [
        (" \n", "partnership", "greedy", "there is no code"),
        ("#" * (tries.MOST_SOURCE + 1), "partnership", "greedy", "the text has 65 KB; the editor takes 64"),
        ("a\0b", "partnership", "greedy", "NUL"),
        ("'\ud800'", "partnership", "greedy", "Unicode"),
        (TEXT, "chess", "greedy", "there is no game"),
        (TEXT, "brisca", "greedy", "does not play brisca"),
    ]
    luna = accepted(players.create("carla", now=NOW), "luna")
    refused.append((TEXT, "partnership", luna.bot.slug, "is not a house bot"))  # nobody is probed
    for text, game, rival, why in refused:
        with pytest.raises(Refused, match=why):
            tries.begin(ana, text, game, rival, now=NOW)
    with pytest.raises(PackageRefused, match="executable"):
        tries.begin(ana, "\x7fELF", "partnership", "greedy", now=NOW)
    bans.ban(ana, why="floods", actor="league", now=NOW)
    with pytest.raises(Refused, match="banned"):
        begun(ana)
    assert not Try.objects.exists()


def test_one_at_a_time_and_so_many_an_hour(ana, berto, greedy, settings) -> None:
    settings.QUOTA_TRIES = 2
    first = begun(ana)
    with pytest.raises(TooMany, match="your last try is still running"):
        begun(ana)
    begun(berto)  # another's delays nobody
    over(first)
    begun(ana, after=10)
    with pytest.raises(TooMany, match="made 2 tries in the last hour"):
        begun(ana, after=20)
    assert quotas.limit(ana, quotas.TRIES, now=later(20)).again == later(3600)
    matches.cancel(Match.work.get(tried__owner=ana, status="queued"), actor="ana", why="enough", now=later(21))
    begun(ana, after=22)


def test_a_ban_takes_back_what_waits(ana, berto, greedy) -> None:
    waits, other = begun(ana), begun(berto)

    bans.ban(ana, why="test", actor="staff", now=later(1))

    assert list(Try.objects.all()) == [other]
    assert list(Match.work.filter(kind=MatchKind.TRY)) == [other.work]
    assert not Match.work.filter(pk=waits.work_id).exists()


def test_after_a_week_it_is_gone_with_its_place_in_the_queue(ana, berto, greedy) -> None:
    first, second = begun(ana), begun(berto)
    over(first)
    assert leases.claim("w1", prefer=second.work_id, now=NOW) is not None
    begun(ana, after=60)

    assert tries.let_go(now=NOW + tries.KEPT - timedelta(seconds=1)) == 0
    assert tries.let_go(now=NOW + tries.KEPT) == 1
    assert not Match.work.filter(pk=first.work_id).exists()
    assert set(Try.objects.values_list("owner__name", flat=True)) == {"ana", "berto"}


# ---- by a real worker

CALLS = """import sys
from tute_bot import Bot, run


class Mine(Bot):
    def act(self, view, legal):
        print("asked", file=sys.stderr)
        {first}
        return legal[0]


run(Mine())
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_plays_texts_as_they_are(worker: WorkerLoop, ana, monkeypatch) -> None:
    for version, _ in house.enter(now=NOW):
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)

    def tried(text: str, game: str = "partnership") -> tries.TryResult:
        row = tries.begin(ana, text, game, "random")
        assert worker.look() is True
        row.refresh_from_db()
        outcome = tries.opened(row)
        assert outcome is not None
        assert Match.work.get(pk=row.work_id).status == MatchStatus.FINISHED
        return outcome

    whole = tried(CALLS.format(first="pass"))
    assert (whole.stopped, whole.faults, len(whole.sittings), len(whole.scores)) == (False, [], 2, 2)
    assert [entry["seating"] for entry in whole.sittings] == [[0, 1, 0, 1], [1, 0, 1, 0]]
    requests = [line for line in whole.lines if '"type":"act"' in line[2]]
    assert len(requests) == whole.decisions == whole.stderr.count("asked")
    # Nothing that its rival was sent
    assert {(line[0], line[1]) for line in requests} == {(0, 0), (0, 2), (1, 1), (1, 3)}
    assert all(line[3].startswith('{"id"') for line in requests)

    row = Try.objects.get()
    answer = Api(tokens.create(ana, "reads", scope=TokenScope.READ)[1]).get(f"tries/{row.work.public_id}").json()
    assert (answer["status"], answer["game"], answer["against"]["bot"]) == ("finished", "partnership", "random")
    assert answer["result"]["scores"] == whole.scores
    sent = [entry for sitting in answer["result"]["sittings"] for entry in sitting["asked"] if entry["number"]]
    assert [(entry["seat"], entry["request"], entry["answer"]) for entry in sent] == [
        tuple(line[1:]) for line in requests
    ]
    assert all(entry["did"] in entry["legal"] and entry["cpu_ms"] is not None for entry in sent)
    for number, sitting in enumerate(answer["result"]["sittings"]):
        record = tries.record_of(whole, number)
        assert {name: record[name] for name in sitting["replay"]} == sitting["replay"]

    broken = tried(CALLS.format(first="legal.nothing"))
    assert {fault["kind"] for fault in broken.faults} == {"crash"}
    assert 'File "/bot/bot.py", line 8' in broken.stderr
    assert "AttributeError" in broken.stderr

    # A decision of a match, put to other texts
    own_version = accepted(ana, "mine")
    cup = started(ana, [own_version, BotVersion.objects.get(bot__slug="random")], boards=1)
    assert worker.look() is True
    match = cup.matches.get()
    seating = Sitting.objects.get(board__match=match, number=1).seating
    seat = seating.index(match.parties.get(version=own_version).number)
    exchanges = conversations.told(match, 1, 1, seat, ana)
    last = [entry for entry in exchanges if entry.answer is not None][-1]
    at = tries.DecisionPoint(match.public_id, 1, 1, seat, last.step)

    def put(text: str) -> tries.TryResult:
        row = tries.begin_at(ana, text, at, "greedy")
        assert worker.look() is True
        row.refresh_from_db()
        outcome = tries.opened(row)
        assert outcome is not None
        return outcome

    same, other = put(TEXT), put(TEXT.replace("legal[0]", "legal[-1]"))
    legal = json.loads(last.request)["legal"]
    assert (same.logged, same.lines[-1][3], same.faults) == (legal[0], legal[0], [])
    assert [line[2] for line in same.lines] == [
        entry.request.decode().rstrip("\n") for entry in exchanges[: len(same.lines)]
    ]
    assert (other.logged, other.lines[-1][3], len(other.lines)) == (legal[0], legal[-1], len(same.lines))
    failed = put(TEXT.replace("legal[0]", "legal[99]"))
    assert ([fault["kind"] for fault in failed.faults], "IndexError" in failed.stderr) == (["crash"], True)
    for wrong, why in (
        ({"seat": 1 - seat % 2}, "none of your bots sat"),
        ({"seat": 9}, "none of your bots sat"),
        ({"board": 2}, "none of your bots sat"),
        ({"step": 99}, "had no decision"),
        ({"step": -1}, "had no decision"),
        ({"match": "none"}, "no match"),
    ):
        with pytest.raises(Refused, match=why):
            tries.begin_at(ana, TEXT, dataclasses.replace(at, **wrong), "greedy")
    with pytest.raises(Refused, match="none of your bots sat"):
        tries.begin_at(players.create("berto"), TEXT, at, "greedy")

    monkeypatch.setattr(handler, "MOST_S", 0.0)
    late = tried(CALLS.format(first="import time; time.sleep(0.05)"), "cabrero")
    assert (late.stopped, late.sittings) == (True, [])
    assert list(Bot.objects.exclude(is_house=True)) == [own_version.bot]


def secrets_of(*rows: Try) -> list[tuple[bytes, str, int]]:
    works = [Match.work.defer(None).get(pk=row.work_id) for row in rows]
    return [(bytes(work.secret), work.table, work.first_board) for work in works]


def test_the_same_cards_are_dealt_again_to_their_author_alone(ana, berto, greedy) -> None:
    first = begun(ana)
    over(first)
    again = tries.begin(ana, TEXT, "partnership", "greedy", like=first.work.public_id, now=later(9))
    over(again, after=9)
    fresh = begun(ana, after=10)
    over(fresh, after=10)
    cards, same, other = secrets_of(first, again, fresh)
    assert cards == same
    assert cards[0] != other[0]
    third = tries.begin(ana, TEXT, "partnership", "greedy", like=first.work.public_id, first=3, now=later(20))
    assert secrets_of(third) == [(cards[0], cards[1], 3)]
    over(third, after=20)
    with pytest.raises(Refused, match="not stored any more"):
        tries.begin(berto, TEXT, "partnership", "greedy", like=first.work.public_id, now=later(30))
    BotVersion.objects.filter(pk=greedy.pk).update(games=[])
    with pytest.raises(Refused, match="another game"):
        tries.begin(ana, TEXT, "cabrero", "greedy", like=first.work.public_id, now=later(30))


def test_a_series_has_a_quota_of_its_own_and_delays_no_upload(ana, greedy, settings) -> None:
    settings.QUOTA_SERIES = 1
    row = tries.begin(ana, TEXT, "partnership", "greedy", boards=tries.SERIES, now=NOW)
    assert (row.work.boards_planned, row.work.priority) == (tries.SERIES, tries.PRIORITY_OF_OTHERS)
    assert row.work.priority < tries.PRIORITY
    assert quotas.limit(ana, quotas.TRIES, now=NOW).used == 0
    over(row)
    with pytest.raises(TooMany, match="you have played 1 series"):
        tries.begin(ana, TEXT, "partnership", "greedy", boards=tries.SERIES, now=later(1))
    begun(ana, after=2)
    with pytest.raises(Refused, match="1 board or 20"):
        tries.begin(ana, TEXT, "partnership", "greedy", boards=1000, now=later(3))


def board(number: int, *scores: int) -> dict[str, object]:
    return {"number": number, "scores": list(scores)}


def test_series_of_one_text_are_added_and_compared_with_the_text_before(ana, greedy) -> None:
    def series(text: str, after: float, boards: list[dict[str, object]], like: str = "") -> Try:
        row = tries.begin(ana, text, "partnership", "greedy", boards=tries.SERIES, like=like, now=later(after))
        over(row, after=after, boards=boards)
        row.refresh_from_db()
        return row

    first = series(TEXT, 0, [board(1, 100, 90), board(2, 80, 120)])
    second = series(TEXT, 10, [board(1, 70, 70)])
    changed = series(TEXT + "# changed", 20, [board(1, 120, 90), board(3, 5, 5)], first.work.public_id)
    repeated = series(TEXT, 30, [board(1, 100, 90)], first.work.public_id)

    assert tries.text_boards(first) == [[100, 90], [80, 120]]
    assert tries.text_boards(second) == [[100, 90], [80, 120], [70, 70]]
    assert tries.text_boards(repeated) == [[100, 90], [80, 120], [70, 70]]  # The same deal counts once
    assert tries.compare(first) == []
    assert tries.compare(changed) == [[30, 10]]
    assert tries.compare(repeated) == [[10, 30]]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_plays_a_series(worker: WorkerLoop, ana) -> None:
    for version, _ in house.enter(now=NOW):
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    row = tries.begin(ana, TEXT, "partnership", "greedy", "rufo", boards=tries.SERIES)
    assert worker.look() is True
    row.refresh_from_db()
    result = tries.opened(row)
    assert result is not None
    assert [board["number"] for board in result.boards] == list(range(1, tries.SERIES + 1))
    assert len(result.sittings) == 2 * tries.SERIES
    assert not result.stopped
    assert not result.faults
    again = tries.begin(ana, TEXT, "partnership", "greedy", "rufo", boards=tries.SERIES, like=row.work.public_id)
    assert worker.look() is True
    again.refresh_from_db()
    repeated = tries.opened(again)
    assert repeated is not None
    assert repeated.boards == result.boards
    hands = [sitting["replay"]["events"][1]["hands"] for sitting in (result.sittings[4], repeated.sittings[4])]
    assert hands[0] == hands[1]
    third = tries.begin(ana, TEXT, "partnership", "greedy", "rufo", like=row.work.public_id, first=3)
    assert worker.look() is True
    third.refresh_from_db()
    alone = tries.opened(third)
    assert alone is not None
    assert alone.scores == result.boards[2]["scores"]
    assert len(bytes(again.result)) < 600_000
