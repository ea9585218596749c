"""The line protocol: requests as one line of plain text with the whole position, answers as the bare text of an action.

It serves bots in languages without a JSON library, down to a shell script; `protocol` is what all others speak. `LineTranslator` stands between the
two: it reads the requests of `protocol`, keeps the position that they describe, and writes it out whole with each decision. So it sees exactly what
the seat may see, and logs, audits and repeated matches know one protocol only. docs/line-protocol.md describes the lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.runner import protocol
from engine.runner.faults import Fault, quoted

READY = "ready"
NOTE = " # "  # Parts an answer from its note.
NOTHING = "-"

Event = Mapping[str, Any]


class LineTranslator:
    """Translates between one bot and the referee for one pass."""

    def __init__(self) -> None:
        self.seat = 0
        self._seats = 0
        self._bids: list[str] = []
        self._handlers: dict[str, Callable[[Event], None]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")
        }

    # ---- Requests

    def request(self, line: bytes) -> bytes:
        """Return a request of `protocol` in plain text."""
        message = json.loads(line)
        for event in message.get("events", ()):
            if handler := self._handlers.get(event["e"]):
                handler(event)
        fields = {"hello": self._hello, "act": self._act, "end": self._end}[message["type"]](message)
        return "; ".join(f"{name} {value}" if value else name for name, value in fields).encode() + b"\n"

    def _hello(self, message: Event) -> list[tuple[str, str]]:
        self.seat, self._seats = message["seat"], message["seats"]
        limits = message["limits"]
        options = message["options"]
        return [
            ("hello", str(message["protocol"])),
            ("game", message["game"]),
            ("options", _pairs({name: options[name] for name in sorted(options)})),
            ("seats", str(self._seats)),
            ("seat", str(self.seat)),
            ("sides", " ".join(",".join(map(str, side)) for side in message["sides"])),
            ("boards", str(message["boards"])),
            ("start", f"{limits['start_s']:g}"),
            ("move", f"{limits['move_s']:g}"),
            ("bank", f"{limits['bank_s']:g}"),
            ("seed", str(message["seed"])),
            *(("parameters", _pairs(values)) for values in [message.get("parameters")] if values),
        ]

    def _act(self, message: Event) -> list[tuple[str, str]]:
        return [
            ("act", str(message["id"])),
            ("board", str(self.board)),
            ("deal", str(self.deal)),
            ("dealer", str(self.dealer)),
            ("mano", str(self.mano)),
            ("out", _words(self.out)),
            ("trump", self.trump or NOTHING),
            ("shown", self.shown or NOTHING),
            ("stock", str(self.stock)),
            ("hand", _words(self.hand)),
            ("trick", _words(f"{seat}:{card}" for seat, card in self.trick)),
            ("led", self.led or NOTHING),
            ("played", _words(self.played)),
            ("points", _words(self.points)),
            ("totals", _words(self.totals)),
            ("calls", ", ".join(self._bids)),
            ("bank", f"{message['bank_s']:g}"),
            ("legal", ", ".join(message["legal"])),
        ]

    def _end(self, message: Event) -> list[tuple[str, str]]:
        return [("end", ""), ("scores", _words(message["result"]["scores"]))]

    # ---- Answers

    def ready(self, line: bytes) -> bytes:
        """Return the answer to `hello` as `protocol` has it. Raise Fault."""
        word, _, name = _text(line, READY).partition(" ")
        if word != READY:
            raise _fault(line, f"the first answer must be {READY}", READY)
        return protocol.encode({"type": "ready", "name": name.strip()}).encode()

    def answer(self, line: bytes, number: int) -> bytes:
        """Return the answer to request `number` as `protocol` has it. Raise Fault."""
        text = _text(line, "one of the legal actions, such as: play 1o")
        action, _, note = f"{text} ".partition(NOTE)  # A note may be empty.
        answer: dict[str, Any] = {"id": number, "do": action.rstrip()}
        # Cut here, because JSON makes it longer than the line was.
        return protocol.encode(answer | ({"note": note.rstrip()[: protocol.MAX_NOTE]} if note else {})).encode()

    # ---- The position, by events (docs/protocol.md)

    def _on_deal(self, event: Event) -> None:
        self.board, self.deal = event.get("board", 0), event["deal"]
        self.dealer, self.mano, self.out = event["dealer"], event["mano"], list(event["out"])
        self.trump, self.shown, self.stock = event["trump"], event["shown"], event["stock"]
        self.totals = list(event["totals"])
        self.hand: list[str] = list(event["hand"])
        self.trick: list[tuple[int, str]] = []
        self.led: str | None = None
        self.played: list[str] = []
        self.points = [0] * self._seats
        self._bids = []
        self._looks: dict[int, list[str]] = {}  # Hands of others that this seat has seen, until it takes one over.

    def _on_reveal(self, event: Event) -> None:
        self.mano = event["seat"]
        self.shown = event.get("shown") or self.shown

    def _on_notice(self, event: Event) -> None:
        self._remove(event["seat"], event["card"])

    def _on_return(self, event: Event) -> None:
        self._add(event["seat"], event["card"])

    def _on_exchange(self, event: Event) -> None:
        if self.shown is None and not self.played:
            self.mano = event["seat"]
        self._remove(event["seat"], event["gives"])
        self._add(event["seat"], event.get("takes"))
        self.shown = event["gives"]

    def _on_call(self, event: Event) -> None:
        self._bids.append(f"{event['seat']}:{event['call']}")

    def _on_look(self, event: Event) -> None:
        if event["seat"] == self.seat:
            self._looks[event["of"]] = list(event.get("cards") or ())

    def _on_takeover(self, event: Event) -> None:
        seat, replaced = event["seat"], event["of"]
        if seat == self.seat:
            self.hand = self._looks.get(replaced, [])
        elif replaced == self.seat:
            self.hand = []
        self.out = sorted({*self.out, replaced} - {seat})
        self.mano = seat if self.mano == replaced else self.mano

    def _on_take(self, event: Event) -> None:
        self._add(event["seat"], event["card"])
        self.shown = None

    def _on_trump(self, event: Event) -> None:
        self.trump = event["suit"]
        self.led = event.get("lead") or self.led

    def _on_discard(self, event: Event) -> None:
        for card in event.get("cards") or ():
            self._remove(event["seat"], card)

    def _on_play(self, event: Event) -> None:
        seat, card = event["seat"], event["card"]
        self._remove(seat, card)
        self.played.append(card)
        if not self.trick:
            self.led = card[1]
        self.trick.append((seat, card))

    def _on_trick(self, event: Event) -> None:
        self.points[event["seat"]] += event["points"]
        self.trick, self.led = [], None

    def _on_draw(self, event: Event) -> None:
        self.stock = max(0, self.stock - 1)
        self._add(event["seat"], event.get("card"))

    def _on_song(self, event: Event) -> None:
        self.points[event["seat"]] += event["points"]

    def _on_score(self, event: Event) -> None:
        self.totals = list(event.get("totals") or self.totals)

    def _add(self, seat: int, card: str | None) -> None:
        if seat == self.seat and card is not None and card not in self.hand:
            self.hand.append(card)

    def _remove(self, seat: int, card: str) -> None:
        if seat == self.seat and card in self.hand:
            self.hand.remove(card)


def _pairs(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={protocol.encode(value)}" for name, value in values.items())


def _words(values: Iterable[object]) -> str:
    return " ".join(map(str, values))


def _text(line: bytes, expected: str) -> str:
    if len(line) > protocol.MAX_LINE:
        raise _fault(line, f"a line may have {protocol.MAX_LINE} bytes", expected)
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise _fault(line, f"byte {error.start} is not UTF-8", expected) from None
    if not text:
        raise _fault(line, "an empty line is no answer", expected)
    return text


def _fault(line: bytes, why: str, expected: str) -> Fault:
    return Fault("protocol", f"{why}; the bot wrote: {quoted(line)} ; expected: {expected}")
