"""Elements that a page repeats hundreds of times. They are built here because template nodes would take ten times as long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from django import template
from django.forms import BoundField
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from league.enums import MatchKind, MatchStatus
from league.models import Match, Party
from league.templatetags.league_web import board_points, result
from league.templatetags.times import ago
from league.web.common.game_lines import game_title
from league.web.common.words import fault_name, percent

register = template.Library()
NAME = "tenletters"  # Placeholder for the name of a match or bot in an address.


def _address(view: str) -> Callable[[str], str]:
    """Return a function from names to addresses, without looking up the view for each."""
    before, after = reverse(view, args=[NAME]).split(NAME)
    return lambda name: f"{before}{escape(name)}{after}"


def _safe(parts: Iterable[str]) -> SafeString:
    return mark_safe("".join(parts))  # noqa: S308 - callers escape what they put into the parts


@register.simple_tag
def checkbox_labels(field: BoundField) -> SafeString:
    """Render the checkboxes of a field with their labels, like Django."""
    chosen = {str(value) for value in field.value() or ()}
    name = escape(field.html_name)
    choices: Any = getattr(field.field, "choices", ())
    return _safe(
        f'<label for="{field.auto_id}_{number}">\n'
        f'    <input type="checkbox" name="{name}" value="{escape(str(value))}" id="{field.auto_id}_{number}"'
        f"{' checked' if str(value) in chosen else ''}>\n    {escape(str(label))}</label>\n"
        for number, (value, label) in enumerate(choices)
    )


@register.simple_tag
def cross_cells(cells: Iterable[Any]) -> SafeString:
    """Render the cells of a crosstable row (league.web.tournaments.crosstable.Cell)."""
    match = _address("match")
    title = escape(_("%(points)s of %(boards)s; 95%% interval of the share: %(low)s to %(high)s"))
    return _safe(_cross_cell(cell, match, title) for cell in cells)


def _cross_cell(cell: Any, match: Callable[[str], str], title: str) -> str:
    if cell.points is None:
        mark = '<span class="unseen">–</span>' if cell.css == "self" else '<span class="soft">·</span>'
        return f'<td class="{cell.css}">{mark}</td>\n'
    points = escape(board_points(cell.points))
    hint = title % {
        "points": points,
        "boards": cell.boards,
        "low": percent(cell.low),
        "high": percent(cell.high),
    }
    text = f"<strong>{points}</strong>" if cell.sure else points
    return f'<td class="{cell.css}"><a href="{match(cell.match)}" title="{hint}">{text}</a></td>\n'


@register.simple_tag
def bracket_boxes(boxes: Iterable[Any]) -> SafeString:
    """Render the boxes of a bracket column (league.web.tournaments.brackets.Box)."""
    match = _address("match")
    winner, later = escape(_("won")), escape(_("to be decided"))
    won = f'<span class="unseen">{winner}</span>'
    nobody, unknown = (f'<span class="soft">{text}</span>' for text in ("–", later))

    def side(box: Any, player: Any) -> str:
        if player.entry is None:
            return f'<span class="nobody">{nobody if box.decided_by else unknown}</span>'
        name = escape(player.entry.version.bot.slug)
        link = f'<a href="{match(box.matches[-1])}">{name}</a>' if box.matches else name
        seed = f'\n<span class="soft small">{player.entry.seed}</span>' if player.entry.seed else ""
        points = "" if player.points is None else f'<span class="push">{escape(board_points(player.points))}</span>'
        css, mark = ("won", won) if player.won else ("in", "")
        return f'<span class="{css}">{link}{seed}{points}{mark}</span>'

    def pairing(box: Any) -> str:
        decision = f'<span class="soft small">{escape(box.decided_by)}</span>' if box.decided_by else ""
        return f'<li class="pairing">{"".join(side(box, player) for player in box.sides)}{decision}</li>\n'

    return _safe(pairing(box) for box in boxes)


@register.simple_tag
def round_matches(matches: Iterable[Any], names: Mapping[int, str]) -> SafeString:
    """Render the matches of a round (league.domain.tournaments.brackets.BracketMatch) with the names of the entries."""
    match = _address("match")

    def pairing(played: Any) -> str:
        points = played.points or [None] * len(played.entries)
        return " – ".join(
            escape(str(names.get(entry, "")))
            + ("" if won is None else f"\n<strong>{escape(board_points(won))}</strong>")
            for entry, won in zip(played.entries, points, strict=False)
        )

    return _safe(f'<li><a href="{match(played.id)}">{pairing(played)}</a></li>\n' for played in matches)


@register.simple_tag
def match_rows(matches: Iterable[Match], *, short: bool) -> SafeString:
    """Render the rows of a table of matches that `lists.with_parties` has read. short: in a narrow column, with the game below the bots."""
    match_at, bot_at = _address("match"), _address("bot")
    watch, watch_bots = escape(_("Watch")), escape(_("Watch %(bots)s"))

    def party_text(party: Party, name: str, points: float | None, is_best: bool) -> str:
        link = f'<a href="{bot_at(party.version.bot.slug)}">{escape(name)}</a>'
        won = "" if points is None else f'\n  <span class="soft">{escape(board_points(points))}</span>'
        fault = f' <span\n  class="chip fault">{escape(fault_name(party.fault))}</span>' if party.fault else ""
        return f'<span class="tight">{f"<strong>{link}</strong>" if is_best else link}{won}{fault}</span>'

    def row(match: Match) -> str:
        parties = result(match)
        status = ""
        if match.status != MatchStatus.FINISHED:
            progress = f" {match.progress}\n  %" if match.status == MatchStatus.RUNNING else ""
            status = f'\n  <span class="chip {match.status}">{escape(match.get_status_display())}{progress}</span>'
        game = escape(game_title(match.pool.game))
        kind = ""
        if match.kind != MatchKind.TOURNAMENT:
            kind = f'\n  <span class="soft small">({escape(match.get_kind_display())})</span>'
        label = watch_bots % {"bots": escape(" – ".join(name for _party, name, _points, _best in parties))}
        return (
            f'<tr>\n<td><a href="{match_at(match.public_id)}"\n  aria-label="{label}">{watch}</a></td>\n<td>'
            + ' <span class="soft">·</span>\n'.join(party_text(*party) for party in parties)
            + status
            + (
                f'<br><span class="soft small">{game}</span></td>'
                if short
                else f'</td>\n<td class="wide">{game}{kind}</td>'
            )
            + f'\n<td class="wide soft">\n  {ago(match.finished or match.created)}</td>\n</tr>\n'
        )

    return _safe(map(row, matches))
