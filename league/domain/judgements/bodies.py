"""The stored losses of an analysis: compressed JSON with a short list for each decision."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from engine.analysis import PHASES, Move
from engine.judging import DecisionVerdict
from league.domain.core.errors import Refused

MOST_BYTES = 64 << 20  # JSON of one match: several times what the longest match needs

Place = tuple[int, int]  # Board, and sitting from 0.


@dataclass
class Body:
    """The analysed decisions by sitting, and how they were computed.

    unit: of the losses; nodes: the most nodes searched for each action of each deal; program: the fingerprint of the judging one.
    """

    unit: str = ""
    nodes: int = 0
    compiled: bool = False
    sittings: dict[Place, list[DecisionVerdict]] = field(default_factory=dict)
    program: str = ""


def pack(body: Body) -> bytes:
    """Serialise an analysis for the database."""
    plain = {
        "unit": body.unit,
        "nodes": body.nodes,
        "compiled": body.compiled,
        "program": body.program,
        "sittings": {
            f"{board}.{number}": [_short(verdict) for verdict in rows]
            for (board, number), rows in body.sittings.items()
        },
        # Under a separate key, so that releases without lines can still read the lists above
        "lines": {
            f"{board}.{number}": {verdict.step: verdict.line for verdict in rows if verdict.line}
            for (board, number), rows in body.sittings.items()
        },
    }
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode(), 9)


def unpack(data: bytes) -> Body:
    """Read a stored analysis. Raise Refused if it is damaged, which is possible because workers write it."""
    if not data:
        return Body()
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, MOST_BYTES)
        if unpacker.unconsumed_tail:
            raise ValueError(f"more than {MOST_BYTES} bytes")
        plain = json.loads(text)
        sittings = {_place(name): [_long(row) for row in rows] for name, rows in plain["sittings"].items()}
        for name, lines in plain.get("lines", {}).items():
            for verdict in sittings[_place(name)]:
                moves = lines.get(str(verdict.step), ())
                verdict.line = tuple(Move(int(seat), str(action)) for seat, action in moves)
        program = str(plain.get("program", ""))
        return Body(str(plain["unit"]), int(plain["nodes"]), bool(plain["compiled"]), sittings, program)
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise Refused(
            "this analysis is damaged and cannot be shown; an operator can repeat it (manage.py repair --replays)"
        ) from error


def _place(name: str) -> Place:
    board, number = name.split(".")
    return int(board), int(number)


def _short(verdict: DecisionVerdict) -> list[Any]:
    place = [verdict.step, verdict.at, verdict.ply, verdict.deal, verdict.seat]
    columns = [*place, PHASES.index(verdict.phase), verdict.action, verdict.first]
    if verdict.lost is None:
        return columns
    return [
        *columns,
        *(_number(value) for value in (verdict.lost, verdict.par, verdict.worth, verdict.error)),
        *verdict.best,
    ]


def _number(value: float | None) -> float | int | None:
    """Round to three decimals, and to an int if that loses nothing."""
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 3)


def _long(row: list[Any]) -> DecisionVerdict:
    step, at, ply, deal, seat, phase, action, first = row[:8]
    camp = None if first is None else bool(first)
    columns = (int(step), int(at), int(ply), int(deal), int(seat), PHASES[int(phase)], str(action), camp)
    if len(row) == 8:
        return DecisionVerdict(*columns)
    lost, par, worth, error = map(float, row[8:12])
    return DecisionVerdict(*columns, lost=lost, best=tuple(map(str, row[12:])), par=par, worth=worth, error=error)
