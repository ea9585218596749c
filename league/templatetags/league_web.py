"""Tags and filters of the pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.db import connection
from django.templatetags.static import static
from django.urls import reverse
from django.utils.dates import WEEKDAYS as WEEK
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from league.domain.notices import following
from league.domain.people import passkeys
from league.domain.puzzles import shelf
from league.domain.tables import seating
from league.enums import MatchStatus, RequestStatus
from league.models import Bot, Match, Party
from league.pure.calendar.calendars import WEEKDAYS
from league.service import changes, topics
from league.web.common import engine_texts, game_lines, inputs, navigation, viewers, words
from league.web.common.prefs import theme
from league.web.matches import seats
from league.web.pages import search

MOST_COUNTED = 99  # The bell shows no larger number of notices.
# The requests, invitations and offers for a player, and the unread notices. As text, because every page asks it: Django would take longer to write
# it each time than the database to answer.
WAITING = """SELECT
    (SELECT count(*) FROM league_entryrequest r JOIN league_bot b ON b.id = r.bot_id WHERE b.owner_id = p.id AND r.status = %s)
    + (SELECT count(*) FROM league_teammember m WHERE m.player_id = p.id AND m.since IS NULL)
    + (SELECT count(*) FROM league_botoffer o WHERE o.receiver_id = p.id),
    (SELECT count(*) FROM (SELECT 1 FROM league_notice n WHERE n.player_id = p.id AND n.read IS NULL LIMIT %s) AS few)
    FROM league_player p WHERE p.user_id = %s"""

register = template.Library()
register.simple_tag(takes_context=True, name="theme")(
    lambda context: theme(context["request"]) if "request" in context else "auto"
)
register.filter("game_title", game_lines.game_title)
register.filter("pool_label", game_lines.pool_label)
register.filter("engine_text", engine_texts.engine_text)
register.filter("study_title", game_lines.study_title)
register.filter("fault_name", words.fault_name)
register.filter("fault_advice", words.fault_advice)
register.filter("unit_name", words.unit_name)
register.filter("percent", words.percent)
register.filter("phase_name", words.phase_name)
register.filter("spans", game_lines.number_range)


@register.simple_tag(takes_context=True)
def waiting(context: dict[str, Any]) -> dict[str, Any]:
    """Return the number of requests, invitations and offers that wait for the viewer's answer, and of unread notices ("99+" for many).

    One query for a viewer who is logged in.
    """
    user = context["request"].user if "request" in context else None
    if user is None or not user.is_authenticated:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [RequestStatus.ASKED, MOST_COUNTED + 1, user.pk])
        requests, notices = cursor.fetchone() or (0, 0)
    return {"requests": requests, "notices": "99+" if notices > MOST_COUNTED else notices}


@register.inclusion_tag("parts/follow.html", takes_context=True)
def follow_button(context: dict[str, Any], kind: str, target: following.Target) -> dict[str, Any]:
    """Render the button to follow a row, and the number of its followers. One query, besides that of the viewer."""
    request = context["request"]
    changes.keep_until(request, changes.FOLLOWS)
    viewer = viewers.viewer_of(request)
    followers, is_following = following.count_followers(target, viewer)
    return {
        "kind": kind,
        "name": getattr(target, following.TARGETS[kind][2]),
        "followers": followers,
        "following": is_following,
        "may": viewer is not None and following.may_follow(viewer, target),
        "guest": viewer is None,
        "back": request.path,
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def followed(context: dict[str, Any]) -> dict[str, str]:
    """Return the topics that the page follows (`league.service.topics.follow`) with their versions, for the script."""
    versions = context["request"].META.get(topics.FOLLOWED, {}) if "request" in context else {}
    return {"topics": " ".join(versions), "since": ".".join(map(str, versions.values()))}


@register.simple_tag
def puzzles_shown() -> bool:
    """Return True if this league has puzzles."""
    return not shelf.is_empty()


@register.simple_tag(takes_context=True)
def sections(context: dict[str, Any]) -> list[navigation.ShownSection]:
    """Return the sections of the site; the section of this page is marked."""
    match = getattr(context.get("request"), "resolver_match", None)
    return navigation.sections(match.url_name or "" if match else "", is_own=bool(context.get("owned")))


register.simple_tag(search.suggestions, name="near_pages")
register.simple_tag(seating.is_on, name="people_sit_down")
register.simple_tag(passkeys.site_id, name="passkey_site")


@register.simple_tag(takes_context=True)
def here(context: dict[str, Any]) -> str:
    """Return the full address of this page without its query, under which search engines should list it."""
    request = context.get("request")
    return inputs.whole_address(request, request.path) if request is not None else ""


class Capture(template.Node):
    """The part between `capture` and `endcapture`: it is stored under a name instead of being shown. Child templates can override its blocks."""

    def __init__(self, nodes: template.NodeList, name: str) -> None:
        self.nodes = nodes
        self.name = name

    @property
    def nodelist(self) -> template.NodeList:
        """Return the nodes inside, among which Django looks for blocks."""
        return self.nodes

    def render(self, context: template.Context) -> str:
        """Store the text on one line, with quotes that are safe in an attribute."""
        text = " ".join(self.nodes.render(context).split()).replace('"', "&quot;")
        context[self.name] = mark_safe(text)  # noqa: S308 - the nodes have escaped what they show
        return ""


@register.tag
def capture(parser: template.base.Parser, token: template.base.Token) -> Capture:
    """Store the part up to `endcapture` as a variable: `{% capture TITLE %}...{% endcapture %}`."""
    _tag, name = token.split_contents()
    nodes = parser.parse(("endcapture",))
    parser.delete_first_token()
    return Capture(nodes, name)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Render a symbol of `icons.svg` as a decoration beside a text."""
    return format_html(
        '<svg class="ico" aria-hidden="true"><use href="{}#{}"/></svg>', static("league/icons.svg"), name
    )


@register.simple_tag
def card(text: str, css: str = "", *, name: bool = True) -> SafeString:
    """Draw a card of our deck with its name, or, with `name=False`, as a decoration: `{% card "Ro" "best" %}`."""
    address = static("league/cards.svg")
    if name:
        return format_html(
            '<svg class="card {}" viewBox="0 0 124 190" role="img" aria-label="{}"><use href="{}#card-{}"/></svg>',
            css,
            words.card_name(text),
            address,
            text,
        )
    return format_html(
        '<svg class="card {}" viewBox="0 0 124 190" aria-hidden="true"><use href="{}#card-{}"/></svg>',
        css,
        address,
        text,
    )


@register.simple_tag
def mini(text: str) -> SafeString:
    """Render rank and suit sign within a line of text, labelled with the name of the card: `{% mini "Ro" %}`."""
    sign = text[-1:]
    if sign not in words.SUITS:
        return format_html("{}", text)
    return format_html(
        '<span class="mini" title="{}"><span aria-hidden="true">{}{}</span><span class="unseen">{}</span></span>',
        words.card_name(text),
        words.printed_rank(text),
        suit(sign),
        words.card_name(text),
    )


def suit(letter: str) -> SafeString:
    """Render a suit sign as a decoration."""
    return format_html(
        '<svg class="suit" aria-hidden="true"><use href="{}#suit-{}"/></svg>', static("league/cards.svg"), letter
    )


@register.simple_tag
def suit_sign(letter: str) -> SafeString:
    """Render a suit with its name: its sign and 'coins' for 'o'."""
    if letter not in words.SUITS:
        return format_html("{}", letter)
    return format_html('<span class="tight">{} {}</span>', suit(letter), words.suit_name(letter))


@register.filter
def signed(value: float | None, digits: int = 0) -> str:
    """Format a number as '+12', '−4' or '0', with a true minus sign."""
    return "" if value is None else words.signed(value, digits)


@register.filter
def fixed(value: float | None, digits: int = 0) -> str:
    """Format a number with `digits` decimals in the reader's language. Use `drawn` for attributes of drawings."""
    return "" if value is None else words.format_number(value, f".{digits}f")


@register.filter
def drawn(value: float, digits: int = 1) -> str:
    """Format a coordinate or size for SVG, always with a decimal point."""
    return f"{value:.{digits}f}"


@register.filter
def in_unit(score: int | None, size: int) -> str:
    """Format a board score in the displayed unit, which is `size` scores, with as many decimals as tie-breaks need."""
    if score is None or size == 1:
        return fixed(score)
    return fixed(score / size, 3)


@register.filter
def lost_in(value: float, size: int) -> str:
    """Format the average loss of a decision in the displayed unit."""
    return fixed(value / size, 2 if size == 1 else 3)


@register.filter
def minus_half(place: float, width: float) -> float:
    """Return the start of an element of this width whose middle is at `place`."""
    return round(place - width / 2, 1)


@register.filter
def score_line(scores: Iterable[int | None], size: int) -> str:
    """Format the board scores of all parties, such as '162:98'."""
    return ":".join(in_unit(score, size) for score in scores)


@register.filter
def board_points(value: float | None) -> str:
    """Format board points, such as '7' or '7½'."""
    if value is None:
        return ""
    whole = int(value)
    if value == whole:
        return str(whole)
    return f"{whole or ''}½" if value - whole == 0.5 else words.format_number(value, "g")


@register.filter
def join_names(columns: list[Any]) -> str:
    """Return the names of the columns that decide the order, such as 'MP, BH-1, BH'."""
    return ", ".join(column.name for column in columns if column.orders)


@register.filter
def best_of(scores: dict[str, float]) -> tuple[str, float]:
    """Return the key with the largest value, and that value."""
    return max(scores.items(), key=lambda item: item[1])


@register.filter
def result(match: Match) -> list[tuple[Party, str, float | None, bool]]:
    """Return party, name and board points of each party of a match (1 for a win, ½ for a draw against each other party); True marks the winner."""
    parties = list(match.parties.all())
    points = [None if party.wins is None else party.wins + (party.draws or 0) / 2 for party in parties]
    best = max((value for value in points if value is not None), default=None)
    won = match.status == MatchStatus.FINISHED and points.count(best) == 1  # A draw has no winner.
    names = seats.party_names(parties)
    return [
        (party, name, value, won and value == best) for party, name, value in zip(parties, names, points, strict=True)
    ]


@register.simple_tag
def team_of(bot: Bot) -> SafeString:
    """Render a link to the team of a bot; nothing without a team."""
    if bot.team is None:
        return SafeString("")
    return format_html(' · <a href="{}">{}</a>', reverse("team", args=[bot.team.name]), bot.team.name)


@register.filter
def party_names(parties: Iterable[Party]) -> str:
    """Return the bots of a match, such as 'mosca – greedy', or 'mosca v1 – mosca v2'."""
    return " – ".join(seats.party_names(list(parties)))


register.filter("letter", seats.sitting_letter)


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: Any) -> str:
    """Return the query of this page with some values changed: `{% query page=2 %}`. `None` removes a value."""
    values = context["request"].GET.copy()
    for name, value in changes.items():
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    return f"?{values.urlencode()}" if values else "?"


@register.simple_tag(takes_context=True)
def query_with(context: dict[str, Any], name: str, value: str | None) -> str:
    """Return the query of this page with one value changed; a variable has the value's name."""
    return query(context, **{name: value})


@register.filter
def day_names(days: str) -> str:
    """Return the names of the days of a calendar: 'Friday, 15' for "fri,15"."""
    names = dict(zip(WEEKDAYS, (WEEK[number] for number in range(7)), strict=True))
    return ", ".join(str(names.get(day.strip().lower(), day.strip())) for day in days.split(","))


@register.filter
def human_size(count: int) -> str:
    """Format a number of bytes, such as '3.2 KB'."""
    return (
        f"{count} B"
        if count < 1024
        else f"{words.format_number(count / 1024, '.1f')} KB"
        if count < 1024 * 1024
        else f"{words.format_number(count / 1024 / 1024, '.1f')} MB"
    )


@register.filter
def add_float(value: float, more: float) -> float:
    """Add two numbers with decimals (Django's `add` truncates them)."""
    return value + float(more)


@register.filter
def ms_each(party: Party) -> str:
    """Format the processor time per decision of a party, such as '1.3 ms'."""
    return (
        f"{words.format_number(1000 * party.cpu_s / party.decisions, '.1f')} ms"
        if party.cpu_s is not None and party.decisions
        else ""
    )


@register.filter
def item(container: Any, key: Any) -> Any:
    """Return the item at `key` of a list or a dictionary, or an empty string."""
    try:
        return container[key]
    except (IndexError, KeyError, TypeError):
        return ""
