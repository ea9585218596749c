"""A record in words: one line per event, for readers without JavaScript, for screen readers, and for the text form.

Only what stands in the events is said; nothing is worked out here. Hidden cards that only their holder knew are marked
`secret`, so that the viewer can leave them out when the table is seen from another seat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from league.web.common.words import call_name, card_name, fault_name, suit_name

Event = dict[str, Any]
QUIET = frozenset({"match"})  # the header of a record is no step (the same in replay-fold.js)
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
class Line:
    """One step: `html` says it; `anchor` is `d<deal>p<step>`, both counted as the viewer counts them."""

    deal: int
    step: int
    kind: str
    seat: int | None
    html: SafeString

    @property
    def anchor(self) -> str:
        return f"d{self.deal}p{self.step}"

    @property
    def css(self) -> str:
        """Classes of the line in the list of steps."""
        return f"{self.kind} notable" if self.kind in NOTABLE else self.kind


def _say(template: str, **parts: object) -> SafeString:
    """A translated sentence with its parts escaped."""
    return mark_safe(template % {key: conditional_escape(part) for key, part in parts.items()})


def _card(card: str) -> str:
    return card_name(card, article=True)


def _cards(cards: Iterable[str]) -> str:
    return ", ".join(card_name(card) for card in cards)


def _secret(text: str) -> SafeString:
    return format_html('<span class="secret">{}</span>', text)


def _deal(e: Event, who: Callable[[int], str]) -> SafeString:
    parts = [_("Deal %(number)s. %(dealer)s deals.") % {"number": e["deal"], "dealer": who(e["dealer"])}]
    if e.get("trump"):
        parts.append(_("Trump: %(suit)s.") % {"suit": suit_name(e["trump"])})
    if e.get("shown"):
        parts.append(_("Shown card: %(card)s.") % {"card": card_name(e["shown"])})
    if e.get("out"):
        parts.append(_("Sitting out: %(names)s.") % {"names": ", ".join(map(who, e["out"]))})
    return _say("%(text)s", text=" ".join(parts))


def _song(e: Event, who: Callable[[int], str]) -> SafeString:
    if not e.get("suit"):  # a hidden song
        return _say(_("%(who)s sings: %(points)s"), who=who(e["seat"]), points=e["points"])
    return _say(
        _("%(who)s sings in %(suit)s: %(points)s"), who=who(e["seat"]), suit=suit_name(e["suit"]), points=e["points"]
    )


def _trick(e: Event, who: Callable[[int], str]) -> SafeString:
    text = ngettext(
        "%(who)s takes the trick: %(points)s point", "%(who)s takes the trick: %(points)s points", e["points"]
    )
    if e.get("last"):
        text = ngettext(
            "%(who)s takes the last trick: %(points)s point",
            "%(who)s takes the last trick: %(points)s points",
            e["points"],
        )
    return _say(text, who=who(e["seat"]), points=e["points"])


def _draw(e: Event, who: Callable[[int], str]) -> SafeString:
    if not e.get("card"):
        return _say(_("%(who)s draws a card"), who=who(e["seat"]))
    # a face-down card is known to who draws it: the sentence stays whole without it
    card = _card(e["card"])
    return _say(
        "%(text)s %(card)s",
        text=_("%(who)s draws") % {"who": who(e["seat"])},
        card=card if e.get("shown") else _secret(card),
    )


def _exchange(e: Event, who: Callable[[int], str]) -> SafeString:
    if not e.get("takes"):
        return _say(_("%(who)s exchanges %(gives)s"), who=who(e["seat"]), gives=_card(e["gives"]))
    takes = _card(e["takes"])
    return _say(
        _("%(who)s exchanges %(gives)s for %(takes)s"),
        who=who(e["seat"]),
        gives=_card(e["gives"]),
        takes=_secret(takes) if "takes" in e.get("secret", ()) else takes,
    )


def _discard(e: Event, who: Callable[[int], str]) -> SafeString:
    count = e.get("count", len(e.get("cards") or ()))
    text = ngettext("%(who)s discards %(count)s card", "%(who)s discards %(count)s cards", count)
    shown = _secret(f" ({_cards(e['cards'])})") if e.get("cards") else ""
    return _say("%(text)s%(shown)s", text=text % {"who": who(e["seat"]), "count": count}, shown=shown)


def _trump(e: Event, who: Callable[[int], str]) -> SafeString:
    parts = []
    if e.get("suit"):
        parts.append(_("Trump is now %(suit)s.") % {"suit": suit_name(e["suit"])})
    if e.get("lead"):
        parts.append(_("The lead suit is now %(suit)s.") % {"suit": suit_name(e["lead"])})
    return _say("%(text)s", text=" ".join(parts) or _("There is no trump."))


def _claim(e: Event, who: Callable[[int], str]) -> SafeString:
    right, wrong = _("%(who)s claims the win with %(total)s: right"), _("%(who)s claims the win with %(total)s: wrong")
    text = right if e.get("right") else wrong
    return _say(text, who=who(e["seat"]), total=e.get("total", "?"))


def _last_ten(e: Event, who: Callable[[int], str]) -> SafeString:
    text = _("%(who)s takes the last ten") if e.get("taken") else _("%(who)s declines the last ten")
    return _say(text, who=who(e["seat"]))


def _accuse(e: Event, who: Callable[[int], str]) -> SafeString:
    if e.get("proven"):
        return _say(_("%(who)s accuses %(other)s of a revoke: right"), who=who(e["seat"]), other=who(e["offender"]))
    return _say(_("%(who)s accuses of a revoke: wrong"), who=who(e["seat"]))


def _sums(e: Event, values: Sequence[int]) -> str:
    """Values by seat as 'rufo 40, luna 90': one number per side, summed over its seats (`narrate` adds the sides to the event)."""
    return ", ".join(f"{name} {sum(values[seat] for seat in seats)}" for name, seats in e["named_sides"] if values)


def _score(e: Event, who: Callable[[int], str]) -> SafeString:
    parts = [_("Score of the deal: %(scores)s.") % {"scores": _sums(e, e.get("points") or ())}]
    if e.get("losers"):
        parts.append(_("Lost: %(names)s.") % {"names": ", ".join(map(who, e["losers"]))})
    if e.get("eliminated"):
        parts.append(_("Eliminated: %(names)s.") % {"names": ", ".join(map(who, e["eliminated"]))})
    return _say("%(text)s", text=" ".join(parts))


def _over(e: Event, who: Callable[[int], str]) -> SafeString:
    scores = e.get("scores") or ()
    # every seat of a side has the score of its side
    told = ", ".join(f"{name} {scores[seats[0]]}" for name, seats in e["named_sides"] if scores)
    return _say(_("End of the sitting: %(scores)s."), scores=told)


def _fault(e: Event, who: Callable[[int], str]) -> SafeString:
    detail = f" ({e['detail']})" if e.get("detail") else ""
    return _say(
        _("%(who)s is out: %(fault)s%(detail)s"), who=who(e["seat"]), fault=fault_name(e["fault"]), detail=detail
    )


_SENTENCES: dict[str, Callable[[Event, Callable[[int], str]], SafeString]] = {
    "deal": _deal,
    "play": lambda e, who: _say(_("%(who)s plays %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "trick": _trick,
    "draw": _draw,
    "song": _song,
    "tute": lambda e, who: _say(_("%(who)s declares tute: %(cards)s"), who=who(e["seat"]), cards=_cards(e.get("cards") or ())),
    "claim": _claim,
    "capote": lambda e, who: _say(_("%(who)s goes for capote"), who=who(e["seat"])),
    "notice": lambda e, who: _say(_("%(who)s lays %(card)s for the exchange"), who=who(e["seat"]), card=_card(e["card"])),
    "exchange": _exchange,
    "return": lambda e, who: _say(_("%(who)s takes %(card)s back"), who=who(e["seat"]), card=_card(e["card"])),
    "call": lambda e, who: _say(_("%(who)s calls: %(call)s"), who=who(e["seat"]), call=call_name(e["call"])),
    "called": lambda e, who: _say(_("%(who)s calls %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "partner": lambda e, who: _say(_("%(who)s is the partner, by %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "ante": lambda e, who: _say(_("Everybody pays %(chips)s; the pot holds %(pot)s"), chips=e["chips"], pot=e["pot"]),
    "look": lambda e, who: _say(_("%(who)s looks at the cards of %(other)s"), who=who(e["seat"]), other=who(e["of"])),
    "takeover": lambda e, who: _say(_("%(who)s takes over from %(other)s: %(bid)s"), who=who(e["seat"]), other=who(e["of"]), bid=e["bid"]),
    "take": lambda e, who: _say(_("%(who)s takes the shown card, %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "reshuffle": lambda e, who: _say(_("The thrown cards are shuffled: %(count)s"), count=e["count"]),
    "trump": _trump,
    "predict": lambda e, who: _say(_("%(who)s asks for %(tricks)s tricks"), who=who(e["seat"]), tricks=e["tricks"]),
    "discard": _discard,
    "reveal": lambda e, who: _say(_("%(who)s shows %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "last_ten": _last_ten,
    "revoke": lambda e, who: _say(_("%(who)s revokes with %(card)s"), who=who(e["seat"]), card=_card(e["card"])),
    "accuse": _accuse,
    "score": _score,
    "over": _over,
    "fault": _fault,
}  # fmt: skip


def _other(e: Event, who: Callable[[int], str]) -> SafeString:
    """An event that this page does not know yet: its kind and whoever it is about."""
    seat = e.get("seat")
    return _say("%(who)s %(kind)s", who=who(seat) if isinstance(seat, int) else "", kind=e.get("e", "?"))


def narrate(events: Iterable[Event], names: Sequence[str], bots: Sequence[str] = ()) -> list[Line]:
    """The steps of a record in words. `names`: one per seat; `bots`: who holds each seat, to name a side of several seats."""
    lines = []
    deal = step = 0
    sides: list[tuple[str, list[int]]] = [(name, [seat]) for seat, name in enumerate(names)]

    def who(seat: int) -> str:
        return names[seat]

    for event in events:
        kind = event["e"]
        if kind == "match":
            sides = [(side_name(seats, names, bots), seats) for seats in event["sides"]]
        if kind in QUIET:
            continue
        if kind == "deal":
            deal, step = event["deal"], 0
        html = _SENTENCES.get(kind, _other)({**event, "named_sides": sides}, who)
        lines.append(Line(deal, step, kind, event.get("seat"), html))
        step += 1
    return lines


def side_name(seats: Sequence[int], names: Sequence[str], bots: Sequence[str]) -> str:
    """One bot on all seats of a side names it; else the names of its seats do."""
    if len(seats) > 1 and bots and len({bots[seat] for seat in seats}) == 1:
        return bots[seats[0]]
    return " + ".join(names[seat] for seat in seats)
