"""A record in words: one line per moment, for readers without JavaScript, for screen readers, and for the text form.

The sentences add nothing to the events. Cards that only their holder knew are marked `secret`, so that the viewer can hide them from the other
seats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import engine
from league.web.common.choice_words import Usual
from league.web.common.words import call_name, card_name, fault_name, suit_name
from league.web.matches.banner import score_text

Moment = dict[str, Any]
Who = Callable[[int], str]  # Returns the name of a seat.
QUIET = frozenset({"match"})  # The header of a record is not a step (see also replay-fold.js).
NOTABLE = frozenset(
    {
        "song",
        "tute",
        "claim",
        "exchange",
        "notice",
        "return",
        "capote",
        "trump",
        "partner",
        "called",
        "takeover",
        "score",
        "over",
    }
)


@dataclass(frozen=True)
class Would:
    """The action of a house bot at a step: `what` in words, empty if it is the same as in the match."""

    bot: str
    what: str


@dataclass(frozen=True)
class Sentence:
    """One step in words (`html`); `anchor` is `d<deal>p<step>`, counted as in the viewer. `usual`: what the explorer says of the choice."""

    deal: int
    step: int
    kind: str
    seat: int | None
    html: SafeString
    would: Would | None = None
    usual: Usual | None = None

    @property
    def anchor(self) -> str:
        """Return the id of the line on the page."""
        return f"d{self.deal}p{self.step}"

    @property
    def attributes(self) -> SafeString:
        """Return the attributes of the line in the list of steps. A page has many lines, and each part of a template costs time."""
        css = f"{self.kind} notable" if self.kind in NOTABLE else self.kind
        seat = "" if self.seat is None else f' data-seat="{self.seat}"'
        return mark_safe(f'id="{self.anchor}" class="{css}"{seat}')  # noqa: S308 - words of the record and numbers


def _say(template: str, **parts: str | int) -> SafeString:
    """Return a translated sentence with its parts escaped."""
    return mark_safe(template % {name: _escaped(part) for name, part in parts.items()})  # noqa: S308 - each part is escaped


def _escaped(part: str | int) -> str:
    return str(part) if isinstance(part, int) else conditional_escape(part)


def _card(card: str) -> str:
    return card_name(card, article=True)


def _cards(cards: Iterable[str]) -> str:
    return ", ".join(card_name(card) for card in cards)


def _secret(text: str) -> SafeString:
    return format_html('<span class="secret">{}</span>', text)


def _deal(m: Moment, who: Who, first: str = "") -> SafeString:
    parts = [first or _("Deal %(number)s. %(dealer)s deals.") % {"number": m["deal"], "dealer": who(m["dealer"])}]
    if m.get("trump"):
        parts.append(_("Trump: %(suit)s.") % {"suit": suit_name(m["trump"])})
    if m.get("shown"):
        parts.append(_("Shown card: %(card)s.") % {"card": card_name(m["shown"])})
    if m.get("out"):
        parts.append(_("Sitting out: %(names)s.") % {"names": ", ".join(map(who, m["out"]))})
    return _say("%(text)s", text=" ".join(parts))


def _song(m: Moment, who: Who) -> SafeString:
    if not m.get("suit"):  # The song is hidden from this reader.
        return _say(_("%(who)s sings: %(points)s"), who=who(m["seat"]), points=m["points"])
    return _say(
        _("%(who)s sings in %(suit)s: %(points)s"), who=who(m["seat"]), suit=suit_name(m["suit"]), points=m["points"]
    )


def _trick(m: Moment, who: Who) -> SafeString:
    text = ngettext(
        "%(who)s takes the trick: %(points)s point", "%(who)s takes the trick: %(points)s points", m["points"]
    )
    if m.get("last"):
        text = ngettext(
            "%(who)s takes the last trick: %(points)s point",
            "%(who)s takes the last trick: %(points)s points",
            m["points"],
        )
    return _say(text, who=who(m["seat"]), points=m["points"])


def _draw(m: Moment, who: Who) -> SafeString:
    if not m.get("card"):
        return _say(_("%(who)s draws a card"), who=who(m["seat"]))
    # Only the drawing player knows a face-down card, so the sentence must read well without it.
    card = _card(m["card"])
    return _say(
        "%(text)s %(card)s",
        text=_("%(who)s draws") % {"who": who(m["seat"])},
        card=card if m.get("shown") else _secret(card),
    )


def _exchange(m: Moment, who: Who) -> SafeString:
    if not m.get("takes"):
        return _say(_("%(who)s exchanges %(gives)s"), who=who(m["seat"]), gives=_card(m["gives"]))
    takes = _card(m["takes"])
    return _say(
        _("%(who)s exchanges %(gives)s for %(takes)s"),
        who=who(m["seat"]),
        gives=_card(m["gives"]),
        takes=_secret(takes) if "takes" in m.get("secret", ()) else takes,
    )


def _discard(m: Moment, who: Who) -> SafeString:
    count = m.get("count", len(m.get("cards") or ()))
    text = ngettext("%(who)s discards %(count)s card", "%(who)s discards %(count)s cards", count)
    cards = _secret(f" ({_cards(m['cards'])})") if m.get("cards") else ""
    return _say("%(text)s%(shown)s", text=text % {"who": who(m["seat"]), "count": count}, shown=cards)


def _trump(m: Moment, who: Who) -> SafeString:
    parts = []
    if m.get("suit"):
        parts.append(_("Trump is now %(suit)s.") % {"suit": suit_name(m["suit"])})
    if m.get("lead"):
        parts.append(_("The lead suit is now %(suit)s.") % {"suit": suit_name(m["lead"])})
    return _say("%(text)s", text=" ".join(parts) or _("There is no trump."))


def _claim(m: Moment, who: Who) -> SafeString:
    right, wrong = (
        _("%(who)s claims the win with %(total)s, correctly"),
        _("%(who)s claims the win with %(total)s, wrongly"),
    )
    text = right if m.get("right") else wrong
    return _say(text, who=who(m["seat"]), total=m.get("total", "?"))


def _last_ten(m: Moment, who: Who) -> SafeString:
    text = _("%(who)s takes the last ten") if m.get("taken") else _("%(who)s declines the last ten")
    return _say(text, who=who(m["seat"]))


def _accuse(m: Moment, who: Who) -> SafeString:
    if m.get("proven"):
        return _say(_("%(who)s accuses %(other)s of a revoke, correctly"), who=who(m["seat"]), other=who(m["accused"]))
    return _say(_("%(who)s accuses %(other)s of a revoke, wrongly"), who=who(m["seat"]), other=who(m["accused"]))


def _sums(m: Moment, values: Sequence[int]) -> str:
    """Format values by seat as 'rufo 40, luna 90': one sum per side (`narrate` adds the sides to the moment)."""
    return ", ".join(f"{name} {sum(values[seat] for seat in seats)}" for name, seats in m["named_sides"] if values)


def _score(m: Moment, who: Who) -> SafeString:
    parts = [_("Score of the deal: %(scores)s.") % {"scores": _sums(m, m.get("points") or ())}]
    if m.get("losers"):
        lost = ngettext("Loser: %(names)s.", "Losers: %(names)s.", len(m["losers"]))
        parts.append(lost % {"names": ", ".join(map(who, m["losers"]))})
    if m.get("eliminated"):
        parts.append(_("Eliminated: %(names)s.") % {"names": ", ".join(map(who, m["eliminated"]))})
    return _say("%(text)s", text=" ".join(parts))


def _over(m: Moment, who: Who) -> SafeString:
    scores = m.get("scores") or ()
    # Every seat of a side has the side's score.
    totals = ", ".join(
        f"{name} {score_text(m['rules'], scores[seats[0]])}" for name, seats in m["named_sides"] if scores
    )
    return _say(_("Final score: %(scores)s."), scores=totals)


def _fault(m: Moment, who: Who) -> SafeString:
    detail = f" ({m['detail']})" if m.get("detail") else ""
    return _say(
        _("%(who)s is out: %(fault)s%(detail)s"), who=who(m["seat"]), fault=fault_name(m["fault"]), detail=detail
    )


_SENTENCES: dict[str, Callable[[Moment, Who], SafeString]] = {
    "deal": _deal,
    "play": lambda m, who: _say(_("%(who)s plays %(card)s"), who=who(m["seat"]), card=_card(m["card"])),
    "trick": _trick,
    "draw": _draw,
    "song": _song,
    "tute": lambda m, who: _say(_("%(who)s declares tute: %(cards)s"), who=who(m["seat"]), cards=_cards(m.get("cards") or ())),
    "claim": _claim,
    "capote": lambda m, who: _say(_("%(who)s goes for capote"), who=who(m["seat"])),
    "notice": lambda m, who: _say(_("%(who)s lays %(card)s for the exchange"), who=who(m["seat"]), card=_card(m["card"])),
    "exchange": _exchange,
    "return": lambda m, who: _say(_("%(who)s takes %(card)s back"), who=who(m["seat"]), card=_card(m["card"])),
    "call": lambda m, who: _say(_("%(who)s calls: %(call)s"), who=who(m["seat"]), call=call_name(m["call"])),
    "called": lambda m, who: _say(_("%(who)s calls %(card)s"), who=who(m["seat"]), card=_card(m["card"])),
    "partner": lambda m, who: _say(_("%(card)s reveals %(who)s as the partner"), who=who(m["seat"]), card=_card(m["card"])),
    "ante": lambda m, who: _say(_("Everyone pays %(chips)s; the pot is now %(pot)s"), chips=m["chips"], pot=m["pot"]),
    "look": lambda m, who: _say(_("%(who)s looks at the cards of %(other)s"), who=who(m["seat"]), other=who(m["of"])),
    "takeover": lambda m, who: _say(_("%(who)s takes over from %(other)s: %(bid)s"), who=who(m["seat"]), other=who(m["of"]), bid=m["bid"]),
    "take": lambda m, who: _say(_("%(who)s takes the shown card, %(card)s"), who=who(m["seat"]), card=_card(m["card"])),
    "reshuffle": lambda m, who: _say(_("The discards are shuffled: %(count)s"), count=m["count"]),
    "trump": _trump,
    "predict": lambda m, who: _say(_("%(who)s predicts %(tricks)s tricks"), who=who(m["seat"]), tricks=m["tricks"]),
    "discard": _discard,
    "reveal": lambda m, who: _say(_("%(who)s shows %(card)s"), who=who(m["seat"]), card=_card(m["card"])),
    "last_ten": _last_ten,
    "revoke": lambda m, who: _say(_("%(who)s revokes with %(card)s"), who=who(m["seat"]), card=_card(m["card"])),
    "accuse": _accuse,
    "score": _score,
    "over": _over,
    "fault": _fault,
}  # fmt: skip


def _other(m: Moment, who: Who) -> SafeString:
    """Describe an event of an unknown kind by its kind and seat."""
    seat = m.get("seat")
    return _say("%(who)s %(kind)s", who=who(seat) if isinstance(seat, int) else "", kind=m.get("e", "?"))


def _yours(m: Moment, who: Who) -> SafeString | None:
    """Say in the second person what the reader does, or return None if only the third person has words for it."""
    match m["e"]:
        case "deal":
            return _deal(m, who, _("Deal %(number)s. You deal.") % {"number": m["deal"]})
        case "play":
            return _say(_("You play %(card)s"), card=_card(m["card"]))
        case "trick":
            text = ngettext(
                "You take the trick: %(points)s point", "You take the trick: %(points)s points", m["points"]
            )
            return _say(text, points=m["points"])
        case "draw" if m.get("card"):
            return _say(_("You draw %(card)s"), card=_card(m["card"]))
        case "song" if m.get("suit"):
            return _say(_("You sing in %(suit)s: %(points)s"), suit=suit_name(m["suit"]), points=m["points"])
    return None


def _last_trick_bonus(moments: Sequence[Moment], at: int) -> int:
    """Return what the last trick is worth beyond its cards: the score of the deal reports it (see also replay-fold.js)."""
    trick = moments[at]
    score = next((later for later in moments[at:] if later["e"] in ("score", "deal")), None)
    bonus = score.get("bonus") if score else None
    if not (trick.get("last") and bonus) or any(points and seat != trick["seat"] for seat, points in enumerate(bonus)):
        return 0
    return int(bonus[trick["seat"]])


def narrate(
    moments: Iterable[Moment], names: Sequence[str], bots: Sequence[str] = (), own: int | None = None, first: int = 0
) -> list[Sentence]:
    """Return the steps of a record in words.

    `names`: one per seat; `bots`: the bot of each seat, to name a side of several seats; `own`: the seat of the reader; `first`: the event with which
    the returned steps begin.
    """
    sentences = []
    events = list(moments)
    deal = step = 0
    rules: engine.Game | None = None
    sides: list[tuple[str, list[int]]] = [(name, [seat]) for seat, name in enumerate(names)]

    def who(seat: int) -> str:
        return names[seat]

    for at, moment in enumerate(events):
        kind = moment["e"]
        if kind == "match":
            sides = [(side_name(seats, names, bots), seats) for seats in moment["sides"]]
            rules = engine.load(moment["game"])  # The unit of a score is the same for all options.
        if kind in QUIET:
            continue
        if kind == "deal":
            deal, step = moment["deal"], 0
        if at < first:
            step += 1
            continue
        event = {**moment, "named_sides": sides, "rules": rules}
        if kind == "trick":
            event["points"] += _last_trick_bonus(events, at)
        is_own = own is not None and event.get("dealer" if kind == "deal" else "seat") == own
        html = (_yours(event, who) if is_own else None) or _SENTENCES.get(kind, _other)(event, who)
        sentences.append(Sentence(deal, step, kind, moment.get("seat"), html))
        step += 1
    return sentences


def side_name(seats: Sequence[int], names: Sequence[str], bots: Sequence[str]) -> str:
    """Name a side after its bot if one bot holds all its seats and no others, else after its seats."""
    if len(seats) > 1 and bots and {seat for seat, bot in enumerate(bots) if bot == bots[seats[0]]} == set(seats):
        return bots[seats[0]]
    return " + ".join(names[seat] for seat in seats)
