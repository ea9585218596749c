"""Names of cards, suits, games and faults in the reader's language."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.formats import get_format
from django.utils.translation import get_language, gettext_noop, ngettext, pgettext
from django.utils.translation import gettext as _

from league.domain.matches.broadcast import Interest

NARROW = "\u202f"  # Narrow no-break space between a number and its sign.
SUITS = {
    "o": gettext_noop("coins"),
    "c": gettext_noop("cups"),
    "e": gettext_noop("swords"),
    "b": gettext_noop("batons"),
}
# Name of each rank, without and with article (Spanish: el as, la sota).
RANKS = {
    "1": (gettext_noop("ace"), gettext_noop("the ace")),
    "3": (gettext_noop("three"), gettext_noop("the three")),
    "R": (gettext_noop("king"), gettext_noop("the king")),
    "C": (gettext_noop("horse"), gettext_noop("the horse")),
    "S": (gettext_noop("jack"), gettext_noop("the jack")),
    "7": (gettext_noop("seven"), gettext_noop("the seven")),
    "6": (gettext_noop("six"), gettext_noop("the six")),
    "5": (gettext_noop("five"), gettext_noop("the five")),
    "4": (gettext_noop("four"), gettext_noop("the four")),
    "2": (gettext_noop("two"), gettext_noop("the two")),
}
# Phases of a deal, as in engine.analysis.
PHASES = {
    "all": gettext_noop("all"),
    "auction": gettext_noop("auction"),
    "lead": gettext_noop("leads"),
    "follow": gettext_noop("follows"),
    "end": gettext_noop("last three tricks"),
}
FAULTS = {
    "crash": (
        gettext_noop("crash"),
        gettext_noop("The bot process ended. See its stderr, and use tute play to reproduce it on your computer."),
    ),
    "timeout": (
        gettext_noop("out of time"),
        gettext_noop(
            "The bot ran out of time for a decision. Make it answer earlier; bank_s in each request is the remaining reserve."
        ),
    ),
    "start_timeout": (
        gettext_noop("slow start"),
        gettext_noop("The bot did not answer hello in time. Make it load less before its first line, or load later."),
    ),
    "memory": (gettext_noop("memory limit"), gettext_noop("The bot exceeded its memory limit. Make it use less.")),
    "output_flood": (
        gettext_noop("too much output"),
        gettext_noop("The bot exceeded its output limit. Send one line per request and keep logs short."),
    ),
    "protocol": (
        gettext_noop("protocol error"),
        gettext_noop("The answer was not one line of valid JSON with the id of the request."),
    ),
    "illegal_action": (
        gettext_noop("illegal action"),
        gettext_noop("The bot chose an action that is not in legal. Make it send one of these texts unchanged."),
    ),
    "pondering": (gettext_noop("pondering"), gettext_noop("The bot used processor time while it was not its turn.")),
    "disconnect": (
        gettext_noop("closed its output"),
        gettext_noop("The bot closed its output before the end of the match."),
    ),
    "unplayable": (
        gettext_noop("unplayable"),
        gettext_noop(
            "The match broke off at this bot, and again when another worker repeated it. The owner sees the details."
        ),
    ),
    "build": (gettext_noop("build failed"), gettext_noop("The compiler refused the source; its log says where.")),
    "infrastructure": (
        gettext_noop("league fault"),
        gettext_noop("This was the league's fault. It does not affect the bot."),
    ),
}
# Themes of puzzles, as in engine.themes.
THEMES = {
    "auction": gettext_noop("Bid or pass"),
    "sing": gettext_noop("Sing now or later"),
    "exchange": gettext_noop("Exchange the trump"),
    "capote": gettext_noop("Capote"),
    "last": gettext_noop("The last tricks"),
    "trumps": gettext_noop("Draw trumps"),
    "lead": gettext_noop("What to lead"),
    "ruff": gettext_noop("Trump in"),
    "take": gettext_noop("Take the trick"),
    "duck": gettext_noop("Duck"),
    "feed": gettext_noop("Feed your partner"),
}
UNITS = {
    "points": gettext_noop("points"),
    "games": gettext_noop("games"),
    "rank": gettext_noop("places"),
    "chips": gettext_noop("chips"),
    "marks": gettext_noop("marks"),
}


def theme_name(theme: str) -> str:
    """Return the name of a theme of puzzles: 'Draw trumps' for 'trumps'; an unknown one is returned unchanged."""
    return _(THEMES[theme]) if theme in THEMES else theme


def suit_name(suit: str) -> str:
    """Return the name of a suit: 'coins' for 'o'; an unknown letter is returned unchanged."""
    return _(SUITS[suit]) if suit in SUITS else suit


def card_name(card: str, *, article: bool = False) -> str:
    """Return the name of a card: 'ace of coins' for '1o' ('the ace of coins' with `article`); an unknown card is returned unchanged."""
    rank, suit = card[:-1], card[-1:]
    if rank not in RANKS or suit not in SUITS:
        return card
    return _("%(rank)s of %(suit)s") % {"rank": _(RANKS[rank][article]), "suit": suit_name(suit)}


PRINTED = {"S": "10", "C": "11", "R": "12"}


def printed_rank(card: str) -> str:
    """Return the number that is printed on a card: '12' for 'Ro'."""
    return PRINTED.get(card[:-1], card[:-1])


def card_names() -> dict[str, str]:
    """Return the names of all forty cards, by their code."""
    return {rank + suit: card_name(rank + suit) for suit in SUITS for rank in RANKS}


CALLS = {
    "pass": gettext_noop("pass"),
    "play": gettext_noop("play"),
    "join": gettext_noop("join"),
    "out": gettext_noop("out"),
    "bid": gettext_noop("bid"),
    "less": gettext_noop("less"),
    "take": gettext_noop("take"),
    "decline": gettext_noop("decline"),
}


def call_name(call: str) -> str:
    """Return the words of a call in an auction, such as 'paso' or 'puja 70'; an unknown call is returned unchanged."""
    word, gap, rest = call.partition(" ")
    return (_(CALLS[word]) if word in CALLS else word) + gap + rest


def phase_name(phase: str) -> str:
    """Return the name of a phase of the deal, or of "all"."""
    return _(PHASES[phase])


ACTIONS = {
    "pass": gettext_noop("Pass"),
    "claim": gettext_noop("Claim the win"),
    "capote": gettext_noop("Go for capote"),
    "take": gettext_noop("Take the last ten"),
    "decline": gettext_noop("Decline the last ten"),
    "join": gettext_noop("Join"),
    "out": gettext_noop("Stay out"),
    "play": gettext_noop("Play"),
    "next": gettext_noop("Next hand"),
    "discard": gettext_noop("Discard nothing"),
}


def action_name(action: str) -> str:
    """Return the text of a button, such as 'Sing in coins' for 'sing o'; an unknown action is returned unchanged."""
    verb, _gap, what = action.partition(" ")
    if not what:
        return _(ACTIONS[verb]) if verb in ACTIONS else action
    card, the_card = card_name(what), card_name(what, article=True)
    texts = {
        "play": card,
        "call": _("Call %(card)s") % {"card": the_card},
        "exchange": _("Exchange %(card)s") % {"card": the_card},
        "sing": _("Sing in %(suit)s") % {"suit": suit_name(what)},
        "trump": _("Trump: %(suit)s") % {"suit": suit_name(what)},
        "tute": _("Tute of %(cards)s") % {"cards": _(TUTES.get(what, what))},
        "bid": _("Bid %(number)s") % {"number": what},
        "predict": ngettext("%(number)s trick", "%(number)s tricks", int(what) if what.isdecimal() else 0)
        % {"number": what},
        "accuse": _("Accuse seat %(number)s of a revoke") % {"number": int(what) + 1 if what.isdecimal() else 0},
    }
    return texts.get(verb, action)


def seat_of_puzzle(seat: int, own_seat: int, sides: Sequence[Sequence[int]], *, short: bool = False) -> str:
    """Return a name for a seat of a puzzle, as the person at `own_seat` sees the table; short: for a plate on the table."""
    players = sum(map(len, sides))
    right = (seat - own_seat) % players
    if right == 0:
        return _("You") if short else _("Your seat")
    if any(seat in side and own_seat in side for side in sides):
        return _("Your partner")
    if players == 2:
        return _("Your rival")
    if right in (1, players - 1) and short:
        return pgettext("seat", "Right") if right == 1 else pgettext("seat", "Left")
    if right in (1, players - 1):
        return _("The player to your right") if right == 1 else _("The player to your left")
    return _("Seat %(number)s") % {"number": seat + 1}


TUTES = {"R": gettext_noop("kings"), "C": gettext_noop("horses"), "S": gettext_noop("jacks")}


def fault_name(kind: str) -> str:
    """Return a short name of a fault."""
    return _(FAULTS[kind][0]) if kind in FAULTS else kind


def fault_advice(kind: str) -> str:
    """Return what the author of a bot can do against a fault."""
    return _(FAULTS[kind][1]) if kind in FAULTS else ""


def unit_name(unit: str) -> str:
    """Return the name of a score unit."""
    return _(UNITS[unit]) if unit in UNITS else unit


def viewer_labels() -> dict[str, object]:
    """Return the words that the replay viewer shows."""
    return {
        "song": _("sings"),
        "tute": pgettext("declaration", "tute"),
        "claim": _("claims"),
        "capote": _("capote"),
        "call": "",
        "predict": _("asks"),
        "called": _("calls"),
        "partner": _("partner"),
        "exchange": _("exchanges"),
        "notice": _("lays"),
        "return": _("takes back"),
        "trump": _("trump changes"),
        "fault": _("fault"),
        "calls": {word: call_name(word) for word in CALLS},
        "dealer": _("dealer"),
        "mano": _("leads first"),
        "tricks": _("tricks: %s"),
        "marks": _("marks: %s"),
        "trumps": _("Trump: %s"),
        "lead": _("Lead: %s"),
        "stock": _("Stock and shown card"),
        "last": _("Last trick"),
        "back": _("a face-down card"),
        "dealt": _("Cards are dealt"),
        "see_as": _("Show only the hand of %s; press again for all hands"),
        "over": _("Result of the seating"),
        "score": _("Score of deal %s"),
        "deal_points": _("this deal"),
        "all_points": _("so far"),
        "all_marks": _("loss marks"),
        "where": _("deal %(deal)s · step %(step)s of %(last)s"),
    }


# Reasons why a match is queued (league.domain.matches.workers.Queue.waiting).
WAITING_REASONS = {
    "turn": gettext_noop("waiting for its turn"),
    "retry": gettext_noop("to be retried after a league fault"),
    "paused": gettext_noop("its tournament or one of its bots is paused"),
    "retest": gettext_noop("one of its bots must be tested again"),
    "rules": gettext_noop("no worker has this version of the rules"),
    "worker": gettext_noop("no worker is running"),
    "sandbox": gettext_noop("no worker has a safe sandbox"),
}


# Kinds of jobs (league.domain.jobs.handlers).
JOBS = {
    "build": gettext_noop("building bots"),
    "fetch": gettext_noop("fetching bots from Git"),
    "table": gettext_noop("tables of people"),
    "analysis": gettext_noop("analyses"),
    "consultation": gettext_noop("consultations of house bots"),
    "tuning": gettext_noop("tunings"),
    "study": gettext_noop("studies of rules"),
    "mistakes": gettext_noop("searches for mistakes"),
    "puzzles": gettext_noop("searches for puzzles"),
}


def job_name(kind: str) -> str:
    """Return the name of a kind of jobs."""
    return _(JOBS[kind]) if kind in JOBS else kind


LIMITS = {
    "boards": gettext_noop("queued boards"),
    "tournaments": gettext_noop("unfinished tournaments, events and recurring leagues"),
    "bots": gettext_noop("bots (without retired ones)"),
    "validations": gettext_noop("uploads being validated"),
    "uploads": gettext_noop("uploads in the last hour"),
    "bytes": gettext_noop("size of all uploads"),
    "challenges": gettext_noop("challenges in the last day"),
    "judgements": gettext_noop("analyses and bot consultations in the last day"),
    "tries": gettext_noop("tries in the last hour"),
    "series": gettext_noop("series of 20 boards in the last hour"),
    "tables": gettext_noop("tables opened in the last hour"),
    "comments": gettext_noop("comments in the last hour"),
    "reports": gettext_noop("reported comments in the last day"),
    "requests": gettext_noop("requests for other players' bots in the last day"),
}


def limit_name(name: str) -> str:
    """Return a description of a player's limit."""
    return _(LIMITS[name])


def waiting_reason(reason: str) -> str:
    """Return why a match is queued, in a few words."""
    return _(WAITING_REASONS[reason])


def format_number(value: float, form: str) -> str:
    """Format a number in the reader's language with a true minus sign: Spanish readers read '1.118' as more than a thousand."""
    return f"{value:{form}}".replace("-", "−").replace(".", get_format("DECIMAL_SEPARATOR"))


def percent(value: float | None) -> str:
    """Return '57.3%' for 0.573; '57,3 %' in Spanish."""
    if value is None:
        return ""
    return f"{format_number(100 * value, '.1f')}{NARROW if get_language() == 'es' else ''}%"


def signed(value: float, digits: int = 0) -> str:
    """Return '+12', '−4' or '0' with a true minus sign."""
    text = format_number(abs(value), f".{digits}f")
    if not text.strip("0.,"):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def why_shown(why: Interest, winner: str) -> str:
    """Return a line that says why a board is shown. `winner`: the bot that won the match."""
    if why.kind == "upset":
        words = ngettext(
            "Upset: %(bot)s won, although rated %(elo)d point lower.",
            "Upset: %(bot)s won, although rated %(elo)d points lower.",
            why.elo,
        )
        return words % {"bot": winner, "elo": why.elo}
    if why.kind == "decisive":
        return _("The decisive board: without it, %(bot)s would not have won the match.") % {"bot": winner}
    return {
        "capote": _("A capote: one side takes every trick, or tries to."),
        "tute": _("A tute: all four kings or all four horses in one hand."),
        "swing": _("Biggest swing of the match"),
    }.get(why.kind, _("One of the latest matches."))
