"""Makes the league that the chaos tests trouble, and reads its final table: `python -m tests.chaos.table` on its database.

Each line of its input is `make`, `print` or `check`; the answer is a line of JSON, by a process of its own that is forked from this one: loading the
league takes a second of a core each time.

The table holds everything that must not depend on what happened on the way, and nothing else: no times, no attempts, no names of workers.
`check` tells what the league's own checks find in a league that has come to rest, without any patience.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from league.domain.bots import bots, consent  # noqa: E402
from league.domain.core import transitions  # noqa: E402 - Django first
from league.domain.matches import replays  # noqa: E402
from league.domain.people import players, quotas, tokens  # noqa: E402
from league.domain.ratings import pools, totals  # noqa: E402
from league.domain.tournaments import standings, tournaments  # noqa: E402
from league.domain.upkeep import invariants  # noqa: E402
from league.enums import EntryPolicy, MatchKind, VersionStatus  # noqa: E402
from league.models import BotVersion, Match, Player, Pool, Rating, Sitting, Tournament  # noqa: E402
from tests.support.bots import FRAME  # noqa: E402
from tests.support.league import counted  # noqa: E402

SECRET = bytes(range(32))
LIMITS = {
    "start_s": 60.0,
    "move_s": 5.0,
    "bank_s": 60.0,
}  # Limits for a host that does everything else at the same time
PICKS = ("0", "-1", "len(m['legal']) // 2", "sum(map(ord, m['legal'][0])) % len(m['legal'])")
CUPS = (("Pairs", "partnership", None, 2), ("Seats", "gana_pierde_3", None, 1))
LATER = (
    "a_dos",
    "individual",
    "two_player",
    "brisca",
    "variable_trump",
)  # Games of the tournaments that are created in the storm: a pool each
HERMIT = "hermit"  # a player, and their bot, which enters only where its owner agrees


def make() -> dict[str, str]:
    """Create four players with a bot each, whose play depends on their messages alone, and start two tournaments. Return a key of each player.

    Besides them a hermit with such a bot, and a guest without one.
    """
    versions = [
        _bot(f"player-{number}", f"bot-{number}", pick, EntryPolicy.ANYBODY) for number, pick in enumerate(PICKS)
    ]
    for name, game, seats, boards in CUPS:
        owner = versions[0].bot.owner
        cup = tournaments.create(
            owner, name, game, boards=boards, versions=versions, players=seats, secret=SECRET, limits=LIMITS
        )
        tournaments.start(counted(cup))
    hermit = _bot(HERMIT, HERMIT, "len(m['legal']) // 3", EntryPolicy.ASK)
    everybody = [*(version.bot.owner for version in (*versions, hermit)), players.create("guest")]
    return {player.name: tokens.create(player, "storm")[1] for player in everybody}


def _bot(player: str, name: str, pick: str, policy: EntryPolicy) -> BotVersion:
    """Create an accepted version of a bot of a new player. pick: which of the legal answers it gives, as Python."""
    body = f"def act(m): return json.dumps({{'id': m['id'], 'do': m['legal'][{pick}]}}) + '\\n'"
    games = [*(game for _, game, _, _ in CUPS), *LATER]
    source = FRAME.format(body=body).encode()
    version = bots.upload(players.create(player), name, source, "bot.py", games, secret=SECRET)
    for match in Match.objects.filter(kind=MatchKind.VALIDATION, parties__version=version).distinct():
        transitions.move(match, "cancelled", now=version.created)
    transitions.move(version, VersionStatus.ACCEPTED, now=version.created)
    consent.set_policy(version.bot, policy, actor=player)
    return version


def table() -> dict[str, Any]:
    """Return the final table as plain data: matches, boards, sittings card by card, standings, sums of the ratings, places."""
    return {
        "matches": {_key(match): _match(match) for match in Match.objects.filter(kind="tournament").order_by("key")},
        "cups": {cup.slug: _cup(cup) for cup in Tournament.objects.order_by("slug")},
        "pools": {pool.game: _pool(pool) for pool in Pool.objects.exclude(ratings=None).order_by("game").distinct()},
    }


def _key(match: Match) -> str:
    """Not by the number of the tournament's row: one that was rolled back has used up a number."""
    assert match.tournament is not None
    return match.key.replace(f"t:{match.tournament_id}:", f"{match.tournament.slug}:", 1)


def _match(match: Match) -> dict[str, Any]:
    parties = match.parties.order_by("number")
    return {
        "id": match.public_id,
        "status": match.status,
        "boards": [[board.number, board.scores] for board in match.boards.order_by("number")],
        "sittings": [
            _sitting(row) for row in Sitting.objects.filter(board__match=match).order_by("board_id", "number")
        ],
        "parties": [
            [row.version_id, row.points, row.wins, row.draws, row.losses, row.fault, row.decisions] for row in parties
        ],
    }


def _sitting(sitting: Sitting) -> list[Any]:
    record = replays.unpack(sitting)
    del record["timings"], record["pass"]["pinned"]  # The times of decisions and the free cores differ between runs
    fields = record | {f"meta.{name}": value for name, value in record.pop("meta").items()}
    return [
        sitting.number,
        sitting.seating,
        sitting.scores,
        sitting.fault,
        {name: _short(fields[name]) for name in fields},
    ]


def _short(value: Any) -> str:
    """Itself, or its digest: enough to say what differs."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else f"{len(text)} bytes, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


def _cup(cup: Tournament) -> dict[str, Any]:
    table = standings.standings(cup)
    return {
        "status": cup.status,
        "rows": [[row.entry.number, str(row.result), row.faults] for row in table.rows],
        "cells": {str(pair): str(cell) for pair, cell in sorted(table.cells.items())},
    }


def _pool(pool: Pool) -> dict[str, Any]:
    rows = Rating.objects.filter(pool=pool).order_by("version_id")
    elos = [(version, round(elo, 6)) for version, elo in rows.values_list("version_id", "elo")]
    return {
        "sums": [totals.read_stored(pool).digest, totals.recount(pool).digest],
        "places": [
            version for _, version in sorted((-elo, version) for version, elo in elos)
        ],  # equals by their number
        "boards": list(rows.values_list("version_id", "boards", "opponents", "score", "points_per_board", "faults")),
        "elo": elos,
        "sides": len(pools.game_of(pool).sides),
    }


def check() -> list[str]:
    """Return the findings of the league's own checks, and the players who exceed their limits."""
    invariants.GRACE = timedelta(0)
    findings = [str(finding) for finding in invariants.check_all()]
    for player in Player.objects.order_by("pk"):
        over = [limit for limit in quotas.limits(player) if limit.most is not None and limit.used > limit.most]
        findings += [f"{player} has {limit.used} {limit.name} of {limit.most}" for limit in over]
    return findings


PROGRAMS = {"make": make, "print": table, "check": check}


def main() -> None:
    """Answer until the input ends. A program that fails tells why on stderr and ends this one, too."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(json.dumps(PROGRAMS[line.strip()](), sort_keys=True, default=str), flush=True)
            return
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(1)


if __name__ == "__main__":
    main()
