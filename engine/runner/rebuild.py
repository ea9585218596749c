"""The lines that went to the bots of a pass, byte for byte, from the log of its sittings alone.

What a bot is told is a pure function of the log: the actions through the rules give the events and the choices, `pass` in each replay the rest of
`hello`, and `timings` what was left in the bank. The same `Feed`, `Texts` and protocol write the lines as when they were played.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import engine
from engine.replay import ReplayError
from engine.runner import protocol
from engine.runner.faults import fault_event
from engine.runner.feed import Feed, opening
from engine.runner.limits import Clock, Limits
from engine.runner.sitting import Texts
from engine.runner.timings import used_us


@dataclass(frozen=True)
class Exchange:
    """One line to one seat and the answer to it.

    step: number of actions of the sitting before it, -1 for hello; answer: what the log says that the bot did, None where
    the line asks for nothing (`end`), "" where the bot failed here; fault: the kind of that failure; sealed, of the hello: whether the bot
    played off from every clock of the host.
    """

    seat: int
    board: int
    step: int
    request: bytes
    answer: str | None
    fault: str = ""
    sealed: bool = False


def passes(replays: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The sittings of a log by match and pass, each pass in the order in which it was played. ValueError for a log that leaves a board out."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for number, replay in enumerate(replays, 1):
        try:
            found[(replay["meta"]["match"], replay["meta"]["sitting"])].append(replay)
            _ = replay["pass"]["boards"]
        except (KeyError, TypeError):
            raise ValueError(
                f"replay {number} of the log does not say in which pass it was played: it comes from an older version, or is a restricted view"
            ) from None
    for (_, sitting), group in found.items():
        there = {replay["meta"]["board"]: replay for replay in group}
        wanted = group[0]["pass"]["boards"]
        missing = [board for board in wanted if board not in there]
        # what comes after the last one that is there changes no earlier line; a gap would
        if missing and missing != wanted[len(wanted) - len(missing) :]:
            raise ValueError(
                f"the log lacks board {missing[0]} of pass {sitting}; bots play all boards of a pass in one conversation, so take the log of"
                " the whole match (tute play --log, or the log of the match on the site)"
            )
        group[:] = [there[board] for board in wanted if board in there]
    return [group for _, group in sorted(found.items(), key=lambda item: item[0])]


def exchanges(group: Sequence[dict[str, Any]]) -> Iterator[Exchange]:
    """What was sent in one pass, in order; `group` as `passes` gives it. ReplayError, ValueError for a log that does not hold."""
    first = group[0]
    state = engine.replay.begin(first)
    seats = state.seats
    game = state.game.origin
    limits = Limits(**first["pass"]["limits"])
    clocks = [Clock(limits) for _ in range(seats)]
    asked = [0] * seats
    feed = Feed(seats)
    texts = Texts(game)
    for seat in range(seats):
        failed = [fault for fault in first["faults"] if (fault["step"], fault["seat"]) == (-1, seat)]
        told, sealed = first["pass"], first["pass"].get("sealed")
        yield Exchange(
            seat,
            first["meta"]["board"],
            -1,
            hello(told, game, seat),
            "" if failed else "ready",
            _kind(failed),
            bool(sealed and sealed[seat]),
        )
    for replay in group:
        # Nobody was told anything of a board that was forfeited before it began.
        if replay["faults"] or "forfeit" not in replay:
            yield from _sitting(replay, feed, texts, clocks, asked)
    if len(group) < len(first["pass"]["boards"]):
        return
    faulty = {fault["seat"] for replay in group for fault in replay["faults"]}
    totals = _totals(group)
    for seat in range(seats):
        if seat not in faulty:
            step = len(group[-1]["actions"])
            yield Exchange(seat, group[-1]["meta"]["board"], step, protocol.end(feed.take(seat), totals), None)


def _totals(group: Sequence[dict[str, Any]]) -> list[int]:
    scores = [replay["forfeit"]["scores"] if "forfeit" in replay else replay["scores"] for replay in group]
    return [sum(column) for column in zip(*scores, strict=True)]


def hello(told: Mapping[str, Any], game: engine.Game, seat: int) -> bytes:
    """The first line to a seat of a pass, of which the log keeps `told`: boards, limits, the seeds of all seats, and which play sealed."""
    return protocol.hello(
        game=game.key,
        revision=game.revision,
        options=game.options,
        seats=game.players,
        seat=seat,
        sides=game.sides,
        boards=len(told["boards"]),
        limits=Limits(**told["limits"]),
        seed=told["seeds"][seat],
        pass_s=told.get("pass_s"),
        sealed=told["sealed"][seat] if "sealed" in told else None,
    )


def _sitting(
    replay: dict[str, Any], feed: Feed, texts: Texts, clocks: Sequence[Clock], asked: list[int]
) -> Iterator[Exchange]:
    state = engine.replay.begin(replay)
    board = replay["meta"]["board"]
    feed.begin(state.events, board, opening(state.events, board, state.seats))
    used = used_us(replay["timings"])
    faults = {fault["step"]: fault for fault in replay["faults"] if fault["step"] >= 0}

    def ask(step: int, legal: Sequence[int], answer: str, fault: str) -> Exchange:
        seat = state.current_seat
        asked[seat] += 1
        line = protocol.act(asked[seat], feed.take(seat), texts.legal(legal), clocks[seat].bank)
        if step in used:
            clocks[seat].book(used[step] / 1e6)
        return Exchange(seat, board, step, line, answer, fault)

    for step, text in enumerate(replay["actions"]):
        legal = state.legal_actions()
        if len(legal) > 1:
            yield ask(step, legal, text, "")
        try:
            state.apply(texts.number(text))
        except engine.EngineError as error:
            raise ReplayError(step + 1, f"action {text!r} cannot be taken: {error}") from None
    step = len(replay["actions"])
    if step in faults and not state.is_over:
        yield ask(step, state.legal_actions(), "", faults[step]["fault"])
    for fault in replay["faults"]:
        feed.announce(fault_event(fault["seat"], fault["fault"]))


def _kind(faults: Sequence[dict[str, Any]]) -> str:
    return faults[0]["fault"] if faults else ""
