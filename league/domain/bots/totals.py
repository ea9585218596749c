"""What bots have played, summed up for their pages: each rated match once, by the scheduler; taken out again where a match is struck out.

Results count all boards of a match, and so does how a bot plays: the worker counts that while it has the cards at hand, and tells it with the result.
Of a match of a release that did not, it is taken from the first boards, STYLE_BOARDS of them: a log takes some milliseconds a deal to play again.
Nothing is taken from a match whose cards are held back when it is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from itertools import permutations
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Prefetch, Q, QuerySet, Sum

import engine
from league.domain.core import clock
from league.domain.matches import embargoes, logs, packing
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Board, Bot, Match, MatchStyle, MeetingSum, Party, PlayedSum, Player, Pool
from league.pure import style
from league.pure.style import Style

BATCH = 10  # matches of one transaction
STYLE_BOARDS = 2  # of a match whose worker did not count
RESULTS = ("matches", "boards", "wins", "draws", "losses", "points", "faults")
OF_MEETING = ("matches", "boards", "wins", "draws", "losses", "difference")
STRUCK = Q(status=MatchStatus.VOID) | Q(status=MatchStatus.FINISHED, rated=False)
Key = tuple[int, ...]


def count_new(*, most: int = BATCH, now: datetime | None = None) -> int:
    """Take out what was struck out since, then count what has finished, the newest first; the number of matches.

    At any time, by any number of processes. Two queries where there is none.
    """
    now = clock.now_or(now)
    struck = Match.objects.filter(STRUCK, summed=True).order_by("id")
    fresh = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, summed=False).order_by("-id")
    done = _carry(struck, list(struck.values_list("pk", flat=True)[:most]), {}, sign=-1)
    ids = list(fresh.values_list("pk", flat=True)[:most])
    # While no row is locked: a log takes some milliseconds a deal to play again
    styles = {match.pk: _style_of(match, now) for match in _with_cards(ids)}
    return done + _carry(fresh, ids, styles, sign=1)


def _with_cards(ids: Sequence[int]) -> Iterable[Match]:
    rows = Match.objects.filter(pk__in=ids).select_related("tournament").defer("secret", "host")
    parties = Party.objects.order_by("number").only("match", "number", "style")
    return rows.defer("tournament__secret").prefetch_related(Prefetch("parties", parties))


def _style_of(match: Match, now: datetime) -> list[Style] | None:
    """How its parties play; None where its cards are held back, were let go, or cannot be read."""
    if embargoes.in_force(match, now=now):
        return None
    told: list[Any] = [party.style for party in match.parties.all()]
    if told and all(told):
        return [Style(*counts) for counts in told]
    try:
        log = logs.opened(match)
        places = [place for place in log.places() if place[0] < match.first_board + STYLE_BOARDS]
        found: list[Style] | None = None
        for place in places:
            record = log.record(place)
            seating = record["meta"]["seating"]
            counted = style.count(record["events"], seating, max(seating) + 1)
            found = [one + two for one, two in zip(found, counted, strict=True)] if found else counted
    except (logs.Unopened, packing.OtherRules, LookupError, TypeError, ValueError):
        return None
    return found


def _carry(rows: QuerySet[Match], ids: Sequence[int], styles: Mapping[int, list[Style] | None], *, sign: int) -> int:
    """Add these matches to the sums (`sign` 1) or take them out (-1), those of them that are still among `rows`."""
    if not ids:
        return 0
    with transaction.atomic():
        mine = rows.filter(pk__in=ids).select_for_update(skip_locked=True, of=("self",))
        matches = list(mine.select_related("pool").defer("secret", "host"))
        mine_ids = [match.pk for match in matches]
        Match.objects.filter(pk__in=mine_ids).update(summed=sign > 0)
        kept = _keep_styles(mine_ids, styles) if sign > 0 else _take_styles(mine_ids)
        played: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        met: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        parties, boards = _parties(mine_ids), _boards(mine_ids)
        for match in matches:
            _add_played(match, parties[match.pk], len(boards[match.pk]), kept.get(match.pk), played)
            _add_met(match, parties[match.pk], boards[match.pk], met)
        # In one order, the pools' last: of two processes one waits, and neither for ever
        for (bot, pool, opponent), added in sorted(met.items()):
            _grow(MeetingSum, {"bot_id": bot, "pool_id": pool, "opponent_id": opponent}, added, sign)
        for (version, pool), added in sorted(played.items(), key=lambda one: (not one[0][0], one[0])):
            _grow(PlayedSum, {"version_id": version or None, "pool_id": pool}, added, sign)
    return len(matches)


def _keep_styles(ids: Iterable[int], styles: Mapping[int, list[Style] | None]) -> dict[int, list[Style]]:
    found = {pk: told for pk in ids if (told := styles.get(pk))}
    MatchStyle.objects.bulk_create(
        [MatchStyle(match_id=pk, counts=[astuple(one) for one in told]) for pk, told in found.items()]
    )
    return found


def _take_styles(ids: Iterable[int]) -> dict[int, list[Style]]:
    rows = MatchStyle.objects.filter(match__in=list(ids))
    found = {row.match_id: [Style(*counts) for counts in row.counts] for row in rows}
    rows.delete()
    return found


def _parties(ids: Sequence[int]) -> dict[int, list[Party]]:
    found: dict[int, list[Party]] = {pk: [] for pk in ids}
    rows = Party.objects.filter(match__in=ids).select_related("version").order_by("number")
    columns = ("match", "number", "points", "wins", "draws", "losses", "fault", "version__bot")
    for row in rows.only(*columns):
        found[row.match_id].append(row)
    return found


def _boards(ids: Sequence[int]) -> dict[int, list[list[int]]]:
    found: dict[int, list[list[int]]] = {pk: [] for pk in ids}
    for pk, scores in Board.objects.filter(match__in=ids).values_list("match", "scores"):
        found[pk].append(scores)
    return found


def _add_played(
    match: Match, parties: Sequence[Party], boards: int, told: list[Style] | None, into: dict[Key, dict[str, int]]
) -> None:
    for party in parties:
        values = (
            1,
            boards,
            party.wins or 0,
            party.draws or 0,
            party.losses or 0,
            party.points or 0,
            1 if party.fault else 0,
        )
        how = astuple(told[party.number]) if told and party.number < len(told) else ()
        for version in (party.version_id, 0):
            row = into[version, match.pool_id]
            for name, value in zip(RESULTS, values, strict=True):
                row[name] += value
            for name, value in zip(style.COUNTS, how, strict=False):
                row[name] += value


def _add_met(
    match: Match, parties: Sequence[Party], boards: Sequence[Sequence[int]], into: dict[Key, dict[str, int]]
) -> None:
    partners = pools.sides(match.pool) or ()
    seen: set[Key] = set()
    for one, other in permutations(parties, 2):
        mine, theirs = one.version.bot_id, other.version.bot_id
        if mine == theirs or any({one.number, other.number} <= set(side) for side in partners):
            continue
        key = (mine, match.pool_id, theirs)
        row = into[key]
        row["matches"] += key not in seen
        seen.add(key)
        leads = [scores[one.number] - scores[other.number] for scores in boards]
        row["boards"] += len(leads)
        row["wins"] += sum(lead > 0 for lead in leads)
        row["draws"] += sum(lead == 0 for lead in leads)
        row["losses"] += sum(lead < 0 for lead in leads)
        row["difference"] += sum(leads)


def _grow(model: type[Model], key: Mapping[str, Any], added: Mapping[str, int], sign: int) -> None:
    kept, _made = model._default_manager.get_or_create(**key)
    grown = {name: F(name) + sign * value for name, value in added.items() if value}
    model._default_manager.filter(pk=kept.pk).update(**grown)


# ---- what pages show


@dataclass(frozen=True, slots=True)
class Result:
    """What all versions of a bot, or all bots of a player, did in one pool."""

    pool: Pool
    boards: int
    wins: int
    draws: int
    losses: int
    points: float  # of a board, in the unit of the game
    faults: int

    @property
    def share(self) -> float | None:
        """Board points of each comparison: 1 for a win, 1/2 for a draw."""
        met = self.wins + self.draws + self.losses
        return (self.wins + self.draws / 2) / met if met else None


def results_of(bot: Bot) -> list[Result]:
    """Of all versions of a bot, by pool, most boards first. Two queries."""
    return _results(PlayedSum.objects.filter(version__bot=bot))


def results_of_player(player: Player) -> list[Result]:
    """Of all bots of a player, by pool, most boards first. Two queries."""
    return _results(PlayedSum.objects.filter(version__bot__owner=player))


def size_of(pool: Pool) -> int:
    """How many points of its scores make one of the game's unit; also of games whose options another release has."""
    return engine.load(pool.game, players=pool.players).score_size


def _results(rows: QuerySet[PlayedSum]) -> list[Result]:
    found = (
        rows.filter(boards__gt=0).order_by().values("pool").annotate(**{f"all_{name}": Sum(name) for name in RESULTS})
    )
    told: list[dict[str, Any]] = sorted(map(dict, found), key=lambda row: (-row["all_boards"], row["pool"]))
    there = Pool.objects.in_bulk([row["pool"] for row in told])
    return [
        Result(
            there[row["pool"]],
            row["all_boards"],
            row["all_wins"],
            row["all_draws"],
            row["all_losses"],
            row["all_points"] / row["all_boards"] / size_of(there[row["pool"]]),
            row["all_faults"],
        )
        for row in told
    ]


@dataclass(frozen=True, slots=True)
class Trait:
    """One way of playing: a share, 0 to 1, of the version, of the one before, of all bots of the table. None: it had no occasion."""

    name: str  # "sung", "trump_leads" or "capotes"
    mine: float | None
    before: float | None
    everybody: float | None


@dataclass(frozen=True, slots=True)
class Manner:
    """How a version plays in a pool. `places`: seats in deals that were looked at; `before`: the number of the version before, None for the first."""

    version: int
    places: int
    before: int | None
    traits: list[Trait]


TRAITS = (("sung", "places"), ("trump_leads", "leads"), ("capotes", "places"))


def manner_of(bot: Bot, pool: Pool) -> Manner | None:
    """How the newest version of a bot plays that was looked at in a pool, beside the one before and all bots there. One query."""
    rows = PlayedSum.objects.filter(Q(version__bot=bot) | Q(version=None), pool=pool, places__gt=0)
    everybody = None
    mine = []
    # Of a bot of many versions the two newest, and the row of all
    for row in rows.select_related("version").order_by(F("version__number").desc(nulls_first=True))[:3]:
        if row.version is None:
            everybody = row
        else:
            mine.append(row)
    if not mine or mine[0].version is None:
        return None
    before = mine[1] if len(mine) > 1 else None
    traits = [
        Trait(name, _share(mine[0], name, of), _share(before, name, of), _share(everybody, name, of))
        for name, of in TRAITS
    ]
    # What nobody here ever does tells of nobody
    told = [trait for trait in traits if any((trait.mine, trait.before, trait.everybody))]
    number = before.version.number if before is not None and before.version is not None else None
    return Manner(mine[0].version.number, mine[0].places, number, told)


def _share(row: PlayedSum | None, name: str, of: str) -> float | None:
    if row is None or not getattr(row, of):
        return None
    return float(getattr(row, name) / getattr(row, of))
