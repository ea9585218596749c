"""Names of cards, suits, games and faults in the reader's language."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as N_
from django.utils.translation import pgettext

SUITS = {
    "o": N_("coins"),
    "c": N_("cups"),
    "e": N_("swords"),
    "b": N_("batons"),
}
# rank letter of the rules book: name, name with its article (Spanish: el as, la sota)
RANKS = {
    "1": (N_("ace"), N_("the ace")),
    "3": (N_("three"), N_("the three")),
    "R": (N_("king"), N_("the king")),
    "C": (N_("horse"), N_("the horse")),
    "S": (N_("jack"), N_("the jack")),
    "7": (N_("seven"), N_("the seven")),
    "6": (N_("six"), N_("the six")),
    "5": (N_("five"), N_("the five")),
    "4": (N_("four"), N_("the four")),
    "2": (N_("two"), N_("the two")),
}
FAULTS = {
    "crash": (N_("crash"), N_("Its process ended. Read its stderr below for the reason; run the same match on your machine with tute play.")),
    "timeout": (N_("out of time"), N_("It used up its time for one decision. Answer earlier, or watch bank_s in each request.")),
    "start_timeout": (N_("slow start"), N_("It did not answer hello in time. Load less before the first line, or later.")),
    "memory": (N_("memory limit"), N_("It asked for more memory than a bot may have.")),
    "output_flood": (N_("too much output"), N_("It wrote more than a bot may write. Send one line for each request; keep logs short.")),
    "protocol": (N_("protocol error"), N_("Its answer was not one valid JSON line with the id of the request.")),
    "illegal_action": (N_("illegal action"), N_("It answered an action that was not in legal. Choose one of the texts in legal, unchanged.")),
    "pondering": (N_("pondering"), N_("It used processor time while it was not asked.")),
    "disconnect": (N_("hung up"), N_("It closed its output before the end.")),
    "infrastructure": (N_("fault of the league"), N_("This was our fault and costs the bot nothing.")),
}  # fmt: skip
UNITS = {
    "points": N_("points"),
    "games": N_("games"),
    "rank": N_("places"),
    "chips": N_("chips"),
    "marks": N_("marks"),
}


def suit_name(suit: str) -> str:
    """'coins' for 'o'; an unknown letter comes back as it is."""
    return _(SUITS[suit]) if suit in SUITS else suit


def card_name(card: str, *, article: bool = False) -> str:
    """'ace of coins' for '1o' ('the ace of coins' with the article); an unknown card comes back as it is."""
    rank, suit = card[:-1], card[-1:]
    if rank not in RANKS or suit not in SUITS:
        return card
    return _("%(rank)s of %(suit)s") % {"rank": _(RANKS[rank][article]), "suit": suit_name(suit)}


def card_names() -> dict[str, str]:
    """The names of all forty cards, by their text."""
    return {rank + suit: card_name(rank + suit) for suit in SUITS for rank in RANKS}


def fault_name(kind: str) -> str:
    """A fault in two words."""
    return _(FAULTS[kind][0]) if kind in FAULTS else kind


def fault_advice(kind: str) -> str:
    """What the author of a bot can do about a fault."""
    return _(FAULTS[kind][1]) if kind in FAULTS else ""


def unit_name(unit: str) -> str:
    """The score unit of a game."""
    return _(UNITS[unit]) if unit in UNITS else unit


def badge_labels() -> dict[str, str]:
    """Words of the replay table, for the viewer."""
    return {
        "song": _("sings"),
        "tute": pgettext("declaration", "tute"),
        "claim": _("claims"),
        "capote": _("capote"),
        "call": "",
        "predict": _("asks"),
        "partner": _("partner"),
        "exchange": _("exchanges"),
        "notice": _("lays"),
        "return": _("takes back"),
        "trump": _("trump changes"),
        "fault": _("fault"),
        "dealer": _("dealer"),
        "mano": _("mano"),
        "tricks": _("tricks: %s"),
        "marks": _("marks: %s"),
        "trumps": _("Trump: %s"),
        "lead": _("Lead: %s"),
        "stock": _("Stock and shown card"),
        "last": _("Last trick"),
        "back": _("a face-down card"),
        "dealt": _("Cards are dealt"),
        "see_as": _("See the table as %s; again for all hands"),
        "over": _("Result of the sitting"),
        "score": _("Score of deal %s"),
        "where": _("deal %(deal)s · step %(step)s of %(last)s"),
    }
