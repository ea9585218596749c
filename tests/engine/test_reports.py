"""Reports of users of other engines and environments, tried here (docs/reports.md)."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.adapters import tensors
from engine.adapters.pettingzoo import TuteEnv, env
from engine.cards.chance import Dice
from engine.packages import archive
from engine.packages.manifest import PackageRefused
from engine.runner import protocol
from engine.runner.faults import Fault
from engine.sandbox.process.tail import Tail
from engine.search.knowledge import Knowledge
from tests.support.compose import TOP
from tests.support.playing import choose

SEED = 11
GREEDY = str(TOP / "bots" / "house" / "greedy")


def walk(table: TuteEnv, most: int = 10_000) -> Iterator[tuple[str, dict]]:
    """Play the first legal action until all agents are done; yield each observation."""
    for agent in table.agent_iter(most):
        view, _, finished, cut, _ = table.last()
        if finished or cut:
            table.step(None)
            continue
        yield agent, view
        table.step(int(np.flatnonzero(view["action_mask"])[0]))


def cards(table: TuteEnv) -> list[bytes]:
    return [table.observe(agent)["observation"].tobytes() for agent in table.possible_agents]


def test_after_one_seed_every_later_reset_is_the_same_again() -> None:
    tables = [env("brisca"), env("brisca")]
    dealt: list[list[list[bytes]]] = [[], []]
    for table, views in zip(tables, dealt, strict=True):
        table.reset(seed=SEED)
        views.append(cards(table))
        for _ in range(3):
            table.reset()
            views.append(cards(table))
    assert dealt[0] == dealt[1]
    assert len({tuple(hands) for hands in dealt[0]}) == 4, "each reset deals other cards"


def test_options_outlive_a_reset_with_a_seed() -> None:
    table = env("individual", players=3, deals=1, win_by=2)
    before = (table.game.options_all, table.deals)
    table.reset(seed=SEED)
    assert (table.game.options_all, table.deals, len(table.agents)) == (*before, 3)


def test_an_observation_stays_as_it_was() -> None:
    table = env("brisca", deals=1)
    table.reset(seed=SEED)
    views = [(view, {name: part.copy() for name, part in view.items()}) for _, view in walk(table)]
    assert len(views) > 20
    for view, copy in views:
        assert all((view[name] == copy[name]).all() for name in copy)
        view["observation"][:] = -1  # A caller may write into it
    table.reset(seed=SEED)
    assert next(walk(table))[1]["observation"].min() >= 0


def test_what_a_caller_writes_into_an_answer_of_the_engine_does_not_change_the_match() -> None:
    state, other = (engine.load("partnership").new_match(seed="alias", deals=1) for _ in range(2))
    while not state.is_over:
        view, legal = state.observation(state.current_seat), state.legal_actions()
        for part in view.values():
            if isinstance(part, list):
                part.clear()
        assert isinstance(legal, tuple), "nobody can shorten it"
        assert state.legal_actions() == other.legal_actions()
        state.apply(legal[0])
        other.apply(legal[0])
    assert state.scores() == other.scores()


@pytest.mark.parametrize("key", engine.games())
def test_every_agent_learns_of_the_end_and_has_an_action_until_then(key: str) -> None:
    table = env(key, deals=1)
    table.reset(seed=SEED)
    for agent, view in walk(table):
        mask = view["action_mask"]
        assert mask.dtype == np.int8
        assert mask.shape == (table.action_space(agent).n,)
        assert mask.any(), "an agent to move has an action"
    assert table.agents == []
    assert table.state_of_match.is_over


@pytest.mark.parametrize("key", engine.games())
def test_no_phase_shows_what_a_seat_may_not_know(key: str) -> None:
    """Two deals that agree with all that the seat to move knows give it the same vector and snapshot, in every phase."""
    state = engine.load(key).new_match(seed=f"phase {key}", deals=2)
    knowledge = [Knowledge(state.game, seat, deals=2) for seat in range(state.game.players)]
    reported, step, compared, rng = [0] * state.game.players, 0, 0, random.Random(key)
    while not state.is_over and step < 400:
        seat, legal, step = state.current_seat, state.legal_actions(), step + 1
        if len(legal) > 1:
            knowledge[seat].follow(engine.redact(state.events[reported[seat] :], seat))
            reported[seat] = len(state.events)
            knowledge[seat].asked([state.game.action_text(action) for action in legal])
            dealt = knowledge[seat].deals()
            first, other = (knowledge[seat].state(dealt.deal(Dice(2 * step + number))) for number in (0, 1))
            assert (tensors.observation(first, seat) == tensors.observation(other, seat)).all(), step
            assert first.observation(seat) == other.observation(seat), step
            compared += 1
        state.apply(choose(state, rng))
    assert compared > 5


# ---- Bots and packages


def packed(**change: object) -> bytearray:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("bot.toml", 'name = "Rufo"\nruntime = "python"\nentry = "bot.py"\n')
        file.writestr("bot.py", "pass\n")
        for name, text in change.items():
            file.writestr(name, str(text))
    return bytearray(data.getvalue())


def test_a_zip_whose_two_lists_of_names_differ_is_refused() -> None:
    data = packed(evil="1")
    assert set(archive.read(bytes(data), "bot.zip").files) == {"bot.toml", "bot.py", "evil"}
    place = data.index(b"evil")  # In the header of the file; the directory at the end says something else
    data[place : place + 4] = b"../x"
    with pytest.raises(PackageRefused, match="damaged"):
        archive.read(bytes(data), "bot.zip")


def test_a_link_in_a_zip_is_refused() -> None:
    data = io.BytesIO(packed())
    with zipfile.ZipFile(data, "a") as file:
        link = zipfile.ZipInfo("data")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(PackageRefused, match="is a link"):
        archive.read(data.getvalue(), "bot.zip")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"id":1,"do":"\xff"}\n', "is not UTF-8"),
        (b'{"id":1,"do":' + b"[" * 30_000 + b"\n", "nested deeper"),
        (b'{"id":' + b"9" * 5000 + b"}\n", "a whole number of 5000 digits"),
        (b'{"id":1,"do":"\\ud800"}\n', "half of a surrogate pair"),
        (b'{"id":1,"do":"a\\u0000"}\n', "NUL"),
        (b'{"id":1,"do":"a"}\0\n', "not JSON"),
        (b"Thread 0 started\n", "not JSON"),
        (b'{"id":1,"do":"\x1b]0;owned\x07"}\n', "not JSON"),
    ],
)
def test_odd_bytes_of_a_bot_are_its_fault_and_plain_in_the_report(line: bytes, why: str) -> None:
    with pytest.raises(Fault) as caught:
        protocol.answer(line, 1)
    assert why in caught.value.detail
    assert caught.value.detail.isprintable(), "no escape sequence reaches the terminal of whoever reads it"


@pytest.mark.parametrize("size", range(80, 92))
def test_a_log_that_is_cut_has_no_half_letters(size: int) -> None:
    tail = Tail(size)
    for letter in "año, 10 € y 🂡 en la baza\n" * 40:
        tail.feed(letter.encode())
    text = tail.value().decode(errors="replace")
    assert "[...]" in text
    assert "\N{REPLACEMENT CHARACTER}" not in text
    assert len(tail.value()) <= size
    raw = Tail(40)
    raw.feed(bytes(range(0x80, 0xC0)) * 4)
    assert len(raw.value()) == 40, "bytes that are no letters stay"


def tute(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "engine.cli", *words]
    return subprocess.run(command, cwd=cwd, env=None, capture_output=True, text=True, timeout=120)


PRINTS = """\
import random
from tute_bot import Bot, run


class Mine(Bot):
    def act(self, view, legal):
        self.note(random.random())
        return legal[0]


run(Mine())
"""


def test_two_programs_started_from_one_process_draw_other_numbers(tmp_path: Path) -> None:
    (tmp_path / "first one.py").write_text(PRINTS, encoding="utf-8")
    (tmp_path / "first one2.py").write_text(PRINTS + "# other\n", encoding="utf-8")
    result = tute("play", "first one.py", "first one2.py", "-n", "2", "--log", "log.jsonl", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    notes = [
        note["note"]
        for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
        for note in json.loads(line)["notes"]
    ]
    assert len(notes) > 20
    assert len(set(notes)) == len(notes)


def test_a_path_with_a_space_starts_that_bot_and_no_other(tmp_path: Path) -> None:
    for folder, last in (("my", "legal[-1]"), ("my bot", "legal[0]")):
        (tmp_path / folder).mkdir()
        text = PRINTS.replace("legal[0]", last).replace("random.random()", repr(folder))
        (tmp_path / folder / "bot.py").write_text(text, encoding="utf-8")
    result = tute("play", "my bot/bot.py", "random", "-n", "2", "--log", "log.jsonl", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    text = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    assert '"my bot"' in text
    assert '"my"' not in text


def test_a_bot_that_plays_itself_has_two_places_and_its_results_are_its_own(tmp_path: Path) -> None:
    result = tute("play", GREEDY, GREEDY, "-n", "4", "--seed", "twins", "--json", cwd=tmp_path)
    report = json.loads(result.stdout)
    first, other = report["parties"]
    assert (first["won"], first["lost"]) == (other["lost"], other["won"])
    assert first["name"] != other["name"]


def test_a_foreign_replay_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    tute("play", "random", "random", "-n", "1", "--log", "log.jsonl", cwd=tmp_path)
    log = tmp_path / "log.jsonl"
    replay = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    replay["meta"]["parties"] = ["a\x1b]0;owned\x07", "b\u202etxt.exe"]
    log.write_text(json.dumps(replay) + "\n", encoding="utf-8")
    result = tute("replay", "log.jsonl", cwd=tmp_path)
    assert "\x1b" not in result.stdout + result.stderr
    assert "\u202e" not in result.stdout + result.stderr
