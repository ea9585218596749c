"""A story of a league, played by its own functions at fixed times, and its traces in the database, column by column.

Everything that a function writes into a row is in one of these columns: times, actors, reasons, counts. So any change of what is written shows.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from engine.runner import FaultReport
from league.domain.bots import bots, challenges, consent
from league.domain.core.errors import Refused
from league.domain.judgements import asking
from league.domain.matches import embargoes, leases, logs, reports
from league.domain.operators import acting
from league.domain.people import bans, players, quotas, tokens
from league.domain.tournaments import circuits, enrolment, events, progress, requests, tournaments
from league.domain.upkeep import reconcile
from league.enums import EntryPolicy, TournamentStatus
from league.models import Match, MatchLog, Player
from tests.support import league

# Their bytes, and the number of reported changes, depend on what else the process has done, because cached values are not read again.
ELSEWHERE = {"Package", "LogDictionary", "Change"}
# Random stamps, by which a process knows whether its totals are current; and the marker of compiled rules.
DRAWN = {"PoolSums.stamp", "PoolSums.fitted", "PoolSums.ranked", "TableOfDay.ranked", "Match.host"}
# Longest value that is stored in full, in characters; length of the stored beginning of a longer one.
LONGEST, HEAD = 80, 40
NO_ROW = object()


def records(row: MatchLog) -> list[Any]:
    """Return what a log holds. Its bytes depend on the library that packs them, and a record names the release that played it."""
    opened = logs.open_data(bytes(row.data))
    assert opened is not None
    return [[list(place), record | {"engine": "this release"}] for place, record in sorted(opened.records.items())]


# How to read columns that hold bytes of a library or name a release.
READ: dict[str, Callable[[Any], Any]] = {
    "MatchLog.data": records,
    "MatchLog.digest": lambda row: row.digest == logs.digest(row.match.public_id, bytes(row.data)),
    "MatchLog.choices": lambda row: row.choices and [row.choices["log"] == row.digest, row.choices["parties"]],
}


@contextmanager
def one_chance(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the random numbers of the operating system the same in every run, while the block runs."""
    draw = random.Random(7)
    with monkeypatch.context() as patched:
        # Bots are numbered from 1: their bytes are new in every run.
        patched.setattr(league, "_serial", itertools.count(1))
        patched.setattr(secrets, "token_bytes", lambda size=32: draw.randbytes(size))
        patched.setattr(secrets, "token_hex", lambda size=32: draw.randbytes(size).hex())
        patched.setattr(secrets, "token_urlsafe", lambda size=32: draw.randbytes(size).hex())
        patched.setattr(secrets, "choice", draw.choice)
        patched.setattr(secrets, "randbelow", draw.randrange)
        yield


def play_all(now: datetime, *, most: int = 40, fails: str = "") -> int:
    """Play the queue as a worker would: the party of the smaller version wins; a bot named `fails` crashes. Return the number of matches."""
    played = 0
    for _ in range(most):
        match = leases.claim("w1", now=now)
        if match is None:
            break
        if match.kind == "audit":  # it needs the bot itself
            leases.release(match, why="no bot here", now=now)
            break
        leases.start(match, now=now)
        parties = list(match.parties.order_by("number").values_list("version_id", "version__bot__slug"))
        winner = min(range(len(parties)), key=lambda number: parties[number])
        faults = [crash(number) for number, (_pk, slug) in enumerate(parties) if slug == fails][:1]
        reports.report(match, league.result(match, winner=winner, faults=faults), now=now)
        played += 1
    return played


def crash(party: int) -> FaultReport:
    """Return a fault of a party on its first board."""
    return FaultReport(
        kind="crash", detail="exit code 1", party=party, seat=0, board=1, sitting=0, step=3, request="", answer=""
    )


def refused(act: Callable[[], object]) -> None:
    """Check that the league refuses something."""
    with pytest.raises(Refused):
        act()


def tell() -> None:
    """Six players and their bots, two days: a cup, an event, a weekly league, a ladder, challenges, and other things that people and operators do."""
    now = league.NOW
    ana, berto, cira, dora = (players.create(name, now=now) for name in ("ana", "berto", "cira", "dora"))
    players.create("op", now=now)
    rufo, luna, sol, zoe = (
        league.accepted(owner, name) for owner, name in ((ana, "rufo"), (berto, "luna"), (cira, "sol"), (dora, "zoe"))
    )
    vega = league.accepted(cira, "vega", policy=EntryPolicy.ASK)
    bots.describe(rufo.bot, "Plays the first card.")
    tokens.create(ana, "laptop", days=30, now=now)
    quotas.set_quota(berto, "boards", 500, why="a class", actor="op", now=now)
    consent.block(dora, "op", now=now)
    # A cup: one player asks for vega, and its owner says yes; one entry is withdrawn.
    cup = league.counted(
        tournaments.create(ana, "Cup", "partnership", boards=2, versions=[rufo, luna], secret=league.SECRET, now=now)
    )
    enrolment.enter(cup, sol, player=cira, now=league.later(1))
    enrolment.enter(cup, zoe, player=dora, now=league.later(2))
    enrolment.withdraw(cup, zoe, player=dora, now=league.later(3))
    wish = enrolment.enter(cup, vega, player=ana, message="please", now=league.later(4))
    requests.grant(wish, player=cira, now=league.later(5))
    tournaments.start(cup, actor="ana", now=league.later(6))
    refused(lambda: enrolment.enter(cup, zoe, player=dora, now=league.later(7)))
    refused(lambda: challenges.challenge(berto, luna, [zoe], "bato", now=league.later(8)))
    challenges.challenge(ana, rufo, [luna], "corriente", 2, now=league.later(9))
    play_all(league.later(20), most=3)
    progress.pause(cup, actor="ana", now=league.later(30))
    play_all(league.later(40), most=2)
    progress.resume(cup, actor="ana", now=league.later(50))
    # A lease that expires, one that fails, and a match that is played again.
    leases.claim("w2", now=league.later(60))
    failing = leases.claim("w3", now=league.later(61))
    if failing is not None:
        leases.start(failing, now=league.later(62))
        leases.fail(failing, why="the host went away", now=league.later(63))
    reconcile.reconcile(now=league.later(4000))
    play_all(league.later(4100), fails="sol")
    reconcile.reconcile(now=league.later(4200))
    # two days of everything that happens by itself
    document = {
        "name": "Open",
        "game": "partnership",
        "stages": [
            {"format": "round_robin", "groups": 2, "advance": 1, "boards": 2},
            {"format": "round_robin", "boards": 2},
        ],
    }
    event = events.create(berto, document, [rufo, luna, sol, zoe], secret=league.SECRET, now=league.later(5000))
    weekly = circuits.create(
        cira, "Fridays", "corriente", days="thu,fri", at="20:00", time_zone="Europe/Madrid", size=2, moves=1, boards=2,
        now=league.later(5100),
    )  # fmt: skip
    for version, owner in ((rufo, ana), (luna, berto), (sol, cira), (zoe, dora)):
        circuits.join(weekly, version.bot, player=owner, now=league.later(5200))
    for version in (rufo, luna, zoe):
        consent.let_on_ladders(version.bot, on=True, actor="its owner", now=league.later(5300))
    embargoes.change(cup, league.later(9000), why="a paper", actor="op", now=league.later(5400))
    bots.set_state(sol.bot, "paused", actor="cira", now=league.later(5500))
    for step in range(12):
        at = league.later(6000 + 10_000 * step)
        reconcile.reconcile(now=at)
        play_all(at + timedelta(seconds=60), most=12)
        if step == 2:
            bots.set_state(sol.bot, "active", actor="cira", now=at)
            bots.stop(luna.bot, why="too loud", actor="op", now=at)
        if step == 4:
            bots.release(luna.bot, why="quiet now", actor="op", now=at)
            asking.ask(finished()[0], "open", ana, now=at)
        if step == 6:
            acting.act("void", [finished()[-1].public_id], {}, why="a wrong deal", operator=None, now=at)
            acting.act("ban", ["dora"], {}, why="insults", operator=None, now=at)
        if step == 9:
            bans.lift(Player.objects.get(pk=dora.pk), why="said sorry", actor="op", now=at)
            league.uploaded(ana, "rufo", now=at)
    event.refresh_from_db()
    assert event.status == TournamentStatus.FINISHED
    assert weekly.seasons.exists()


def finished() -> list[Match]:
    """Return the finished rated matches in the order of their ids."""
    return list(Match.objects.filter(status="finished", rated=True).order_by("pk"))


def columns() -> dict[str, list[Any]]:
    """Return each column of each table, rows in the order of their ids; a reference becomes the index of its row."""
    tables = [model for model in apps.get_app_config("league").get_models() if model.__name__ not in ELSEWHERE]
    places = {
        model: {
            pk: place for place, pk in enumerate(model._default_manager.order_by("pk").values_list("pk", flat=True))
        }
        for model in apps.get_models()
    }
    columns_by_name: dict[str, list[Any]] = {}
    for model in tables:
        rows = list(model._default_manager.order_by("pk"))
        for field in model._meta.concrete_fields:
            related = field.related_model
            read = READ.get(f"{model.__name__}.{field.name}", lambda row, name=field.attname: getattr(row, name))
            values = [read(row) for row in rows]
            if isinstance(field, models.AutoField) or f"{model.__name__}.{field.name}" in DRAWN:
                continue
            if isinstance(related, type) and issubclass(related, models.Model):
                values = [places[related].get(value) for value in values]
            columns_by_name[f"{model.__name__}.{field.name}"] = [shortened(plain(value)) for value in values]
    return columns_by_name


def shortened(value: Any) -> Any:
    """Return a value as it is stored: a long one as its beginning, its length and a digest."""
    text = value if isinstance(value, str) else json.dumps(value)
    if len(text) <= LONGEST:
        return value
    return f"{text[:HEAD]}... {len(text)} {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def dump(columns_by_name: Mapping[str, Sequence[Any]]) -> str:
    """Return the columns as lines of JSON, one line per column; a value repeated in consecutive rows is written once, with its count."""
    lines = [
        json.dumps([name, [[value, len(list(same))] for value, same in itertools.groupby(values)]], ensure_ascii=False)
        for name, values in columns_by_name.items()
    ]
    return "\n".join(lines) + "\n"


def load(text: str) -> dict[str, list[Any]]:
    """Return the columns that `dump` wrote."""
    return {
        name: [value for value, times in parts for _ in range(times)]
        for name, parts in map(json.loads, text.splitlines())
    }


def differences(stored: Mapping[str, Sequence[Any]], after: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a line for each value that differs: its column and row, what it was and what it is."""
    lines = [f"{name}: this column is gone" for name in stored if name not in after]
    lines += [f"{name}: this column is new" for name in after if name not in stored]
    for name, was in stored.items():
        values = after.get(name, was)
        for row in range(max(len(was), len(values))):
            before, now = (side[row] if row < len(side) else NO_ROW for side in (was, values))
            if before != now:
                lines.append(f"{name} of row {row}: was {as_text(before)}, is {as_text(now)}")
    return lines


def as_text(value: Any) -> str:
    """Return a value in the form of a reported difference."""
    return "no such row" if value is NO_ROW else json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return a value of a column as JSON; times are seconds from the beginning of the story. Numbers are returned as they are stored."""
    if isinstance(value, datetime):
        return (value - league.NOW).total_seconds()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
