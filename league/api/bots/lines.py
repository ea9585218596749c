"""The lists of all bots, of all versions and of the encounters of two bots, and what audits have shown of a version, from finished lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.http import HttpRequest

from league.api.bots.serializers import AuditsOut, BotOut, EncounterOut, VersionOut
from league.api.http import lines
from league.api.http.filters import BotFilters, VersionFilters
from league.domain.audits import results
from league.domain.bots import lists
from league.domain.core import keyset
from league.domain.matches import encounters
from league.domain.people.tokens import Viewer
from league.models import Bot, BotVersion
from league.service import marks
from league.service.remembered import Held

# A description has up to 2,000 characters, and is in the line and in what it follows from: some 5 MB as bots are, 40 MB where each has a long one
MOST_BOTS = 5_000
MOST_VERSIONS = 5_000  # some 2,000 bytes each; a fault is told in 2,000 characters more
OWN = "fault_detail"  # of a version, for its owner and the staff


def bots(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the bots, newest first, which everybody sees alike. Two queries, and those for lines that are made anew.

    None where something is asked for wrongly, or by a part of a name: the view says what there is to say.
    """
    asked = lines.narrowed(request, BotFilters, but={"q"})
    if asked is None:
        return None
    versions = marks.read([marks.BOTS, marks.NAMES])
    page = _bots.page(
        versions[marks.NAMES],
        lambda: lists.read_cells(columns(), asked.cursor, asked.size, some=asked.some),
    )
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _bot_lines(missing: list[int]) -> dict[int, bytes]:
    rows = lists.rows().select_related("owner", "sends").filter(pk__in=missing)
    return {row.pk: lines.render(BotOut(row).data) for row in rows}


_bots: lines.Lines[bytes] = lines.Lines(_bot_lines, most=MOST_BOTS)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its bot."""
    return lines.columns(BotOut, Bot)


@dataclass(frozen=True)
class Line:
    """The JSON of a version, cut where the text of its fault belongs."""

    owner: int  # of its bot, as an account
    pieces: tuple[bytes, ...]
    own: bytes  # as the owner is told it
    others: bytes

    def told(self, viewer: Viewer | None) -> bytes:
        """As `viewer` (None: a stranger) is told it."""
        mine = viewer is not None and (viewer.is_staff or viewer.pk == self.owner)
        return (self.own if mine else self.others).join(self.pieces)


def versions(request: HttpRequest, named: Mapping[str, str], viewer: Viewer | None) -> lines.Made | None:
    """A page of the versions of all bots, or of the one that the address names, newest first. Two queries, and those for lines that are made anew.

    None where there is none, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, VersionFilters)
    if asked is None:
        return None
    bot = named.get("bot")
    known = marks.read([marks.BOTS, marks.NAMES])
    page = _versions.page(
        known[marks.NAMES],
        lambda: lists.read_versions(version_columns(), asked.cursor, asked.size, bot=bot, some=asked.some),
    )
    if page is None or (bot and not page.rows):  # perhaps there is no such bot
        return None
    rows = [line.told(viewer) for line in page]
    return lines.Made(asked.answer(keyset.Page(rows, page.before, page.after)), known)


def _version_lines(missing: list[int]) -> dict[int, Line]:
    found = {}
    for row in lists.versions().select_related("bot__owner__user").filter(pk__in=missing):
        owner = row.bot.owner
        own, others = (VersionOut(row, context={"viewer": viewer}).data for viewer in (owner, None))
        told = [lines.render(one[OWN]) for one in (own, others)]
        found[row.pk] = Line(owner.user_id, lines.pieces(own, (OWN,)), *told)
    return found


_versions: lines.Lines[Line] = lines.Lines(_version_lines, most=MOST_VERSIONS)


@cache
def version_columns() -> tuple[str, ...]:
    """What a line shows of its version."""
    return (*lines.columns(VersionOut, BotVersion), OWN)


def audits(request: HttpRequest, named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """What audits have shown of a version, which is one line and the same for everybody. Two queries, and those for a line that is made anew.

    None where there is none, or anything else is asked for: the view says what there is to say.
    """
    if request.GET:
        return None
    known = marks.read([marks.BOTS, marks.AUDITS, marks.NAMES])
    page = _audits.page(known[marks.NAMES], lambda: results.read_cells(int(named["version"])))
    return lines.Made(page.rows[0], known) if page is not None and page.rows else None


def _audit_lines(missing: list[int]) -> dict[int, bytes]:
    rows = list(BotVersion.objects.filter(pk__in=missing))
    summaries = results.summaries(rows)
    return {row.pk: lines.render(AuditsOut.of(row, summaries[row.pk]).data) for row in rows}


_audits: lines.Lines[bytes] = lines.Lines(_audit_lines)


MOST_PAIRS = 1_000  # some 500 bytes for each pool, and 15 more for each match
Pair = tuple[str, str]


def meetings(request: HttpRequest, named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of what two bots did against each other, which everybody sees alike. One query, and those for lines that are made anew.

    All lines of two bots hold while there is no other rated result: which bots it is of is not looked for. None where one of the two is not
    there, or something is asked for wrongly: the view says what there is to say.
    """
    asked = lines.narrowed(request, order=lines.BY_PLACE)
    if asked is None:
        return None
    pair, known = (named["bot"], named["other"]), _read_marks()
    there = _meetings.of_many(
        {pair: known}, lambda missing: (_make_meetings(missing), dict.fromkeys(missing, _read_marks()))
    )
    if pair not in there:
        return None
    page = keyset.cut_page(there[pair], asked.cursor, asked.size)
    return lines.Made(asked.answer(page), dict(known))


def _read_marks() -> tuple[tuple[str, int], ...]:
    return tuple(marks.read([marks.RESULTS, marks.NAMES]).items())


def _make_meetings(missing: list[Pair]) -> dict[Pair, list[bytes]]:
    found = {}
    for pair in missing:
        both = encounters.find_pair(*pair)
        if both is not None:
            found[pair] = [lines.render(EncounterOut(one).data) for one in encounters.list_encounters(*both)]
    return found


_meetings: Held[Pair, list[bytes]] = Held(MOST_PAIRS)
