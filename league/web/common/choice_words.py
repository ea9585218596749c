"""The explorer in words: kinds of choices, types of hands, choices, and the explorer's figures beside a step of a match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

import engine
from engine.choices import MOST_LENGTH, NO_SONG, read
from league.domain.bots import choices
from league.domain.ratings import pools
from league.models import ChoiceSum, Match, Pool
from league.web.common.words import RANKS, call_name, format_number, percent, signed

KINDS = {
    "call.first": gettext_noop("First call, before any bid"),
    "call.after": gettext_noop("First call, after a bid"),
    "predict": gettext_noop("Predicted tricks"),
    "lead": gettext_noop("First lead"),
    "lead.solo": gettext_noop("First lead by the soloist"),
    "lead.defence": gettext_noop("First lead against the soloist"),
    "song": gettext_noop("Songs with a pair in hand"),
    "song.solo": gettext_noop("Songs of the soloist with a pair"),
    "song.defence": gettext_noop("Songs of the defence with a pair"),
}
PAIRS = {
    "t": (
        gettext_noop("no pair to sing"),
        gettext_noop("a pair in another suit"),
        gettext_noop("the pair of trumps"),
        gettext_noop("the pair of trumps and another pair"),
    ),
    "l": (
        gettext_noop("no pair to sing"),
        gettext_noop("a pair in another suit"),
        gettext_noop("a pair in that suit"),
        gettext_noop("a pair in that suit and another pair"),
    ),
}
SUITS = {"t": gettext_noop("Trump"), "l": gettext_noop("Longest suit"), "o": gettext_noop("Another suit")}
CARDS = {"f": gettext_noop("a card that counts"), "x": gettext_noop("a card without points")}
FINE_UNITS = ("games", "rank", "marks")  # Units of which a deal brings only fractions on average.


def kind_name(kind: str) -> str:
    """Return the name of a kind of choice."""
    return _(KINDS[kind])


def band_name(band: int) -> str:
    """Return the name of a rating band."""
    if band == choices.EVERY_BOT:
        return _("All bots")
    if band == choices.NEW_BOTS:
        return _("New bots")
    low, high = (None, *choices.EDGES)[band - 2], (*choices.EDGES, None)[band - 2]
    if low is None:
        return _("below %(elo)s") % {"elo": high}
    return _("%(elo)s and more") % {"elo": low} if high is None else f"{low}–{high - 1}"


def hand_name(game: engine.Game, hand: str) -> str:
    """Return a type of hand in words, such as "3 trumps with the ace, no pair to sing"."""
    if hand == choices.EVERY:
        return _("every hand")
    parts = {part[:1]: int(part[1:]) for part in hand.split("-")}
    suit = "l" if "l" in parts else "t"
    texts = []
    if "n" in parts:
        texts.append(ngettext("%(count)s card", "%(count)s cards", parts["n"]) % {"count": parts["n"]})
    if suit in parts:
        texts.append(f"{_length(suit, parts[suit])} {_honours(game, parts['h'])}".strip())
    if (pairs := parts.get("p")) is not None:
        texts.append(_(PAIRS[suit][pairs]))
    return ", ".join(texts)


def _length(suit: str, count: int) -> str:
    many = count == MOST_LENGTH
    if suit == "t":
        text = ngettext("%(count)s trump", "%(count)s trumps", count)
        text = _("%(count)s or more trumps") if many else text
    else:
        text = ngettext("longest suit of %(count)s card", "longest suit of %(count)s cards", count)
        text = _("longest suit of %(count)s or more cards") if many else text
    return text % {"count": count}


def _honours(game: engine.Game, honours: int) -> str:
    second, first = list(game.pack.ranks[-2:])
    names = [_rank(rank, article=True) for rank, bit in ((first, 2), (second, 1)) if honours & bit]
    if len(names) == 2:
        return _("with %(card)s and %(other)s") % {"card": names[0], "other": names[1]}
    return _("with %(card)s") % {"card": names[0]} if names else ""


def _rank(rank: str, *, article: bool = False) -> str:
    return _(RANKS[rank][article]) if rank in RANKS else rank


def choice_name(game: engine.Game, kind: str, choice: str) -> str:
    """Return a choice in words, such as "Trump: ace"."""
    if kind == "predict":
        return ngettext("%(number)s trick", "%(number)s tricks", int(choice)) % {"number": choice}
    if kind.startswith("call"):
        return call_name(choice.replace("-", "–"))
    if kind.startswith("song"):
        return _("nothing sung") if choice == NO_SONG else choice.replace(" ", " + ")
    second, first = list(game.pack.ranks[-2:])
    card = _(CARDS[choice[1]]) if choice[1] in CARDS else _rank(first if choice[1] == "1" else second)
    return f"{_(SUITS[choice[0]])}: {card}"


def signed_worth(game: engine.Game, value: float) -> str:
    """Format what a choice brings, with its sign."""
    return signed(value, digits_of(game))


def margin_text(game: engine.Game, margin: float) -> str:
    """Format half of an interval of what a choice brings."""
    return format_number(margin, f".{digits_of(game)}f")


def digits_of(game: engine.Game) -> int:
    """Return the number of decimals of what a choice brings."""
    return 2 if game.score_unit in FINE_UNITS else 1


@dataclass(frozen=True)
class Usual:
    """The explorer's figures of a choice at a step: a text, a longer one, and the address of its page."""

    text: str
    title: str
    url: str


def explorer_url(pool: Pool, **place: Any) -> str:
    """Return the address of the explorer at a place."""
    return f"{reverse('game', args=[pool.game])}?{urlencode({'tab': 'explorer', 'pool': pool.pk, **place})}"


def usual_of(match: Match, record: dict[str, Any]) -> dict[str, Usual]:
    """Return what the explorer says of the choices in a sitting, by the id of the step. `record` is whole. One query."""
    if not pools.is_known(match.pool):
        return {}
    game, scale = pools.game_of(match.pool), choices.scale_of(match.pool)
    opening = [choice for choice in read(record) if choice.step]
    rows = ChoiceSum.objects.filter(
        pool=match.pool,
        band=choices.EVERY_BOT,
        kind__in={choice.kind for choice in opening},
        hand__in={choice.hand for choice in opening},
        choice__in={choices.EVERY, *(choice.choice for choice in opening)},
    )
    sums = {(row.kind, row.hand, row.choice): row for row in rows} if opening else {}
    usual = {}
    for choice in opening:
        row = sums.get((choice.kind, choice.hand, choice.choice))
        if row is None or not choices.is_shown(row):
            continue
        figures = choices.figures(row, sums[choice.kind, choice.hand, choices.EVERY], scale)
        words = {
            "hand": hand_name(game, choice.hand),
            "choice": choice_name(game, choice.kind, choice.choice),
            "share": percent(figures.share),
            "mean": signed_worth(game, figures.mean),
        }
        usual[f"d{choice.deal}p{choice.step}"] = Usual(
            f"{words['share']} · {words['mean']}",
            _("%(hand)s: %(share)s chose “%(choice)s”; it brought %(mean)s") % words,
            explorer_url(match.pool, kind=choice.kind, hand=choice.hand, choice=choice.choice),
        )
    return usual
