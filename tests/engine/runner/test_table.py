"""Tables at which a person sits: every game, put down again and again, and told no more than the seat may know."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
from collections.abc import Sequence
from typing import Any

import pytest

import engine
from engine.runner import BotSpec, MatchSpec
from engine.runner.table import NEXT, Advise, Question, TableResult, Taken, play_table
from engine.sandbox import Sandbox
from tests.support.parts import mostly_slow

SECRET = b"t" * 32


class Rest(Exception):
    """The person thinks for long."""


class Desk:
    """Keeps the journal, answers at random, and now and then has the table put down."""

    def __init__(self, rests: float, seed: int = 1) -> None:
        self.taken: list[Taken] = []
        self.asked: list[Question] = []
        self.wonders: Sequence[int] = ()  # The steps at which it asks for advice
        self.advised: list[tuple[Question, str | None]] = []
        self._rests, self._rng = rests, random.Random(seed)
        self.rested = 0

    def ask(self, question: Question, decisions: Sequence[Taken], advise: Advise) -> str:
        self.taken += decisions
        assert len(self.taken) == question.number
        self.asked.append(question)
        if len(self.asked) in self.wonders:
            self.advised.append((question, advise()))
        answer = self._rng.choice(question.legal)
        self.taken.append(Taken(0, answer))
        if self._rng.random() < self._rests:
            self.rested += 1
            raise Rest
        return answer


def spec(bot: BotSpec, game: str, boards: int) -> MatchSpec:
    return MatchSpec("t1", game, SECRET, "table-t1", range(1, boards + 1), (bot,))


def played(bot: BotSpec, box: Sandbox, game: str, desk: Desk, boards: int = 1, **more: Any) -> TableResult:
    seats = [0] * engine.load(game).players
    while True:
        try:
            result = play_table(
                spec(bot, game, boards),
                seats,
                [0],
                box,
                taken=list(desk.taken),
                ask=desk.ask,
                stop=lambda: False,
                **more,
            )
        except Rest:
            continue
        assert result is not None
        return result


def without_board(events: Sequence[dict]) -> list[dict]:
    return [{name: value for name, value in event.items() if name != "board"} for event in events]


SOME = ["codillo", "guinote", "partnership"]  # One of each kind


@pytest.mark.parametrize("game_names", mostly_slow([SOME, engine.games()], SOME.__eq__), ids=["some", "all"])
def test_a_game_is_played_through_and_taken_up_again_from_its_journal(
    game_names: list[str], box: Sandbox, honest: BotSpec
) -> None:
    rested = 0
    for game in game_names:
        desk = Desk(rests=0.1)
        result = played(honest, box, game, desk)
        rested += desk.rested
        (record,) = json.loads(json.dumps(result.records))
        engine.replay.verify(record)
        assert result.scores == [record["scores"]]
        assert record["seed"] == engine.board_seed(SECRET, game, "table-t1", 1).hex()
        redacted = engine.redact(record["events"], 0)
        for question in desk.asked:
            assert without_board(question.events) == redacted[: len(question.events)], game
            assert {text[5:] for text in question.legal if text.startswith("play ")} <= set(question.hand)
        assert without_board(result.views[0].events) == redacted
        journal = [*desk.taken, *result.decisions]
        assert [taken.action for taken in journal] == [action for action, has_choice in decisions(record) if has_choice]
    assert rested > len(game_names) / 2


def decisions(record: dict) -> list[tuple[str, bool]]:
    """Return the actions of a record, each with True if its seat was asked: it had a choice, or it is a card of the person."""
    state, actions = engine.replay.begin(record), []
    for text in record["actions"]:
        own_card = state.current_seat == 0 and text.startswith("play ")
        actions.append((text, own_card or len(state.legal_actions()) > 1))
        state.apply(state.game.parse_action(text))
    return actions


@pytest.mark.parametrize(("game", "delay"), [("partnership", 12), ("guinote", 3), ("brisca", 10**6)])
def test_spectators_see_all_hands_only_so_many_decisions_later(
    game: str, delay: int, box: Sandbox, honest: BotSpec
) -> None:
    desk = Desk(rests=0.1)
    result = played(honest, box, game, desk, delay=delay)
    (record,) = json.loads(json.dumps(result.records))
    state = engine.replay.begin(record)
    lengths = [len(state.events)]
    for text in record["actions"]:
        is_asked = len(state.legal_actions()) > 1 or (state.current_seat == 0 and text.startswith("play "))
        state.apply(state.game.parse_action(text))
        lengths += [len(state.events)] * is_asked
    hidden = [{name: value for name, value in event.items() if name != "rest"} for event in record["events"]]
    for question in desk.asked:
        length = lengths[question.number - delay] if question.number >= delay else 0
        assert question.spectated == hidden[:length]
    assert result.spectated == record["events"]


def test_a_forced_card_of_the_person_waits_for_the_person(box: Sandbox, honest: BotSpec) -> None:
    desk = Desk(rests=0.0)
    played(honest, box, "partnership", desk)
    forced = [question for question in desk.asked if len(question.legal) == 1]
    assert forced
    assert len(forced[-1].hand) == 1, "the last card, too"
    assert sum(question.legal[0].startswith("play ") for question in desk.asked) >= 10


def test_a_journal_without_forced_cards_is_taken_up(box: Sandbox, honest: BotSpec) -> None:
    desk = Desk(rests=0.0)
    result = played(honest, box, "partnership", desk)
    (record,) = result.records
    state, older = engine.replay.begin(record), []
    for text in record["actions"]:
        if len(state.legal_actions()) > 1:
            older.append(Taken(state.current_seat, text))
        state.apply(state.game.parse_action(text))
    later = Desk(rests=0.0)
    later.taken = older
    again = played(honest, box, "partnership", later)
    assert again.records[0]["actions"] == record["actions"]


@pytest.mark.parametrize("rests", [0.0, 0.2])
def test_boards_follow_one_another_when_the_person_has_seen_the_result(box, honest, rests: float) -> None:
    desk = Desk(rests)
    result = played(honest, box, "individual", desk, boards=3)
    assert [question_asked.board for question_asked in desk.asked if question_asked.legal == [NEXT]] == [1, 2]
    for question in desk.asked:
        assert question.scores == result.scores[: len(question.scores)]
        assert len(question.scores) == question.board - (question.legal != [NEXT])
    whole = Desk(0.0)
    whole.taken = [*desk.taken, *result.decisions]
    again = play_table(
        spec(honest, "individual", 3), [0, 0], [0], box, taken=whole.taken, ask=whole.ask, stop=lambda: False
    )
    assert again is not None
    assert (whole.asked, again.decisions) == ([], [])  # all of it stands in the journal
    assert [record["events"] for record in again.records] == [record["events"] for record in result.records]


def test_a_bot_that_fails_loses_the_board_and_ends_the_table(box, make) -> None:
    late = make("def hello(m): sys.exit(3)", name="late")
    result = played(late, box, "partnership", Desk(0.0), boards=2)
    assert result.fault is not None
    assert (result.fault.kind, result.fault.seat, len(result.records)) == ("crash", 1, 1)
    crashes = make("def act(m): sys.exit(3)", name="crashes")
    desk = Desk(0.0)
    result = played(crashes, box, "individual", desk, boards=2)
    assert result.fault is not None
    (record,) = result.records
    assert record["forfeit"] == {"seats": [1], "scores": result.scores[0]}
    assert result.views[0].events[-1]["e"] == "fault"
    assert result.scores[0][0] > result.scores[0][1]


def test_a_table_that_is_told_to_stop_leaves_no_process(box, honest) -> None:
    desk, stops = Desk(0.0), []

    def stop() -> bool:
        return bool(stops)

    def ask(question: Question, decisions_made: Sequence[Taken], advise: Advise) -> str:
        stops.append(1)
        return desk.ask(question, decisions_made, advise)

    assert play_table(spec(honest, "partnership", 1), [0] * 4, [0], box, taken=[], ask=ask, stop=stop) is None
    assert len(desk.asked) == 1


def test_the_advisor_is_told_what_the_seat_was_told_and_changes_nothing(box, honest, make) -> None:
    counts = """def act(m):
    choice = m["legal"][len(m["events"]) % len(m["legal"])]
    return json.dumps({"id": m["id"], "do": choice}) + "\\n"
"""
    advisors = {
        "counts": make(counts, name="counts"),
        "crashes": make("def act(m): sys.exit(3)", name="crashes"),
        "late": make("def hello(m): sys.exit(3)", name="late"),
    }
    records = played(honest, box, "partnership", Desk(0.0)).records
    for name, advisor in advisors.items():
        desk = Desk(0.0)
        desk.wonders = (1, 2, 4)
        table = MatchSpec("t1", "partnership", SECRET, "table-t1", range(1, 2), (honest, advisor))
        result = play_table(table, [1, 0, 0, 0], [0], box, taken=[], ask=desk.ask, stop=lambda: False)
        assert result is not None
        assert [record["events"] for record in result.records] == [record["events"] for record in records]
        assert len(desk.advised) == 3
        for question, advice in desk.advised:
            expected = question.legal[len(question.events) % len(question.legal)]
            assert advice == (expected if name == "counts" else None)


def test_an_advisor_that_the_machine_cannot_start_costs_no_table(box, honest, make) -> None:
    """No descriptor is left for it: that is our fault, and the person only gets no advice."""
    advisor = make("def act(m): return None", name="advisor")
    advice: list[str | None] = []
    desk = Desk(0.0)

    def ask(question: Question, decisions_made: Sequence[Taken], advise: Advise) -> str:
        if not advice:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            descriptors: list[int] = []
            # Whatever numbers other tests of this process have left free: all below the limit are taken
            top = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths
            resource.setrlimit(resource.RLIMIT_NOFILE, (top + 1, hard))
            try:
                with contextlib.suppress(OSError):
                    while True:
                        descriptors.append(os.open(os.devnull, os.O_RDONLY))
                advice.append(advise())
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for number in descriptors:
                    os.close(number)
        return desk.ask(question, decisions_made, advise)

    table = MatchSpec("t1", "partnership", SECRET, "table-t1", range(1, 2), (honest, advisor))
    result = play_table(table, [1, 0, 0, 0], [0], box, taken=[], ask=ask, stop=lambda: False)
    assert advice == [None]
    assert result is not None
    assert (result.fault, len(result.records)) == (None, 1)
