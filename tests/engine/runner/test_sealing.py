"""Sealed play: which bots get it, what the record says of it, and that it changes no answer of an honest bot."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from engine.packages.manifest import PackageRefused, parse
from engine.runner import BotSpec, Infrastructure, MatchResult, MatchSpec, load_package, runtimes, sealing
from engine.runner.match import play_match
from engine.runner.rebuild import exchanges, passes
from engine.runner.rerun import rerun
from engine.runner.spec import ALWAYS, NEVER, POSSIBLE
from engine.sandbox import Sandbox, SandboxError, check
from tests.engine.runner.conftest import Maker
from tests.support.bots import SHORT, match
from tests.support.parts import mostly_slow

HOUSE = ("random", "greedy", "counting")
DATED = """
import json, sys, time
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        told = m["sealed"]
        print('{"type":"ready"}', flush=True)
    elif m["type"] == "act":
        note = json.dumps([told, time.strftime("%Y-%m-%d") == "2026-01-01"])
        print(json.dumps({"id": m["id"], "do": m["legal"][0], "note": note}), flush=True)
"""


def test_why_nobody_plays_sealed_is_told(box: Sandbox, honest: BotSpec) -> None:
    def why(sealing_word: str) -> str | None:
        return sealing.why_unsealed(dataclasses.replace(match(honest, honest), sealing=sealing_word), box)

    assert why(NEVER) == "not requested"
    assert why(POSSIBLE) == box.report.unsealed


def dates(result: MatchResult) -> set[tuple[int, ...]]:
    """Return each party, and whether its messages say that it is sealed and it saw the day that every sealed bot sees."""
    return {
        (sitting.seating[note["seat"]], *json.loads(note["note"]))
        for board in result.boards
        for sitting in board.sittings
        for note in sitting.replay["notes"]
    }


def test_what_plays_sealed_sees_no_clock_and_the_record_says_who_did(box: Sandbox, make: Maker) -> None:
    sealed = make(name="sealed", source=DATED)
    open_bot = dataclasses.replace(make(name="open", source=DATED), sealable=False)
    by_bot = {}

    for word, game in (
        (NEVER, "partnership"),
        (POSSIBLE, "partnership"),
        (POSSIBLE, "corriente"),
        (ALWAYS, "corriente"),
    ):
        result = play_match(match(sealed, open_bot, game=game, boards=1, sealing=word), box)
        assert [party.fault for party in result.parties] == [None, None], result.parties
        inside = result.boards[0].sittings[0].replay["pass"]["sealed"]
        by_bot[word, game] = dates(result), [party.sealed for party in result.parties], result.host["sealed"], inside

    nobody = {(0, False, False), (1, False, False)}, [False, False], "nobody"
    expected = {(0, True, True), (1, False, False)}, [True, False], "party 0"
    assert by_bot == {
        (NEVER, "partnership"): (*nobody, [False] * 4),
        (POSSIBLE, "partnership"): (*expected, [True, False, True, False]),
        (POSSIBLE, "corriente"): (*expected, [True, False]),
        (ALWAYS, "corriente"): (*expected, [True, False]),
    }


@pytest.mark.parametrize("name", mostly_slow(HOUSE, "greedy".__eq__))
def test_the_bots_of_the_house_answer_byte_for_byte_the_same(name: str, box: Sandbox, state_dir: Path) -> None:
    bots = [load_package(Path(f"bots/house/{each}"), state_dir / "packages") for each in (name, "greedy")]
    conversations = []

    for word in (NEVER, POSSIBLE):
        lines, result = spoken(
            match(*bots, boards=1, sealing=word, limits=dataclasses.replace(SHORT, bank_s=30.0)), box
        )
        assert [party.sealed for party in result.parties] == [word == POSSIBLE] * 2
        assert [party.fault for party in result.parties] == [None, None]
        conversations.append(lines)

    assert conversations[0] == conversations[1]
    assert len(conversations[0]) > 50


def spoken(spec: MatchSpec, box: Sandbox) -> tuple[list[tuple[int, int, object, bytes]], MatchResult]:
    """Play a match; return all its lines: pass, seat, request without time left and seal, answer as it was written."""
    lines = []

    def hear(number: int, seat: int, request: bytes, answer: bytes) -> None:
        lines.append((number, seat, {**json.loads(request), "bank_s": None, "sealed": None}, answer))

    return lines, play_match(spec, box, tap=hear)


def test_a_conversation_is_put_again_as_sealed_as_it_was(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    bot = make(
        "def act(m): return json.dumps({'id': m['id'], 'do': m['legal'][int(time.time()) < 1767225700 and -1]}) + '\\n'"
    )
    result = play_match(match(bot, honest, boards=1, sealing=POSSIBLE), box)
    (group, *_) = passes(json.loads(json.dumps(sitting.replay)) for sitting in result.boards[0].sittings)
    own_exchanges = [exchange for exchange in exchanges(group) if exchange.seat == 0]

    again = rerun(bot, box, own_exchanges, SHORT, party=0, sitting=0)
    unsealed = [dataclasses.replace(exchange, sealed=False) for exchange in own_exchanges]
    in_the_open = rerun(bot, box, unsealed, SHORT, party=0, sitting=0)

    assert again is not None
    assert in_the_open is not None
    assert [reply.differs for reply in again.replies] == [False] * len(again.replies)
    assert any(reply.differs for reply in in_the_open.replies)
    with pytest.raises(SandboxError, match=r"compiled for Python 3\.2"):
        rerun(dataclasses.replace(bot, series="3.2"), box, own_exchanges, SHORT, party=0, sitting=0)


def test_a_match_that_must_be_sealed_is_ours_to_break_off_where_this_machine_cannot(
    state_dir: Path, honest: BotSpec
) -> None:
    nothing = Sandbox("none", state_dir)

    result = play_match(match(honest, honest, boards=1, sealing=POSSIBLE), nothing)
    with pytest.raises(
        Infrastructure, match="requires sealed bots, which this machine cannot provide: it confines nothing"
    ):
        play_match(match(honest, honest, boards=1, sealing=ALWAYS), nothing)

    assert [party.sealed for party in result.parties] == [False, False]


def test_a_package_may_say_that_it_cannot_be_sealed() -> None:
    text = 'name = "x"\nruntime = "python"\nentry = "bot.py"\n'

    package = parse(f"{text}sealable = false\n".encode(), ["bot.py"], [])
    silent = parse(text.encode(), ["bot.py"], [])

    assert (package.sealable, silent.sealable) == (False, True)
    assert package.toml() == silent.toml() + "sealable = false\n"
    assert parse(package.toml().encode(), ["bot.py"], []) == package
    with pytest.raises(PackageRefused, match="sealable must be true or false, not '1'"):
        parse(f"{text}sealable = 1\n".encode(), ["bot.py"], [])


def test_a_bot_that_this_tier_cannot_seal_plays_unsealed_or_elsewhere(
    state_dir: Path, honest: BotSpec, tmp_path: Path
) -> None:
    (tmp_path / "player").write_bytes(b"\x7fELF \xff Go buildinf:")
    player = BotSpec("gopher", tmp_path, "binary", "player")
    kinds = {name: runtimes.get(name, state_dir) for name in ("binary", "python")}

    for tier in (report.name for report in check(state_dir) if report.isolates and not report.unsealed):
        box = Sandbox(tier, state_dir)
        spec = dataclasses.replace(match(player, honest), sealing=POSSIBLE)
        assert sealing.sealed_parties(spec, box, kinds) == (tier == "namespaces", True)
        if tier != "namespaces":
            with pytest.raises(
                Infrastructure, match=r"requires sealed bots, .* player was made by Go, which needs threads"
            ):
                sealing.sealed_parties(dataclasses.replace(spec, sealing=ALWAYS), box, kinds)
