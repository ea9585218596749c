"""Workers of two releases at one queue: each leaves matches with another revision of the rules, and every lease names its release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from engine import game as games
from league.domain.matches import leases, reports, workers
from league.domain.ratings import pools
from league.domain.upkeep import repair
from league.enums import MatchStatus
from league.models import LeagueEvent, Match, Pool, Worker
from league.service import version
from tests.support import rows
from tests.support.league import NOW, accepted, result, running, started


@contextmanager
def other_release(game: str, revision: int) -> Iterator[None]:
    """Within, this process plays a game by rules of another revision."""
    declarations = games._declared()
    own = declarations[game]
    declarations[game] = replace(own, revision=revision)
    games._loaded.cache_clear()
    try:
        yield
    finally:
        declarations[game] = own
        games._loaded.cache_clear()


@pytest.fixture
def pair(ana, berto) -> tuple[Match, Match]:
    """A match of each of two games, that of partnership first in line."""
    return rows.once(make_pair, ana, berto)


def make_pair(ana, berto) -> tuple[Match, Match]:
    bots = [accepted(ana, "rufo"), accepted(berto, "lola")]
    pairs = started(ana, bots, boards=1).matches.get()
    return pairs, started(ana, bots, game="corriente", boards=1, name="Other").matches.get()


@pytest.mark.slow
def test_a_worker_leaves_what_is_played_by_other_rules_than_its_own(pair, client) -> None:
    pairs, singles = pair
    with other_release("partnership", 7):
        workers.register("newer", tier="landlock")
        assert leases.claim("newer", prefer=pairs.pk) == singles
        assert leases.claim("newer") is None
        assert leases.claim("newer", ahead=True) is None

    workers.explain()
    queue = workers.queue()
    assert {name: count for name, count in queue.waiting.items() if count} == {"rules": 1}
    pairs.refresh_from_db()
    assert (
        "no worker that runs plays by revision 1 of the rules of partnership; start one of that release" in pairs.reason
    )
    page = client.get("/status/", headers={"accept-language": "en"}).content.decode()
    assert "no worker has this version of the rules" in page

    workers.register("older", tier="landlock")
    workers.explain()
    pairs.refresh_from_db()
    assert (workers.queue().waiting["rules"], pairs.reason) == (0, "")
    assert leases.claim("older") == pairs


def test_a_worker_leaves_options_whose_rules_have_changed_since(ana, berto) -> None:
    """The third revision of cabrero changed accusations only; the usual rules are still those of the second."""
    bots = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(ana, "duna"), accepted(berto, "mora")]
    usual = started(ana, bots, game="cabrero", boards=1).matches.get()
    accusing = {"illegal_move": "accuse"}
    changed = started(ana, bots, game="cabrero", options=accusing, boards=1, name="Other").matches.get()
    assert (usual.pool.revision, changed.pool.revision) == (2, 3)
    key = pools.pool_key("cabrero", 4, accusing, "single", 2)
    Pool.objects.filter(pk=changed.pool_id).update(revision=2, key=key)

    workers.register("newer", tier="landlock", now=NOW)
    workers.explain(now=NOW)
    changed.refresh_from_db()
    assert "no worker that runs plays by revision 2 of the rules of cabrero" in changed.reason
    assert leases.claim("newer", now=NOW) == usual
    assert leases.claim("newer", now=NOW) is None

    repair.repair_revisions("cabrero", 2, 2, why="accusations name a seat", actor="ana", now=NOW)
    usual.refresh_from_db()
    changed.refresh_from_db()
    assert usual.status == MatchStatus.LEASED
    workers.explain(now=NOW)
    again = leases.claim("newer", now=NOW)
    assert again is not None
    assert again.pool.revision == 3


def test_a_worker_that_tells_no_rules_is_taken_to_know_them(pair) -> None:
    """It is of a release that played whatever waited."""
    Pool.objects.update(revision=5)
    workers.register("older", tier="landlock", now=NOW)
    Worker.objects.update(rules={})

    assert workers.queue(now=NOW).waiting["rules"] == 0


def test_a_worker_leaves_a_table_with_an_option_that_it_does_not_know(pair) -> None:
    pairs, singles = pair
    Pool.objects.filter(pk=pairs.pool_id).update(options={"of a later release": 1})

    assert leases.claim("w", now=NOW) == singles
    assert leases.claim("w", now=NOW) is None
    pairs.refresh_from_db()
    assert (pairs.status, pairs.attempts) == ("queued", 0)


def test_what_was_played_by_other_rules_is_not_stored(pair) -> None:
    """Whoever claimed it: the records say by which rules they were made."""
    match = running()
    with other_release("partnership", 7):
        foreign = result(match)
    with pytest.raises(ValueError, match=r"is played by revision 1 of its rules, not \{7\}"):
        reports.report(match, foreign, now=NOW)

    match.refresh_from_db()
    assert (match.status, match.boards.count()) == ("running", 0)
    assert reports.report(match, result(match), now=NOW) == reports.Receipt.STORED


def test_a_lease_and_its_worker_say_by_which_code_it_is_played(pair, monkeypatch) -> None:
    monkeypatch.setenv("BUILD_COMMIT", "c0ffee")
    version.commit.cache_clear()
    try:
        worker = workers.register("w", tier="landlock", now=NOW)
        match = running("w", now=NOW)
        assert match.host == {"commit": "c0ffee", "revision": 1}
        reports.report(match, result(match), now=NOW)
    finally:
        version.commit.cache_clear()

    match.refresh_from_db()
    assert (match.host["commit"], match.host["revision"], match.host["tier"]) == ("c0ffee", 1, "landlock")
    assert (worker.commit, worker.rules["partnership"], worker.rules["cabrero"]) == ("c0ffee", 1, 3)
    assert LeagueEvent.objects.get(kind="worker.started").data["commit"] == "c0ffee"
