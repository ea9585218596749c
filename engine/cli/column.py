"""A replay as plain text, like a newspaper's bridge column: hands by suit, one line per trick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.rulebook.words import SUITS, card_name

RANK_ORDER = "13RCS765420"
SHOWN_OTHERWISE = ("match", "deal", "play", "trick")  # The diagram and the lines of tricks show these events already.
# The sentence of each event, with fields of the event in braces; other events are printed as in the log.
SENTENCES = {
    "song": "{who} sings in {suit}: {points}",
    "tute": "{who} declares tute: {cards}",
    "draw": "{who} draws {card}",
    "exchange": "{who} exchanges {gives} for {takes}",
    "call": "{who} calls: {call}",
    "called": "{who} calls {card}",
    "predict": "{who} predicts {tricks} tricks",
    "capote": "{who} goes for capote",
    "take": "{who} takes the shown card, {card}",
    "reveal": "{who} shows {card}",
    "revoke": "{who} revokes with {card}",
}
HEADS = {
    "deal": "Deal {deal}. {dealer} deals. {leader} leads. {trump}",
    "score": "Score of the deal: {points}",
    "over": "Result: {scores}",
}


def column(replay: dict[str, Any], title: str) -> str:
    """Return one replay as text. Cards are written as in the protocol: 1o is the ace of coins, Rc the king of cups."""
    meta = replay["meta"]
    parties, seating = meta.get("parties"), meta.get("seating")
    bots = [str(parties[party]) for party in seating] if parties and seating else [""] * replay["players"]
    names = [f"{bot or 'seat'} {seat}" for seat, bot in enumerate(bots, 1)]
    head = f"{title}, board {meta.get('board', 1)}, game {meta.get('sitting', 0) + 1}"
    return "\n".join([head, "=" * len(head), *_body(replay["events"], names), ""])


def _body(events: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[str]:
    trick: list[str] = []
    number = 0
    for event in events:
        kind = event["e"]
        if kind == "deal":
            number, trick = 0, []
            trump = f"Trump: {SUITS['en'][event['trump']]}." if event.get("trump") else ""
            words = {"deal": event["deal"], "dealer": names[event["dealer"]], "leader": names[event["mano"]]}
            yield ""
            yield HEADS["deal"].format(**words, trump=trump).rstrip()
            yield from _hands(names, event)
        elif kind == "play":
            trick.append(f"{names[event['seat']]} {event['card']}")
        elif kind == "trick":
            number += 1
            yield f"{number:3}. {'  '.join(trick)}  -> {names[event['seat']]} +{event['points']}"
            trick = []
        if kind not in SHOWN_OTHERWISE:
            yield f"     * {_sentence(event, names)}"
    if trick:
        yield f"     {'  '.join(trick)}"


def _hands(names: Sequence[str], deal: dict[str, Any]) -> Iterator[str]:
    width = max(map(len, names))
    for name, hand in zip(names, deal.get("hands") or (), strict=False):
        suits = {
            suit: sorted((card[:-1] for card in hand if card[-1] == suit), key=RANK_ORDER.find) for suit in SUITS["en"]
        }
        if hand:
            text = "   ".join(f"{SUITS['en'][suit]} {' '.join(ranks) or '-'}" for suit, ranks in suits.items())
            yield f"     {name:<{width}}  {text}"


def _sentence(event: dict[str, Any], names: Sequence[str]) -> str:
    kind = event["e"]
    words = {name: _word(name, value) for name, value in event.items()}
    if "seat" in event:
        words["who"] = names[event["seat"]]
    if kind in ("score", "over"):
        sums = event.get("scores") or event.get("points") or ()
        text = ", ".join(f"{name} {points}" for name, points in zip(names, sums, strict=False))
        return HEADS[kind].format(points=text, scores=text)
    try:
        return SENTENCES[kind].format(**words)
    except KeyError:  # The event has no sentence here, or its cards are hidden.
        rest = ", ".join(f"{name} {value}" for name, value in words.items() if name not in ("e", "seat", "who"))
        return f"{words.get('who', '')} {kind.replace('_', ' ')}{': ' if rest else ''}{rest}".strip()


def _word(name: str, value: Any) -> str:
    if name in ("card", "gives", "takes", "shown") and isinstance(value, str):
        return card_name(value, "en")
    if name == "cards" and isinstance(value, list):
        return ", ".join(card_name(card, "en") for card in value if isinstance(card, str))
    if name == "suit" and isinstance(value, str):
        return SUITS["en"].get(value, value)
    return str(value)
