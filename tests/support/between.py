"""Let a match finish between any two statements of what the league does.

`python -m tests.support.between put_right check` does so for these acts, on the migrated, empty database of DATABASE_URL.

Each act runs repeatedly: in its first run a match finishes before its first statement, in the second run before its second, until it has no more.
Another connection finishes the match, so that it is committed (on PostgreSQL) before the act continues. The output is the number of statements of
each act.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from django.db import connection  # noqa: E402 - Django first
from django.test import override_settings  # noqa: E402

from league.domain.audits import sampling  # noqa: E402
from league.domain.bots import bots, consent  # noqa: E402
from league.domain.core.errors import Refused  # noqa: E402
from league.domain.ladders import drawing, places  # noqa: E402
from league.domain.matches import embargoes, leases, matches, reports, workers  # noqa: E402
from league.domain.operators import acting  # noqa: E402
from league.domain.people import players  # noqa: E402
from league.domain.ratings import leaderboards, publication, ratings, refits, totals  # noqa: E402
from league.domain.tournaments import enrolment, fixtures, progress, requests, standings, tournaments  # noqa: E402
from league.domain.upkeep import invariants, reconcile  # noqa: E402
from league.enums import EntryPolicy, MatchStatus, TournamentStatus  # noqa: E402
from league.models import BotVersion, LeagueEvent, Match, Player, Rung, Tournament  # noqa: E402
from tests.support import league  # noqa: E402

# Seconds that a match may wait for a lock of the act; then the act goes on, and the match finishes after it.
PATIENCE = 2.0
MOST = {"count_anew": 24}  # Most statements to disturb. `count_anew` has more statements with each match, without end.
BOTS = {
    "put_right": 24,
    "count_in_stages": 16,
    "fit_and_rank": 16,
}  # Bots of each act: their round robin has a match for each statement of the act.
FEW = 14  # Number of bots for all other acts.


class Disturbance:
    """Counts the statements of this connection. Before statement number `at` (from 0) it runs something in another thread."""

    def __init__(self, at: int, what: Callable[[], None], patience: float = PATIENCE) -> None:
        self.at, self.count, self.patience = at, 0, patience
        self.other = threading.Thread(target=self._happen, args=(what,))
        self.broken: Exception | None = None

    def __call__(self, execute: Callable[..., Any], *rest: Any) -> Any:
        if self.count == self.at:
            self.other.start()
            self.other.join(self.patience)
        self.count += 1
        return execute(*rest)

    def _happen(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as broken:
            self.broken = broken
        finally:
            connection.close()

    def end(self) -> None:
        """Wait until the other thread ends. Raise what it raised: otherwise nothing would have been disturbed, and nobody would notice."""
        self.other.join()
        if self.broken is not None:
            raise self.broken


def make(act: str) -> list[Tournament]:
    """Create and start a ladder, whose matches follow from its own results, and a round robin."""
    owners = [players.create(f"{act.replace('_', '-')}-{number}") for number in range(BOTS.get(act, FEW))]
    versions = [
        league.accepted(owner, owner.name, games=["partnership"]) for owner in owners
    ]  # the matches of one owner are unrated
    cups = []
    for form, parameters in (("ladder", {"budget": 60}), ("round_robin", {})):
        cup = tournaments.create(
            owners[0],
            f"{act} {form}",
            "partnership",
            boards=1,
            versions=versions if form == "round_robin" else versions[:6],
            format=form,
            parameters=parameters,
            secret=league.SECRET,
            now=league.NOW,
        )
        tournaments.start(league.counted(cup), now=league.NOW)
        cups.append(cup)
    return cups


def finish_next() -> bool:
    """Play the next queued match; return False if every match was locked or there was none."""
    match = leases.claim("w1", now=league.NOW)
    if match is None:
        return False
    leases.start(match, now=league.NOW)
    return reports.report(match, league.result(match), now=league.NOW) == reports.Receipt.STORED


def play_next(cups: list[Tournament]) -> None:
    """Finish a match, as one of two workers would."""
    assert finish_next(), "there are fewer matches than moments: give the act more of them"


def put_right(step: Callable[..., int], cups: list[Tournament]) -> None:
    """Do one thing that the scheduler does."""
    step(now=league.NOW)


def count_anew(cups: list[Tournament]) -> None:
    """Recount the ratings, as the operator does."""
    ratings.refresh(cups[0].pool, rebuild=True, now=league.NOW)


def check(cups: list[Tournament]) -> None:
    """Check the invariants, as the operator does."""
    assert invariants.check_all(now=league.NOW) == []


def show(cups: list[Tournament]) -> None:
    """Read the tables of pages and API: check that all numbers of a table belong to the same matches."""
    for cup in cups:
        table = standings.standings(cup)
        met = set(table.cells)
        numbers = [row.entry for row in table.rows]
        assert met <= set(standings.meetings(cup, numbers, numbers))
        assert sum(cell.boards for cell in table.cells.values()) == 2 * table.statuses[MatchStatus.FINISHED]
        fixtures.play_format(cup)
    boards = [json.loads(line) for line in publication.published_lines(cups[0].pool)][1:]
    assert all(len(line["versions"]) == 2 and len(line["boards"]) == 1 for line in boards)
    leaderboards.past_ratings(cups[0].pool, league.NOW)


def count_in_stages(stage: Callable[..., object], cups: list[Tournament]) -> None:
    """Run a stage of a large pool's ratings, as the scheduler does."""
    with override_settings(RATINGS_AT_ONCE=0):
        stage(cups[0].pool, now=league.NOW)


# The scheduler's steps are disturbed one by one: no transaction contains two steps, so nothing is missed.
ACTS: dict[str, tuple[Callable[[list[Tournament]], None], ...]] = {
    "put_right": (play_next, *(partial(put_right, step) for _name, step in reconcile.STEPS)),
    **{act.__name__: (act,) for act in (count_anew, check, show)},
    "count_in_stages": (partial(count_in_stages, refits.count_new),),
    "fit_and_rank": (partial(count_in_stages, refits.fit), partial(count_in_stages, refits.rank)),
}


# What must be done first with the match that has just finished.
FIRST: dict[str, Callable[[list[Tournament]], None]] = {"fit_and_rank": partial(count_in_stages, refits.count_new)}


def _disturb(act: Callable[[], None], most: int | None, first: Callable[[], None]) -> int:
    for at in range(most or 300):
        finish_next()  # Each run needs something new to count.
        first()
        moment = Disturbance(at, finish_next)
        with connection.execute_wrapper(moment):
            act()
        if moment.count <= at:
            return at
        moment.end()
    assert most, f"an act has {moment.count} moments and more: not all of them were disturbed"
    return most


def disturb(name: str) -> int:
    """Disturb one act at each of its moments, let the scheduler finish, and check the invariants. Return the number of moments."""
    cups = make(name)
    first = partial(FIRST[name], cups) if name in FIRST else lambda: None
    moments = sum(_disturb(partial(act, cups), MOST.get(name), first) for act in ACTS[name])
    reconcile.reconcile(now=league.NOW)
    check(cups)
    show(cups)
    pool = cups[0].pool
    assert totals.read_stored(pool).dump() == totals.recount(pool).dump()
    assert not Match.objects.filter(status=MatchStatus.FINISHED, tournament__in=cups, counted=None).exists()
    for cup in cups:
        cup.refresh_from_db()
        if cup.status == TournamentStatus.RUNNING:
            progress.cancel(cup, actor="test", now=league.NOW)
    return moments


def extend_while_it_ends() -> int:
    """Extend a tournament whose matches have finished while the scheduler ends it: one of the two must come first. Return the number of moments."""
    owners = [players.create(f"end-{number}") for number in range(2)]
    versions = [league.accepted(owner, owner.name, games=["partnership"]) for owner in owners]
    for at in range(100):
        cup = league.started(owners[0], versions, name=f"End {at}", boards=1)
        league.play(cup.matches.get())

        def extend(cup: Tournament = cup) -> None:
            with suppress(Refused):
                tournaments.extend(cup, {"cycles": 2}, actor="end-0", now=league.NOW)

        moment = Disturbance(at, extend, patience=0.3)
        with connection.execute_wrapper(moment):
            progress.advance(Tournament.objects.get(pk=cup.pk), now=league.NOW)
        if moment.count <= at:
            return at
        moment.end()
        cup.refresh_from_db()
        ended, extended = cup.status == TournamentStatus.FINISHED, cup.parameters.get("cycles", 1) == 2
        assert ended != extended, f"before statement {at}: {cup.status}, {cup.parameters}"
        assert cup.matches.count() == (1 if ended else 2)
        if extended:
            progress.cancel(cup, actor="test", now=league.NOW)
    return at


def upload_while_another_does() -> int:
    """Upload equal files of two players at once: exactly one of them must then have a bot. Return the number of moments."""
    first, other = (players.create(f"twin-{number}") for number in range(2))
    for at in range(100):
        source = league.source() + f"# {at}\n".encode()

        def upload(player: Player, source: bytes = source, at: int = at) -> None:
            with suppress(Refused):
                bots.upload(player, f"{player.name}-{at}", source, "bot.py", ["partnership"], now=league.NOW)

        moment = Disturbance(at, partial(upload, other), patience=0.3)
        with connection.execute_wrapper(moment):
            upload(first)
        if moment.count <= at:
            return at
        moment.end()
        assert BotVersion.objects.filter(bot__slug__in=[f"twin-0-{at}", f"twin-1-{at}"]).count() == 1, f"moment {at}"
    return at


def grant_while_it_starts() -> int:
    """Grant the request for a bot while the tournament starts: either the bot is entered, or the request expires. Return the number of moments."""
    ana, berto = (players.create(f"starter-{number}") for number in range(2))
    own = [league.accepted(ana, f"own-{number}", games=["partnership"]) for number in range(2)]
    requested = league.accepted(berto, "wanted", games=["partnership"], policy=EntryPolicy.ASK)
    for at in range(100):
        cup = tournaments.create(
            ana, f"Start {at}", "partnership", boards=1, versions=[*own, requested], now=league.NOW
        )
        request = cup.requests.get()

        def start(cup: Tournament = cup) -> None:
            tournaments.start(cup, now=league.NOW)

        moment = Disturbance(at, start, patience=0.3)
        with connection.execute_wrapper(moment), suppress(Refused):
            requests.grant(request, player=berto, now=league.NOW)
        if moment.count <= at:
            return at
        moment.end()
        request.refresh_from_db()
        cup.refresh_from_db()
        seeds = sorted(cup.entries.values_list("seed", flat=True))
        assert cup.status == TournamentStatus.RUNNING, f"moment {at}"
        assert (request.status, seeds) in (("granted", [1, 2, 3]), ("expired", [1, 2])), (
            f"moment {at}: {request.status}"
        )
        progress.cancel(cup, actor="test", now=league.NOW)
    return at


def enter_while_the_policy_changes() -> int:
    """Enter a bot while its owner forbids entries: it is entered before that, or not at all. Return the number of moments."""
    ana, berto = (players.create(f"policy-{number}") for number in range(2))
    bot = league.accepted(berto, "free", games=["partnership"]).bot
    for at in range(100):
        consent.set_policy(bot, EntryPolicy.ANYBODY, actor="berto", now=league.NOW)
        cup = tournaments.create(ana, f"Policy {at}", "partnership", boards=1, now=league.NOW)

        def forbid() -> None:
            consent.set_policy(bot, EntryPolicy.NOBODY, actor="berto", now=league.NOW)

        moment = Disturbance(at, forbid, patience=0.3)
        with connection.execute_wrapper(moment), suppress(Refused):
            enrolment.enter(cup, bot, now=league.NOW)
        if moment.count <= at:
            return at
        moment.end()
        lines = LeagueEvent.objects.order_by("-pk").values_list("kind", flat=True)[:2]
        actions = ["bot.entry_policy", "tournament.entered" if cup.entries.exists() else "tournament.created"]
        assert list(lines) == actions, f"moment {at}: {list(lines)}"
        progress.cancel(cup, actor="test", now=league.NOW)
    return at


def count_while_audits_are_drawn() -> int:
    """Count a pool while another scheduler draws audits of its matches: neither waits for the other. Return the number of moments."""
    owners = [players.create(f"audited-{number}") for number in range(2)]
    versions = [league.accepted(owner, owner.name, games=["partnership"]) for owner in owners]
    for at in range(100):
        cup = league.started(owners[0], versions, name=f"Audited {at}", boards=1)
        league.play(cup.matches.get())

        def draw() -> None:
            sampling.draw(now=league.NOW)

        moment = Disturbance(at, draw, patience=0.3)
        with override_settings(AUDIT_PERCENT=100.0), connection.execute_wrapper(moment):
            ratings.refresh(cup.pool, now=league.NOW)
            if moment.count > at:
                moment.end()
        if moment.count <= at:
            return at
        match = cup.matches.get()
        assert match.counted is not None, f"before statement {at}"
        progress.cancel(cup, actor="test", now=league.NOW)
    return at


def rerun_while_it_is_held_back() -> int:
    """Withhold a match's replays while it is played again; its successor must be withheld, too. Return the number of moments."""
    owners = [players.create(f"again-{number}") for number in range(2)]
    versions = [league.accepted(owner, owner.name, games=["partnership"]) for owner in owners]
    cup = league.started(owners[0], versions, name="Again", boards=1)
    match = cup.matches.get()
    for at in range(200):
        match = league.play(match)
        until = league.NOW + timedelta(days=1 + at)

        def hold(match: Match = match, until: datetime = until) -> None:
            embargoes.change(Match.objects.get(pk=match.pk), until, why="a test", actor="test", now=league.NOW)

        moment = Disturbance(at, hold, patience=0.3)
        with connection.execute_wrapper(moment):
            acting.act("rerun", [match.public_id], {}, why="a test", operator=None, now=league.NOW)
        if moment.count <= at:
            return at
        moment.end()
        match = cup.matches.exclude(status=MatchStatus.VOID).get()
        assert match.embargo == until, f"before statement {at}: {match.embargo}"
        cup.refresh_from_db()
        assert cup.secret_after == until, f"before statement {at}: {cup.secret_after}"
    return at


def draw_while_another_draws() -> int:
    """Let two schedulers draw the tables of a ladder: no table twice, and no more than there is room for. Return the number of moments."""
    for number in range(4):
        league.accepted(players.create(f"drawn-{number}"), f"drawn-{number}", games=["partnership"])
    workers.register("w1", tier="landlock", now=league.NOW)
    places.enter(now=league.NOW)
    rungs = Rung.objects.filter(version__bot__slug__startswith="drawn-")
    # Exclude what other acts have left: it is neither work for this worker nor due.
    Match.work.filter(status=MatchStatus.QUEUED).update(held_back=True)
    Rung.objects.exclude(pk__in=rungs).update(due=league.NOW + timedelta(days=1))

    def draw() -> None:
        drawing.draw(now=league.NOW)

    for at in range(200):
        moment = Disturbance(at, draw, patience=0.3)
        with override_settings(LADDERS=True), connection.execute_wrapper(moment):
            draw()
            if moment.count > at:
                moment.end()
        waiting = Match.objects.filter(kind="ladder", status=MatchStatus.QUEUED)
        assert waiting.count() == drawing.AHEAD, f"before statement {at}: {waiting.count()}"
        assert all(match.parties.count() == 2 for match in waiting), f"before statement {at}"
        for match in waiting:
            matches.cancel(match, actor="test", why="the next moment", now=league.NOW)
        rungs.update(due=league.NOW, placed=0)
        if moment.count <= at:
            workers.unregister("w1", now=league.NOW)
            return at
    return at


OTHERS = (
    extend_while_it_ends,
    upload_while_another_does,
    grant_while_it_starts,
    enter_while_the_policy_changes,
    count_while_audits_are_drawn,
    rerun_while_it_is_held_back,
    draw_while_another_draws,
)


def main() -> None:
    """Disturb the named acts; print a line for each, with its errors."""
    acts: dict[str, Callable[[], int]] = {name: partial(disturb, name) for name in ACTS}
    acts |= {act.__name__: act for act in OTHERS}
    for name in sys.argv[1:]:
        try:
            print(f"{name}: {acts[name]()} moments", flush=True)
        except Exception:
            print(f"{name}: {traceback.format_exc()}", flush=True)


if __name__ == "__main__":
    main()
