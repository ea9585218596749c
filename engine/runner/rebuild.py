"""Rebuild the lines that the bots of a pass received, byte for byte, from the log of its sittings alone.

These lines follow from the log: the rules turn the actions into events and choices, `pass` in each replay has the rest of `hello`, and `timings`
gives the bank. The same `Feed`, `Texts` and protocol write the lines as during play.
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
    """One line to one seat, and the answer to it.

    step: the number of actions of the sitting before it, -1 for hello. answer: the bot's action in the log; None if the line needs no answer (`end`);
    an empty text if the bot failed here. fault: the kind of that failure. sealed: for hello, True if the bot played without access to the host's
    clocks.
    """

    seat: int
    board: int
    step: int
    request: bytes
    answer: str | None
    fault: str = ""
    sealed: bool = False


def passes(replays: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group the sittings of a log by match and pass, each pass in the order of play. Raise ValueError if the log leaves a board out."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for number, replay in enumerate(replays, 1):
        try:
            groups[(replay["meta"]["match"], replay["meta"]["sitting"])].append(replay)
            _ = replay["pass"]["boards"]
        except (KeyError, TypeError):
            raise ValueError(
                f"replay {number} of the log does not say in which pass it was played: it comes from an older version, or is a restricted view"
            ) from None
    for (_, sitting), group in groups.items():
        replays_by_board = {replay["meta"]["board"]: replay for replay in group}
        expected = group[0]["pass"]["boards"]
        missing = [board for board in expected if board not in replays_by_board]
        # Boards missing at the end change no earlier line, unlike a gap.
        if missing and missing != expected[len(expected) - len(missing) :]:
            raise ValueError(
                f"the log lacks board {missing[0]} of pass {sitting}; bots play all boards of a pass in one conversation, so use the log of"
                " the whole match (tute play --log, or the log of the match on the site)"
            )
        group[:] = [replays_by_board[board] for board in expected if board in replays_by_board]
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0])]


def exchanges(group: Sequence[dict[str, Any]]) -> Iterator[Exchange]:
    """Yield all exchanges of one pass, in order; `group` is one item of `passes`. Raise ReplayError, ValueError for an invalid log."""
    first = group[0]
    state = engine.replay.begin(first)
    seats = state.seats
    game = state.game.origin
    limits = Limits(**first["pass"]["limits"])
    clocks = [Clock(limits) for _ in range(seats)]
    requests = [0] * seats
    feed = Feed(seats)
    texts = Texts(game)
    for seat in range(seats):
        failed = [fault for fault in first["faults"] if (fault["step"], fault["seat"]) == (-1, seat)]
        pass_record, sealed = first["pass"], first["pass"].get("sealed")
        yield Exchange(
            seat,
            first["meta"]["board"],
            -1,
            hello(pass_record, game, seat),
            "" if failed else "ready",
            _kind(failed),
            bool(sealed and sealed[seat]),
        )
    for replay in group:
        # The bots received no line of a board that was forfeited before it began.
        if replay["faults"] or "forfeit" not in replay:
            yield from _sitting(replay, feed, texts, clocks, requests)
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


def hello(pass_record: Mapping[str, Any], game: engine.Game, seat: int) -> bytes:
    """Build the first line to a seat. `pass_record` is from the log: boards, limits, seeds of all seats, and which seats play sealed."""
    return protocol.hello(
        game=game.key,
        revision=game.revision,
        options=game.options,
        seats=game.players,
        seat=seat,
        sides=game.sides,
        boards=len(pass_record["boards"]),
        limits=Limits(**pass_record["limits"]),
        seed=pass_record["seeds"][seat],
        pass_s=pass_record.get("pass_s"),
        sealed=pass_record["sealed"][seat] if "sealed" in pass_record else None,
    )


def _sitting(
    replay: dict[str, Any], feed: Feed, texts: Texts, clocks: Sequence[Clock], requests: list[int]
) -> Iterator[Exchange]:
    state = engine.replay.begin(replay)
    board = replay["meta"]["board"]
    feed.begin(state, board, opening(state.events, board, state.seats))
    used = used_us(replay["timings"])
    faults = {fault["step"]: fault for fault in replay["faults"] if fault["step"] >= 0}

    def ask(step: int, legal: Sequence[int], answer: str, fault: str) -> Exchange:
        seat = state.current_seat
        requests[seat] += 1
        line = protocol.act(requests[seat], feed.take(seat), texts.legal(legal), clocks[seat].bank)
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
