"""Totals over the matches of bots, for their pages. The scheduler adds each rated match once, and subtracts a match that is voided.

Results, style and opening choices (`league.domain.bots.choices`) count all boards of a match. The worker counts style and choices while
it plays and reports them with the result. If the cards of a match are withheld when it is counted, it adds neither style nor choices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from itertools import permutations
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet, Sum

import engine
from engine.choices import PartyCounts
from league.domain.bots import choices
from league.domain.core import clock
from league.domain.matches import embargoes
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Board, Bot, Match, MatchStyle, MeetingSum, Party, PlayedSum, Player, Pool
from league.pure import style
from league.pure.style import Style

BATCH = 10  # Matches in one transaction.
SLICE = 500  # Matches that a query names.
RESULTS = ("matches", "boards", "wins", "draws", "losses", "points", "faults")
STRUCK = Q(status=MatchStatus.VOID) | Q(status=MatchStatus.FINISHED, rated=False)
Key = tuple[int, ...]


def count_new(*, most: int = BATCH, now: datetime | None = None) -> int:
    """Subtract voided matches, then add finished ones, newest first; return the number of matches.

    Repeatable, also by several processes at once. Two queries if there is nothing to do.
    """
    now = clock.now_or(now)
    struck = Match.objects.filter(STRUCK, summed=True).order_by("id")
    fresh = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, summed=False).order_by("-id")
    removed = _carry(struck, list(struck.values_list("pk", flat=True)[:most]), {}, {}, sign=-1)
    ids = list(fresh.values_list("pk", flat=True)[:most])
    matches = list(choices.with_cards(Match.objects.filter(pk__in=ids))) if ids else []
    styles = {match.pk: _style_of(match, now) for match in matches}
    chosen = {match.pk: counts for match in matches if (counts := choices.counted(match, now=now)) is not None}
    return removed + _carry(fresh, ids, styles, chosen, sign=1)


def _style_of(match: Match, now: datetime) -> list[Style] | None:
    """Return the style of each party; None if the cards are withheld, or its worker did not count it."""
    counts_by_party: list[Any] = [party.style for party in match.parties.all()]
    if not counts_by_party or not all(counts_by_party) or embargoes.in_force(match, now=now):
        return None
    return [Style(*counts) for counts in counts_by_party]


def _carry(
    rows: QuerySet[Match],
    ids: Sequence[int],
    styles: Mapping[int, list[Style] | None],
    chosen: Mapping[int, list[PartyCounts]],
    *,
    sign: int,
) -> int:
    """Add these matches to the totals (`sign` 1) or subtract them (-1), except those that are no longer among `rows`."""
    if not ids:
        return 0
    with transaction.atomic():
        locked = rows.filter(pk__in=ids).select_for_update(skip_locked=True, of=("self",))
        matches = list(locked.select_related("pool").defer("secret", "host"))
        locked_ids = [match.pk for match in matches]
        Match.objects.filter(pk__in=locked_ids).update(summed=sign > 0)
        match_styles = _keep_styles(locked_ids, styles) if sign > 0 else _take_styles(locked_ids)
        played: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        met: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        parties, boards = _parties(locked_ids), _boards(locked_ids)
        for match in matches:
            _add_played(match, parties[match.pk], len(boards[match.pk]), match_styles.get(match.pk), played)
            _add_met(match, parties[match.pk], boards[match.pk], met)
        # In a fixed order, the pools' rows last, so that two processes cannot deadlock.
        for (bot, pool, opponent), added in sorted(met.items()):
            _grow(MeetingSum, {"bot_id": bot, "pool_id": pool, "opponent_id": opponent}, added, sign)
        for (version, pool), added in sorted(played.items(), key=lambda item: (not item[0][0], item[0])):
            _grow(PlayedSum, {"version_id": version or None, "pool_id": pool}, added, sign)
        if sign > 0:
            choices.add(matches, parties, chosen)
        else:
            choices.subtract(locked_ids, parties)
    return len(matches)


def _keep_styles(ids: Iterable[int], styles: Mapping[int, list[Style] | None]) -> dict[int, list[Style]]:
    match_styles = {pk: party_styles for pk in ids if (party_styles := styles.get(pk))}
    MatchStyle.objects.bulk_create(
        [MatchStyle(match_id=pk, counts=[astuple(row) for row in rows]) for pk, rows in match_styles.items()]
    )
    return match_styles


def _take_styles(ids: Iterable[int]) -> dict[int, list[Style]]:
    rows = MatchStyle.objects.filter(match__in=list(ids))
    match_styles = {row.match_id: [Style(*counts) for counts in row.counts] for row in rows}
    rows.delete()
    return match_styles


def _parties(ids: Sequence[int]) -> dict[int, list[Party]]:
    parties: dict[int, list[Party]] = {pk: [] for pk in ids}
    rows = Party.objects.filter(match__in=ids).select_related("version").order_by("number")
    columns = ("match", "number", "points", "wins", "draws", "losses", "fault", "version__bot")
    for row in rows.only(*columns):
        parties[row.match_id].append(row)
    return parties


def _boards(ids: Sequence[int]) -> dict[int, list[list[int]]]:
    boards: dict[int, list[list[int]]] = {pk: [] for pk in ids}
    for pk, scores in Board.objects.filter(match__in=ids).values_list("match", "scores"):
        boards[pk].append(scores)
    return boards


def _add_played(
    match: Match, parties: Sequence[Party], boards: int, styles: list[Style] | None, into: dict[Key, dict[str, int]]
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
        how = astuple(styles[party.number]) if styles and party.number < len(styles) else ()
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
    counted_keys: set[Key] = set()
    for party, rival in permutations(parties, 2):
        bot, rival_bot = party.version.bot_id, rival.version.bot_id
        if bot == rival_bot or any({party.number, rival.number} <= set(side) for side in partners):
            continue
        key = (bot, match.pool_id, rival_bot)
        row = into[key]
        row["matches"] += key not in counted_keys
        counted_keys.add(key)
        leads = [scores[party.number] - scores[rival.number] for scores in boards]
        row["boards"] += len(leads)
        row["wins"] += sum(lead > 0 for lead in leads)
        row["draws"] += sum(lead == 0 for lead in leads)
        row["losses"] += sum(lead < 0 for lead in leads)
        row["difference"] += sum(leads)


def meetings_of(ids: Sequence[int]) -> Iterator[tuple[Match, dict[Key, dict[str, int]]]]:
    """Yield these matches with what each adds to MeetingSum, by bot, pool and opponent. Three queries for some hundred of them."""
    for start in range(0, len(ids), SLICE):
        some = ids[start : start + SLICE]
        parties, boards = _parties(some), _boards(some)
        for match in Match.objects.filter(pk__in=some).select_related("pool").defer("secret", "host"):
            met: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
            _add_met(match, parties[match.pk], boards[match.pk], met)
            yield match, met


def _grow(model: type[Model], key: Mapping[str, Any], added: Mapping[str, int], sign: int) -> None:
    row, _created = model._default_manager.get_or_create(**key)
    grown = {name: F(name) + sign * value for name, value in added.items() if value}
    model._default_manager.filter(pk=row.pk).update(**grown)


# ---- results for pages


@dataclass(frozen=True, slots=True)
class PoolResult:
    """The results of all versions of a bot, or all bots of a player, in one pool."""

    pool: Pool
    boards: int
    wins: int
    draws: int
    losses: int
    points: float  # Per board, in the unit of the game.
    faults: int

    @property
    def share(self) -> float | None:
        """Return the board points as a share from 0 to 1: 1 for a win, 1/2 for a draw, against each opponent."""
        met = self.wins + self.draws + self.losses
        return (self.wins + self.draws / 2) / met if met else None


def results_of(bot: Bot) -> list[PoolResult]:
    """Return the results of all versions of a bot, by pool, most boards first. Two queries."""
    return _results(PlayedSum.objects.filter(version__bot=bot))


def results_of_player(player: Player) -> list[PoolResult]:
    """Return the results of all bots of a player, by pool, most boards first. Two queries."""
    return _results(PlayedSum.objects.filter(version__bot__owner=player))


def size_of(pool: Pool) -> int:
    """Return the score units in one unit of the game, also for options that only another release knows."""
    return engine.load(pool.game, players=pool.players).score_size


def _results(rows: QuerySet[PlayedSum]) -> list[PoolResult]:
    sums = (
        rows.filter(boards__gt=0).order_by().values("pool").annotate(**{f"all_{name}": Sum(name) for name in RESULTS})
    )
    rows_by_boards: list[dict[str, Any]] = sorted(map(dict, sums), key=lambda row: (-row["all_boards"], row["pool"]))
    pools_by_id = Pool.objects.in_bulk([row["pool"] for row in rows_by_boards])
    return [
        PoolResult(
            pools_by_id[row["pool"]],
            row["all_boards"],
            row["all_wins"],
            row["all_draws"],
            row["all_losses"],
            row["all_points"] / row["all_boards"] / size_of(pools_by_id[row["pool"]]),
            row["all_faults"],
        )
        for row in rows_by_boards
    ]


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of play as a share from 0 to 1: of the version, of the version before, and of all bots in the pool.

    None if it never had the chance.
    """

    name: str  # "sung", "trump_leads" or "capotes"
    own: float | None
    before: float | None
    everybody: float | None


@dataclass(frozen=True, slots=True)
class Manner:
    """The style of a version in a pool.

    `places`: number of counted seats in deals; `before`: number of the version before, None for the first one.
    """

    version: int
    places: int
    before: int | None
    traits: list[Trait]


TRAITS = (("sung", "places"), ("trump_leads", "leads"), ("capotes", "places"))


def manner_of(bot: Bot, pool: Pool) -> Manner | None:
    """Return the style of a bot's newest counted version in a pool, with those of the version before and of all bots there. One query."""
    rows = PlayedSum.objects.filter(Q(version__bot=bot) | Q(version=None), pool=pool, places__gt=0)
    everybody = None
    own_rows = []
    # The two newest versions, and the row of all bots.
    for row in rows.select_related("version").order_by(F("version__number").desc(nulls_first=True))[:3]:
        if row.version is None:
            everybody = row
        else:
            own_rows.append(row)
    if not own_rows or own_rows[0].version is None:
        return None
    before = own_rows[1] if len(own_rows) > 1 else None
    traits = [
        Trait(name, _share(own_rows[0], name, base), _share(before, name, base), _share(everybody, name, base))
        for name, base in TRAITS
    ]
    # Skip traits that no bot in this pool shows.
    shown_traits = [trait for trait in traits if any((trait.own, trait.before, trait.everybody))]
    number = before.version.number if before is not None and before.version is not None else None
    return Manner(own_rows[0].version.number, own_rows[0].places, number, shown_traits)


def _share(row: PlayedSum | None, name: str, base: str) -> float | None:
    if row is None or not getattr(row, base):
        return None
    return float(getattr(row, name) / getattr(row, base))
