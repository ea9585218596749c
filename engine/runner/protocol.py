"""Protocol 1: the lines sent to a bot, and the strict parsing of its answers.

A bot's line is untrusted. Every deviation is a `Fault` whose detail quotes the line, shortened, and says what was expected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.runner.faults import Fault, quoted
from engine.runner.limits import Limits

VERSION = 1
MAX_LINE = 64 * 1024  # Longest line in bytes, newline included.
MAX_DEPTH = 16  # Depth of arrays and objects inside an answer.
MAX_DIGITS = 18  # Digits of a whole number, so that it fits into 64 bits.
MAX_NOTE = 200  # Stored characters of a note.
MAX_READY_NAME = 60
# First and last surrogate, written as calls because literals cannot be compiled.
_FIRST_HALF, _LAST_HALF = chr(0xD800), chr(0xDFFF)

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False, allow_nan=False).encode


class Answer(NamedTuple):
    """A bot's choice, as text, and its note."""

    do: str
    note: str = ""


# ---- To the bot


def hello(
    *,
    game: str,
    revision: int,
    options: Mapping[str, Any],
    seats: int,
    seat: int,
    sides: Sequence[Sequence[int]],
    boards: int,
    limits: Limits,
    seed: int,
    pass_s: float | None = None,
    sealed: bool | None = None,
) -> bytes:
    """Build the first line: what will be played, how often, within which limits. The bot answers with `ready`.

    pass_s, sealed: None in logs that predate them.
    """
    message = {
        "type": "hello",
        "protocol": VERSION,
        "game": game,
        "revision": revision,
        "options": dict(options),
        "seats": seats,
        "seat": seat,
        "sides": [list(side) for side in sides],
        "boards": boards,
        "limits": limits.public() | ({} if pass_s is None else {"pass_s": pass_s}),
        "seed": seed,
    }
    if sealed is not None:
        message["sealed"] = sealed
    return _encode(message).encode() + b"\n"


def with_parameters(line: bytes, parameters: Mapping[str, float]) -> bytes:
    """Return a `hello` with the values of the parameters that its bot declares."""
    return line.removesuffix(b"}\n") + f',"parameters":{_encode(parameters)}}}\n'.encode()


def encode(value: Any) -> str:
    """Encode a value as compact ASCII JSON."""
    return _encode(value)


def act(number: int, events: Sequence[str], legal: str, bank: str) -> bytes:
    """Build a request to act. `events`, `legal` and `bank` arrive encoded, because most of them go to several bots or recur."""
    return f'{{"type":"act","id":{number},"events":[{",".join(events)}],"legal":[{legal}],"bank_s":{bank}}}\n'.encode()


def end(events: Sequence[str], scores: Sequence[int]) -> bytes:
    """Build the last line of a pass: the remaining events, and the scores of the pass per seat. No answer is expected."""
    return f'{{"type":"end","events":[{",".join(events)}],"result":{{"scores":{_encode(list(scores))}}}}}\n'.encode()


# ---- From the bot


def ready(line: bytes) -> str:
    """Return the name in the bot's answer to `hello`, cut to MAX_READY_NAME characters ('' without a name)."""
    message = _message(line, '{"type":"ready"}')
    if message.get("type") != "ready":
        raise _fault(line, '"type" must be "ready"', '{"type":"ready"}')
    name = message.get("name", "")
    if type(name) is not str:
        raise _fault(line, '"name" must be text', '{"type":"ready","name":"my bot"}')
    return name[:MAX_READY_NAME]


def answer(line: bytes, number: int) -> Answer:
    """Parse the answer to request `number`. Unknown keys are ignored, to leave room for later protocols."""
    expected = f'{{"id":{number},"do":"..."}}'
    message = _message(line, expected)
    answered_id = message.get("id")
    if type(answered_id) is not int:
        raise _fault(line, '"id" must be the whole number of the request', expected)
    if answered_id != number:
        raise _fault(
            line,
            f'"id" is {answered_id}, but the request to answer is {number} (write one answer to each request)',
            expected,
        )
    chosen = message.get("do")
    if type(chosen) is not str:
        raise _fault(line, '"do" must be text, one of the "legal" list', expected)
    note = message.get("note")
    if note is None:
        note = ""
    if type(note) is not str:
        raise _fault(line, '"note" must be text', expected)
    return Answer(chosen, note[:MAX_NOTE])


def _message(line: bytes, expected: str) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise _fault(line, f"a line may have {MAX_LINE} bytes", expected)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _fault(line, f"byte {error.start} is not UTF-8", expected) from None
    try:
        message = json.loads(
            text, object_pairs_hook=_pairs, parse_int=_whole, parse_float=_finite, parse_constant=_constant
        )
        _check(message)
    except json.JSONDecodeError as error:
        raise _fault(line, f"not JSON ({error.msg} at character {error.pos})", expected) from None
    except RecursionError:
        raise _fault(line, f"nested deeper than {MAX_DEPTH}", expected) from None
    except ValueError as error:
        raise _fault(line, str(error), expected) from None
    if type(message) is not dict:
        raise _fault(line, "a line must be one JSON object", expected)
    return message


def _fault(line: bytes, why: str, expected: str) -> Fault:
    return Fault("protocol", f"{why}; the bot wrote: {quoted(line)} ; expected: {expected}")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys: set[str] = set()
        twice = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {quoted(twice)!r} appears twice in one object")
    return table


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits; the limit is {MAX_DIGITS}")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _check(message: Any) -> None:
    """Check the depth, and refuse text that databases and other programs cannot store."""
    level = [message]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for value in level:
            if type(value) is str:
                _check_text(value)
            elif type(value) is list:
                below += value
            elif type(value) is dict:
                below += value.keys()
                below += value.values()
        if not below:
            return
        level = below
    raise ValueError(f"nested deeper than {MAX_DEPTH}")


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("text with a NUL character")
    if any(_FIRST_HALF <= c <= _LAST_HALF for c in text):
        raise ValueError("text with half of a surrogate pair")
