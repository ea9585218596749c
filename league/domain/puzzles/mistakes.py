"""Learning from mistakes: positions in which a player, or a bot of theirs, gave points away, as puzzles that only this player sees.

A worker searches what the player asks for (`jobs.handlers.mistakes`). A mistake comes back after growing pauses, the next day after a wrong answer,
until it has been answered right four times in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from engine.analysis import JUDGE
from engine.puzzles import NotAPuzzleError, Puzzle, read
from league.domain.core import clock, queue
from league.domain.core.errors import TooMany
from league.domain.matches import sight
from league.domain.people import players, quotas
from league.domain.puzzles import answers
from league.domain.tables import deals
from league.enums import JudgementKind, JudgementStatus, MatchKind, MatchStatus, TableStatus
from league.models import Judgement, Mistake, MistakeSearch, Player, Solver, Table

JOB = "mistakes"  # The kind of a search's job.
AT_ONCE = 5  # The most tables, and the most matches, that one request searches.
PAUSES = (1, 3, 7, 21)  # Days until a mistake comes back, by the number of right answers in a row; then it is learnt.
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OwnMistake:
    """A mistake with its puzzle. played: the choice that gave points away; table: the table where the player sat; "" for a match of bots."""

    row: Mistake
    puzzle: Puzzle
    played: str
    table: str


@dataclass(frozen=True, slots=True)
class MistakeVerdict:
    """The judgement of an answer. counts: False if the mistake was not due; due: when it comes back, None if it is learnt."""

    answer: str
    solved: bool
    lost: float | None
    counts: bool
    due: date | None


def ask(player: Player, *, now: datetime | None = None) -> int:
    """Queue the search of the player's latest tables and of the latest analysed matches of their bots; return the number of new searches.

    Each counts towards the quota of analyses. Raise TooMany if the quota has room for none.
    """
    now = clock.now_or(now)
    count = 0
    for subject in _unsearched(player, now):
        try:
            count += _add(player, subject, now)
        except TooMany:
            if not count:
                raise
            break
    return count


def _unsearched(player: Player, now: datetime) -> list[Table | Judgement]:
    """Return what is not searched yet, newest first: tables that are over and whose deals nobody may still play, and analyses."""
    searches = MistakeSearch.objects.filter(player=player)
    # A person who has left is away: the bot behind the seat played on
    tables = Table.objects.filter(people__player=player, people__away=False, status=TableStatus.FINISHED)
    tables = tables.filter(Q(deals="") | Q(deals_until__lte=now))
    tables = tables.exclude(pk__in=searches.filter(table__isnull=False).values("table")).distinct()
    judged = Judgement.objects.filter(kind=JudgementKind.FAIR, judge=JUDGE, status=JudgementStatus.DONE)
    judged = judged.filter(match__parties__version__bot__owner=player, match__status=MatchStatus.FINISHED).distinct()
    judged = judged.exclude(pk__in=searches.filter(judgement__isnull=False).values("judgement"))
    # `sight.is_held_back` refuses these at each request: without this line older matches would never be searched.
    judged = judged.filter(match__in_class=False, match__tournament__opens=None)
    finished = tables.defer("records", "spectated", "secret").order_by("-finished", "-pk")[:AT_ONCE]
    open_tables: list[Table | Judgement] = [row for row in finished if deals.are_open(row, now=now)]
    return [*open_tables, *judged.exclude(match__kind=MatchKind.ASSIGNMENT).defer("body").order_by("-pk")[:AT_ONCE]]


def _add(player: Player, subject: Table | Judgement, now: datetime) -> bool:
    key: dict[str, Any] = {"table" if isinstance(subject, Table) else "judgement": subject}
    with transaction.atomic():
        players.lock(player.pk)
        if MistakeSearch.objects.filter(player=player, **key).exists():
            return False
        quotas.ask(player, quotas.JUDGEMENTS, now=now)
        row = MistakeSearch.objects.create(player=player, created=now, **key)
        queue.add(JOB, owner=player, position=queue.turn_of(JOB, player), now=now, mistake_search=row)
    return True


def waiting(player: Player) -> int:
    """Return the number of the player's searches that are not finished. One query."""
    return MistakeSearch.objects.filter(player=player, finished=None).count()


def visible(player: Player, *, now: datetime | None = None) -> QuerySet[Mistake]:
    """Select the player's mistakes, without those from matches whose cards are hidden or that are void."""
    condition = Q(search__judgement=None) | Q(search__judgement__match__status=MatchStatus.FINISHED)
    now = clock.now_or(now)
    condition &= sight.by_everybody("search__judgement__match__tournament__", now=now)
    for path in ("search__judgement__match__embargo", "search__judgement__match__tournament__embargo"):
        condition &= Q(**{path: None}) | Q(**{f"{path}__lte": now})
    rows = Mistake.objects.filter(condition, player=player).select_related("search__table")
    return rows.defer("search__table__secret", "search__table__records", "search__table__spectated")


def due(player: Player, *, now: datetime | None = None) -> list[Mistake]:
    """Return the mistakes to be asked today, the longest due first. Two queries."""
    now = clock.now_or(now)
    return list(visible(player, now=now).filter(due__lte=_today(player, now)).defer("line").order_by("due", "pk"))


def counts(player: Player) -> tuple[int, int]:
    """Return the numbers of the player's mistakes and of the learnt ones. One query."""
    row = visible(player).aggregate(total=Count("pk"), learnt=Count("pk", filter=Q(due=None)))
    return row["total"], row["learnt"]


def _today(player: Player, now: datetime) -> date:
    return answers.day_of(Solver.objects.filter(player=player).first() or Solver(player=player), now)


def find(player: Player, puzzle: str) -> OwnMistake | None:
    """Return a mistake of the player; None if there is none, or the rules have changed since."""
    row = visible(player).filter(puzzle=puzzle).first()
    if row is None:
        return None
    try:
        item = read(row.line)
    except NotAPuzzleError:
        return None
    table = row.search.table.public_id if row.search.table else ""
    return OwnMistake(row, item, str(item.source.get("played", "")), table)


def answer(mistake: OwnMistake, text: str, *, zone: str = "", now: datetime | None = None) -> MistakeVerdict:
    """Judge an answer. If the mistake is due, put it off and count the player's day. Raise Refused if there is no such choice."""
    now = clock.now_or(now)
    solved, lost = answers.judge(mistake.puzzle, text)
    with transaction.atomic():
        players.lock(mistake.row.player_id)
        row = Mistake.objects.get(pk=mistake.row.pk)
        solver = Solver.objects.filter(player=row.player_id).first() or Solver(player_id=row.player_id)
        if row.due is None or row.due > answers.day_of(solver, now):
            return MistakeVerdict(text, solved, lost, counts=False, due=row.due)
        answers.count_day(solver, zone, now)
        solver.save()
        row.box = row.box + 1 if solved else 0
        row.due = answers.day_of(solver, now) + PAUSES[row.box] * DAY if row.box < len(PAUSES) else None
        row.answers += 1
        row.save(update_fields=["box", "due", "answers"])
    return MistakeVerdict(text, solved, lost, counts=True, due=row.due)


def store(search: MistakeSearch, puzzles: Sequence[Puzzle], *, now: datetime) -> None:
    """Store the new mistakes of a search. Each is due at once, in every time zone."""
    columns: dict[str, Any] = {"player_id": search.player_id, "search": search, "created": now, "due": now.date() - DAY}
    rows = [Mistake(puzzle=puzzle.id, line=puzzle.line(), **columns) for puzzle in puzzles]
    # Two bots of a player may make the same mistake with the same cards
    Mistake.objects.bulk_create(rows, ignore_conflicts=True)
