"""What a format makes of the rows of a tournament: the matches that ought to exist, and whether it is over."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from league.domain.core import hints, history
from league.domain.matches import matches, sight
from league.domain.tournaments import formats
from league.enums import MatchKind, MatchStatus
from league.models import Board, Match, Party, Round, Tournament
from league.pure.formats import Field, Outcome, Pairing, Sheet, Slot

OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)


@dataclass(frozen=True)
class PlayedFormat:
    """A tournament as its format sees it."""

    outcome: Outcome
    sheet: Sheet
    field: Field


def play_format(
    tournament: Tournament, *, blank: bool = False, at: datetime | None = None, over: Collection[int] | None = None
) -> PlayedFormat:
    """What the format makes of a tournament.

    blank: without results, for formats whose pairings do not depend on them. at: with the results of that past moment. over: with those of
    these matches alone.
    """
    # First what was played, then what was drawn, then who is in: nobody is read of whom the next statement knows nothing.
    results = {} if blank else read_results(tournament, at, over)
    drawn = drawn_pairings(tournament) if formats.format_named(tournament.format).stands and not blank else ()
    form, field = formats.field_of_tournament(tournament)
    sheet = Sheet.for_field(field, results, drawn)
    return PlayedFormat(form.play(field, sheet), sheet, field)


def read_results(
    tournament: Tournament, at: datetime | None = None, over: Collection[int] | None = None
) -> dict[Slot, Sequence[Sequence[int]]]:
    """Boards by table of all matches that are over, scores by ascending entry. Four queries; of the past five.

    One that was struck out has none, unless it was played again; in a bracket it decides nothing, as if it had not been
    played yet. The first statement says what is over: a match that finishes
    after it is live here, whatever the next statements find of it.
    """
    decides = not formats.format_named(tournament.format).bracket
    finished: dict[int, Slot] = {}
    found: dict[Slot, Sequence[Sequence[int]]] = {}
    live: set[Slot] = set()
    then: Collection[int] | None = over
    if at is not None:
        then = set(history.finished(tournament.matches.all(), at).values_list("pk", flat=True))
    for pk, table, first, status in tournament.matches.values_list("pk", "table", "first_board", "status"):
        if pk in then if then is not None else status == MatchStatus.FINISHED:
            finished[pk] = (table, first)
        elif then is None and status in OVER:
            if decides:
                found[table, first] = []
        else:
            live.add((table, first))
    boards: dict[int, list[Sequence[int]]] = defaultdict(list)
    seated = _seated(tournament)
    played = Board.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    for pk, scores in played.values_list("match_id", "scores"):
        if pk in finished:
            boards[pk].append([score for _, score in sorted(zip(seated[pk], scores, strict=True))])
    found |= {slot: boards[pk] for pk, slot in finished.items()}
    return {slot: played for slot, played in found.items() if slot not in live}


def _seated(tournament: Tournament) -> dict[int, list[int]]:
    """By match, the numbers of its entries in the order of the places. Two queries."""
    parties = Party.objects.filter(match__tournament=tournament).order_by("match_id", "number")
    rows = list(parties.values_list("match_id", "version_id"))
    number = dict(
        tournament.entries.values_list("version_id", "number")
    )  # after them: who sits somewhere has been entered
    found: dict[int, list[int]] = defaultdict(list)
    for match_id, version_id in rows:
        found[match_id].append(number[version_id])
    return found


def drawn_pairings(tournament: Tournament) -> list[Pairing]:
    """The tables that exist, in the order in which they were made. Three queries."""
    made = tournament.matches.order_by("id")
    rows = list(made.values_list("pk", "round__number", "table", "first_board", "boards_planned"))
    seated = _seated(tournament)  # after them: a match is inserted together with its parties
    there: dict[Slot, Pairing] = {}
    for pk, round_number, table, first, boards in rows:
        there.setdefault((table, first), Pairing(round_number, table, tuple(seated[pk]), first, boards))
    return list(there.values())


def plan_matches(tournament: Tournament, tables: Iterable[Pairing]) -> list[matches.MatchPlan]:
    """Tables as matches. Rounds are made where they do not exist."""
    tables = list(tables)
    entries = {entry.number: entry for entry in tournament.entries.select_related("version__bot")}
    numbers = sorted({table.round for table in tables})
    Round.objects.bulk_create((Round(tournament=tournament, number=n) for n in numbers), ignore_conflicts=True)
    rows = {row.number: row for row in tournament.rounds.filter(number__in=numbers)}
    return [
        matches.MatchPlan(
            key=_key(tournament, table),
            kind=MatchKind.TOURNAMENT,
            pool=tournament.pool,
            tournament=tournament,
            round=rows[table.round],
            table=table.name,
            secret=bytes(tournament.secret),
            first_board=table.first,
            boards=table.boards,
            versions=tuple(entries[number].version for number in table.entries),
            # What is held back is unrated: who sees results first could show those alone that they like
            rated=not sight.is_held_back(tournament),
            limits=tournament.limits,
        )
        for table in tables
    ]


def _key(tournament: Tournament, table: Pairing) -> str:
    name = f"t:{tournament.pk}:{table.name}"
    return name if table.first == 1 else f"{name}:{table.first}"


@contextmanager
def _collector_rests() -> Iterator[None]:
    """Tens of thousands of rows live at once: to look through them for garbage again and again takes a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def insert(tournament: Tournament, tables: Iterable[Pairing], *, now: datetime) -> int:
    """Insert the matches of `tables` that are missing; their number. Doing it twice adds nothing."""
    with _collector_rests():
        added = matches.insert(plan_matches(tournament, tables), now=now)
    if added:
        hints.matches_wait()
    return added


def has_open_matches(tournament: Tournament) -> bool:
    """Whether a match of it is not over."""
    return Match.objects.filter(tournament=tournament).exclude(status__in=OVER).exists()
