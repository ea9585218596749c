"""The pictures of matches, boards, puzzles and tables for link previews. They show what an anonymous reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

from django.utils.html import strip_tags
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import engine
from engine.puzzles import Puzzle
from league.domain.matches import sight
from league.enums import MatchStatus
from league.models import Board, Match, Party, Table
from league.web.common.game_lines import game_title
from league.web.common.words import SUITS, format_number, suit_name
from league.web.matches.banner import banner
from league.web.matches.narrate import QUIET, Sentence
from league.web.matches.offers import tidy
from league.web.matches.seats import party_names
from league.web.previews import links
from league.web.previews.drawing import DrawnCard, Hand, Picture, Row

Moment = dict[str, Any]


def of_match(match: Match, parties: Sequence[Party], size: int, sides: Sequence[int]) -> Picture:
    """Return the picture of a match: names and result. size: score units of one displayed unit; sides: of the parties."""
    if not sight.is_public(match):
        return links.general()
    names = party_names(parties)
    winner = _winner(match, parties)
    is_over = match.status == MatchStatus.FINISHED
    boards = ngettext("%(n)s board", "%(n)s boards", match.boards_planned) % {"n": match.boards_planned}
    return Picture(
        _title(match, names, winner),
        head=game_title(match.pool.game),
        rows=[
            Row("", name, format_score(party.points, size) if is_over else "", side, party is winner)
            for party, name, side in zip(parties, names, sides, strict=True)
        ],
        foot=" · ".join([boards, *([match.tournament.name] if match.tournament else [])]),
    )


def of_deal(
    match: Match, board: Board, parties: Sequence[Party], moments: Sequence[Moment], names: Sequence[str] = ()
) -> Picture:
    """Return the picture of a board: the dealt hands. names: of the seats; by default their numbers."""
    if not sight.is_public(match):
        return links.general()
    deal = next((moment for moment in moments if moment["e"] == "deal" and moment.get("hands")), None)
    if deal is None:
        return Picture(_board_title(board, parties), head=game_title(match.pool.game))
    hands = [hand or [] for hand in deal["hands"]]
    shown_names = list(names) or [_("Seat %(number)s") % {"number": seat} for seat in range(1, len(hands) + 1)]
    trump = deal.get("trump") or ""
    return Picture(
        _board_title(board, parties),
        head=_head(match.pool.game, trump),
        suit=trump,
        hands=[
            Hand(name, tidy(hand), side)
            for name, hand, side in zip(shown_names, hands, _sides(moments, len(hands)), strict=True)
            if hand
        ],
    )


def of_step(
    match: Match,
    board: Board,
    parties: Sequence[Party],
    moments: Sequence[Moment],
    lines: Sequence[Sentence],
    names: Sequence[str],
    anchor: str,
) -> Picture:
    """Return the picture of a step of a board: the trick on the table, or the hands if no card has been played."""
    steps = [moment for moment in moments if moment["e"] not in QUIET]
    at = next((place for place, line in enumerate(lines) if line.anchor == anchor), None)
    if at is None or not sight.is_public(match):
        return of_deal(match, board, parties, moments, names)
    sides = _sides(moments, len(names))
    laid, trump = laid_cards(steps[: at + 1], names, sides)
    if not laid:
        return of_deal(match, board, parties, moments, names)
    return Picture(
        " ".join(unescape(strip_tags(lines[at].html)).split()),
        head=_head(match.pool.game, trump),
        suit=trump,
        laid=laid,
        foot=_board_title(board, parties),
    )


def laid_cards(steps: Sequence[Moment], names: Sequence[str], sides: Sequence[int]) -> tuple[list[DrawnCard], str]:
    """Return the cards of the current or the last trick after some steps, and the trump suit; "" if there is none."""
    laid: list[tuple[int, str]] = []
    winner, trump = None, ""
    for step in steps:
        match step["e"]:
            case "deal":
                laid, winner, trump = [], None, step.get("trump") or ""
            case "trump":
                trump = step.get("suit") or trump
            case "play":
                laid = [*(laid if winner is None else []), (step["seat"], step["card"])]
                winner = None
            case "trick":
                winner = step["seat"]
    return [DrawnCard(card, names[seat], sides[seat], seat == winner) for seat, card in laid], trump


def of_puzzle(item: Puzzle, moments: Sequence[Moment], names: Sequence[str]) -> Picture:
    """Return the picture of a puzzle: the trick on the table and the hand, but not the answer."""
    laid, trump = laid_cards(moments, names, _sides(moments, len(names)))
    if any(card.wins for card in laid):  # The trick is complete: the seat leads to the next one.
        laid = []
    return Picture(_("What would you do?"), head=_head(item.game, trump), suit=trump, laid=laid, cards=tidy(item.hand))


def of_table(row: Table, game: engine.Game, moments: Sequence[Moment], names: Sequence[str], seat: int) -> Picture:
    """Return the picture of a table, the side of `seat` first: its result if it is finished; while people play, nothing about it."""
    result = banner(row, game, moments, names, seat, is_own=False) if row.records else None
    if result is None:
        return links.general()
    values = [figure.text for figure in result.figures] if len(row.scores) == 1 else []
    values = values or result.rows[-1].values
    hands = ngettext("%(n)s hand", "%(n)s hands", len(row.scores)) % {"n": len(row.scores)}
    numbers = [number for number, seats in enumerate(game.sides) if seat in seats]
    sides = [*numbers, *(number for number in range(len(game.sides)) if number not in numbers)]
    return Picture(
        result.title,
        head=game_title(row.pool.game),
        rows=[Row("", name, value, side) for name, value, side in zip(result.heads, values, sides, strict=True)],
        foot=hands,
    )


def format_score(score: int | None, size: int) -> str:
    """Format a score in the displayed unit."""
    if score is None:
        return ""
    return format_number(score, "d") if size == 1 else format_number(score / size, ".3f")


def _winner(match: Match, parties: Sequence[Party]) -> Party | None:
    """Return the party that won a finished match on boards; None for a draw."""
    points = [(party.wins or 0) + (party.draws or 0) / 2 for party in parties]
    if match.status != MatchStatus.FINISHED or points.count(max(points)) != 1:
        return None
    return parties[points.index(max(points))]


def _title(match: Match, names: Sequence[str], winner: Party | None) -> str:
    if match.status != MatchStatus.FINISHED:
        return capfirst(match.get_status_display())
    if winner is None:
        return _("A draw")
    return _("%(bot)s wins") % {"bot": names[winner.number]}


def _board_title(board: Board, parties: Sequence[Party]) -> str:
    return f"{_('Board %(board)s') % {'board': board.number}} · {' – '.join(party_names(parties))}"


def _head(game: str, trump: str) -> str:
    title = game_title(game)
    return f"{title} · {_('Trump')}: {suit_name(trump)}" if trump in SUITS else title


def _sides(moments: Sequence[Moment], seats: int) -> list[int]:
    """Return the side of each seat, from the header of the record; -1 without one."""
    headers = (moment["sides"] for moment in moments if moment["e"] == "match" and "sides" in moment)
    sides: list[list[int]] = next(headers, [])
    return [next((number for number, side in enumerate(sides) if seat in side), -1) for seat in range(seats)]
