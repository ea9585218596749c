"""The lists of tournaments, events and circuits, and of the entries and rounds of a tournament, from finished lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import itemgetter

from django.http import HttpRequest

from league.api.http import lines
from league.api.http.filters import TournamentFilters
from league.api.tournaments import rows
from league.api.tournaments.event_serializers import CircuitOut, EventOut, PartOut, due_of
from league.api.tournaments.serializers import EntryOut, TournamentOut
from league.domain.core import clock, keyset
from league.domain.matches import sight
from league.domain.people.tokens import Viewer
from league.domain.tournaments import brackets
from league.domain.tournaments import circuits as leagues
from league.models import Circuit, Entry, Event, Round, Tournament
from league.service import marks

MOST_TOURNAMENTS = 5_000  # some 1,500 bytes each
MOST_ENTRIES = 10_000  # some 200 bytes each


def tournaments(request: HttpRequest, _named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the tournaments that `viewer` may see, newest first. Three queries, and those for lines that are made anew.

    A line tells everybody the same, and holds while nothing of its tournament changes, its entries and matches included, and its secret is
    held back or told as before. None where something is asked for wrongly: the view says what.
    """
    asked = lines.narrowed(request, TournamentFilters)
    if asked is None:
        return None
    versions = marks.read([marks.TOURNAMENTS, marks.MATCHES, marks.BOTS, marks.EVENTS, marks.NAMES])
    page = _tournaments.page(
        versions[marks.NAMES],
        lambda: sight.read_tournaments(("hidden",), asked.cursor, asked.size, viewer=viewer, some=asked.some),
    )
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _tournament_lines(missing: list[int]) -> dict[int, bytes]:
    found = rows.counted(list(rows.listed(None, seen=True).filter(pk__in=missing)))
    return {row.pk: lines.render(TournamentOut(row).data) for row in found}


_tournaments: lines.Lines[bytes] = lines.Lines(
    _tournament_lines, follow=lines.follow_marks(lambda pk: (marks.of_tournament(pk),)), most=MOST_TOURNAMENTS
)


def entries(request: HttpRequest, named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the entries of a tournament, by number. Three queries, and one for lines that are made anew.

    None where there is none that `viewer` may see, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, order=sight.BY_NUMBER)
    tournament = sight.find_tournament(named["slug"])
    if asked is None or tournament is None:
        return None
    versions = marks.read([marks.of_tournament(tournament), marks.BOTS, marks.NAMES])
    page = _entries.page(
        versions[marks.NAMES],
        lambda: sight.read_entries(columns(), asked.cursor, asked.size, tournament=tournament, viewer=viewer),
    )
    return lines.Made(asked.answer(page), versions) if page is not None and page.rows else None


def _entry_lines(missing: list[int]) -> dict[int, bytes]:
    found = Entry.objects.select_related("version__bot__owner").filter(pk__in=missing)
    return {row.pk: lines.render(EntryOut(row).data) for row in found}


_entries: lines.Lines[bytes] = lines.Lines(_entry_lines, most=MOST_ENTRIES)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its entry."""
    return lines.columns(EntryOut, Entry)


MOST_EVENTS = 2_000  # some 1,500 bytes each; a document has up to some kB
VARYING = ("secret", "tournaments")  # of an event, with what its reader may see


@dataclass(frozen=True)
class EventLine:
    """The JSON of an event, cut where its secret and its tournaments belong."""

    pieces: tuple[bytes, ...]
    secret: bytes  # as it is told who sees tournaments of the event
    to_others: bytes

    def told(self, parts: list[bytes]) -> bytes:
        """As it is told who sees these tournaments."""
        before, between, after = self.pieces
        return b"".join(
            (before, self.secret if parts else self.to_others, between, b"[", b",".join(parts), b"]", after)
        )


def events(request: HttpRequest, _named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the events that `viewer` may know of, newest first. Three queries, and those for lines that are made anew.

    The line of an event tells everybody the same but for its secret; which of its tournaments are seen is asked anew each time. None where
    something is asked for wrongly: the view says what.
    """
    asked = lines.narrowed(request)
    if asked is None:
        return None
    versions = marks.read([marks.EVENTS, marks.TOURNAMENTS, marks.BOTS, marks.NAMES])
    names = versions[marks.NAMES]
    page = _events.page(
        names,
        lambda: sight.read_events(event_columns(), asked.cursor, asked.size, viewer=viewer),
    )
    if page is None:
        return None
    there = [pk for pk, _ in page]
    parts = _parts.page(names, lambda: keyset.Page(sight.read_stages(part_columns(), there, viewer=viewer)))
    if parts is None:
        return None
    seen: defaultdict[int, list[bytes]] = defaultdict(list)
    for event, part in parts:
        seen[event].append(part)
    told = [line.told(seen[pk]) for pk, line in page]
    return lines.Made(asked.answer(keyset.Page(told, page.before, page.after)), versions)


def _event_lines(missing: list[int]) -> dict[int, tuple[int, EventLine]]:
    chosen = Event.objects.filter(pk__in=missing)
    whole, bare = (
        {row.pk: EventOut(row).data for row in rows.events(chosen, stages)}
        for stages in (Tournament.objects.all(), Tournament.objects.none())
    )
    found = {}
    for pk in whole.keys() & bare.keys():
        secrets = (lines.render(one[pk]["secret"]) for one in (whole, bare))
        found[pk] = pk, EventLine(lines.pieces(whole[pk], VARYING), *secrets)
    return found


def _part_lines(missing: list[int]) -> dict[int, tuple[int, bytes]]:
    found = Tournament.objects.filter(pk__in=missing, event__isnull=False)
    return {row.pk: (row.event_id, lines.render(PartOut(row).data)) for row in found if row.event_id}


_events: lines.Lines[tuple[int, EventLine]] = lines.Lines(_event_lines, most=MOST_EVENTS)
_parts: lines.Lines[tuple[int, bytes]] = lines.Lines(_part_lines, most=MOST_ENTRIES)


@cache
def event_columns() -> tuple[str, ...]:
    """What a line shows of its event."""
    return (*lines.columns(EventOut, Event), "opens", "hidden")


@cache
def part_columns() -> tuple[str, ...]:
    """What is shown of a tournament that is a stage."""
    return lines.columns(PartOut, Tournament)


MOST_CIRCUITS = 2_000  # some 600 bytes each, and 10 more for each bot
DUE = "next_due"  # of a circuit: it follows from the clock as well


@dataclass(frozen=True)
class CircuitLine:
    """The JSON of a circuit, cut where its next season belongs."""

    pieces: tuple[bytes, ...]
    due: bytes  # until then
    until: datetime | None = None  # None: it rests
    course: leagues.Course | None = None

    def told(self, now: datetime) -> bytes:
        """As everybody is told it now."""
        due = self.due
        if self.course and self.until and self.until <= now:
            due = lines.render(due_of(self.course.due(now)))
        return due.join(self.pieces)


def circuits(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the circuits, newest first, which everybody sees alike. Three queries, and those for lines that are made anew.

    None where something is asked for wrongly: the view says what.
    """
    asked = lines.narrowed(request)
    if asked is None:
        return None
    versions = marks.read([marks.EVENTS, marks.BOTS, marks.NAMES])
    page = _circuits.page(
        versions[marks.NAMES], lambda: leagues.read_cells(circuit_columns(), asked.cursor, asked.size)
    )
    if page is None:
        return None
    now = clock.present()
    told = [line.told(now) for line in page]
    return lines.Made(asked.answer(keyset.Page(told, page.before, page.after)), versions)


def _circuit_lines(missing: list[int]) -> dict[int, CircuitLine]:
    found = {}
    for row in rows.circuits().filter(pk__in=missing):
        # before it is told: what is due at the next moment is then told too early, and never too late
        now, course = clock.present(), leagues.course(row)
        told = CircuitOut(row).data
        until = course.calendar.next(now) if course else None
        found[row.pk] = CircuitLine(lines.pieces(told, (DUE,)), lines.render(told[DUE]), until, course)
    return found


_circuits: lines.Lines[CircuitLine] = lines.Lines(
    _circuit_lines, follow=lines.follow_marks(lambda pk: (marks.of_circuit(pk),)), most=MOST_CIRCUITS
)


@cache
def circuit_columns() -> tuple[str, ...]:
    """What a line shows of its circuit."""
    return lines.columns(CircuitOut, Circuit)


MOST_ROUNDS = 500  # some 120 bytes for each of their matches


def rounds(request: HttpRequest, named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the rounds of a tournament, by number. Five queries, and those for lines that are made anew.

    All lines of a tournament hold while nothing of it changes, for who rests in a round follows from all others. None where there is none that
    `viewer` may see, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, order=sight.BY_NUMBER)
    tournament = sight.find_tournament(named["slug"])
    if asked is None or tournament is None:
        return None
    mark = marks.of_tournament(tournament)
    versions = marks.read([mark, marks.BOTS, marks.NAMES])

    def read() -> keyset.Page[tuple[int, str]]:
        page = sight.read_rounds(asked.cursor, asked.size, tournament=tournament, viewer=viewer)
        back = asked.cursor is not None and asked.cursor.back
        return brackets.cut_rounds(tournament, page, itemgetter(0), back=back) if page.rows else page

    page = _rounds.page((versions[marks.NAMES], versions[mark], brackets.are_leased(tournament)), read)
    return lines.Made(asked.answer(page), versions) if page is not None and page.rows else None


def _round_lines(missing: list[int]) -> dict[int, bytes]:
    chosen = list(Round.objects.select_related("tournament").filter(pk__in=missing))
    found = brackets.read_rounds(chosen[0].tournament, chosen) if chosen else []  # they are of one
    return {row.pk: lines.render(rows.tell_round(one)) for row, one in zip(chosen, found, strict=True)}


_rounds: lines.Lines[bytes] = lines.Lines(_round_lines, most=MOST_ROUNDS)
