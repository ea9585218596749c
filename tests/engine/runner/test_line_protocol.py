"""The line protocol: the position that a bot reads is what the engine says it may know, its answers are read strictly, and the page is true.

After a wanted change of the lines, UPDATE_PAGES=1 writes the new ones into the page and `line_protocol.txt`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.packages.manifest import PackageRefused
from engine.runner import BotSpec, Limits, load_package, protocol
from engine.runner.faults import Fault
from engine.runner.feed import Feed, opening
from engine.runner.line_protocol import LineTranslator
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.support import languages, playing
from tests.support.bots import match
from tests.support.mixtures import mixtures

PAGE = Path(__file__).resolve().parents[3] / "docs" / "line-protocol.md"
LIST = "## Decisions of four games\n\n"
SHOWN = ("bato", "partnership", "podrida", "two_player")  # Calls, a deal without a stock, predictions, a stock.
LINES = Path(__file__).with_name("line_protocol.txt")  # A decision of each game.
MOST = 3000  # Actions of a board.


def fields(line: bytes) -> dict[str, str]:
    """Fields of a request by name."""
    return {
        name: value for name, _, value in (field.partition(" ") for field in line.decode().rstrip("\n").split("; "))
    }


def hello(game: engine.Game, seat: int) -> bytes:
    return protocol.hello(
        game=game.key,
        revision=game.revision,
        options=game.options,
        seats=game.players,
        seat=seat,
        sides=game.sides,
        boards=2,
        limits=Limits(),
        seed=7 + seat,
    )


class Board:
    """A board whose seats all speak the line protocol and play at random."""

    def __init__(self, game: engine.Game, seed: object, deals: int | None = None) -> None:
        self.state = game.new_match(seed=f"match {seed}", deals=deals)
        self.translators = [LineTranslator() for _ in range(game.players)]
        self.hellos = [translator.request(hello(game, seat)) for seat, translator in enumerate(self.translators)]
        self._rng = random.Random(str(seed))
        self._feed = Feed(game.players)
        self._feed.begin(self.state, 1, opening(self.state.events, 1, game.players))

    def requests(self) -> Iterator[tuple[int, bytes]]:
        """Play to the end. Yield the seat and the request of each decision before it is taken."""
        state = self.state
        numbers = [0] * len(self.translators)
        for _ in range(MOST):
            if state.is_over:
                return
            legal, seat = state.legal_actions(), state.current_seat
            if len(legal) > 1:
                numbers[seat] += 1
                texts = ",".join(json.dumps(state.game.action_text(action)) for action in legal)
                request = protocol.act(numbers[seat], self._feed.take(seat), texts, "3.000")
                yield seat, self.translators[seat].request(request)
            state.apply(playing.choose(state, self._rng))


def check(game: engine.Game, seed: object, deals: int | None) -> None:
    board = Board(game, seed, deals)
    for seat, line in board.requests():
        position, snapshot = fields(line), board.state.observation(seat)
        assert sorted(position["hand"].split()) == sorted(snapshot["hand"])
        for name in ("deal", "dealer", "mano", "stock"):
            assert position[name] == str(snapshot[name]), name
        assert position["totals"] == " ".join(map(str, snapshot["totals"]))
        if not position["calls"]:
            assert position["out"] == " ".join(map(str, snapshot["out"]))
        assert position["trump"] == (snapshot["trump"] or "-")
        trick = (
            snapshot["trick"] if len(snapshot["trick"]) < board.state.size else []
        )  # A whole one shows in its window, too.
        assert position["trick"].split() == [f"{play['seat']}:{play['card']}" for play in trick]
        assert position["points"] == " ".join(
            map(str, map(sum, zip(snapshot["cards"], snapshot["songs"], strict=True)))
        )
        assert sorted(position["played"].split()) == sorted(snapshot["played"])
        if snapshot["holder"] is None and snapshot["shown"] is not None:
            assert position["shown"] == snapshot["shown"]
        assert position["legal"].split(", ") == snapshot["legal"]


@pytest.mark.parametrize("key", engine.games())
def test_a_bot_reads_what_its_seat_may_know(key: str) -> None:
    check(engine.load(key), key, 2)


@pytest.mark.slow
@given(mixtures(), st.integers(0, 10**6))
def test_with_any_options(game: engine.Game, seed: int) -> None:
    check(game, seed, None)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"play 1o\n", protocol.Answer("play 1o")),
        (b"  discard 4o 2c \r\n", protocol.Answer("discard 4o 2c")),
        (b"play 1o # the last # trump\n", protocol.Answer("play 1o", "the last # trump")),
        ("play 1o # últim\n".encode(), protocol.Answer("play 1o", "últim")),
        (b"play 1o # \n", protocol.Answer("play 1o")),  # As of a bot that always writes the sign, with an empty note.
        (b"play 1o #\n", protocol.Answer("play 1o")),
        (b"play 1o # " + "é".encode() * 20_000, protocol.Answer("play 1o", "é" * protocol.MAX_NOTE)),
        (b'{"id":3,"do":"play 1o"}\n', protocol.Answer('{"id":3,"do":"play 1o"}')),  # Refused: it is not legal.
    ],
)
def test_answers(line: bytes, answer: protocol.Answer) -> None:
    assert protocol.answer(LineTranslator().answer(line, 3), 3) == answer


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\n", "an empty line is no answer"),
        (b"play \xff\n", "byte 5 is not UTF-8"),
        (b"play 1o" + b" " * protocol.MAX_LINE, "a line may have 65536 bytes"),
        (b"play 1o # \0\n", "NUL"),
    ],
)
def test_bad_answers(line: bytes, why: str) -> None:
    with pytest.raises(Fault, match=why):
        protocol.answer(LineTranslator().answer(line, 3), 3)


@pytest.mark.parametrize(("line", "name"), [(b"ready\n", ""), (b"ready my bot\n", "my bot")])
def test_ready(line: bytes, name: str) -> None:
    assert protocol.ready(LineTranslator().ready(line)) == name


def test_ready_is_expected_first() -> None:
    with pytest.raises(Fault, match="the first answer must be ready"):
        LineTranslator().ready(b"play 1o\n")


def block(language: str) -> str:
    match_of_page = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match_of_page
    return match_of_page[1]


def test_the_shell_bot_of_the_page_plays_every_game(tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text(block("sh"), encoding="utf-8")
    lines, games_played = [], []
    for key in engine.games():
        board = Board(engine.load(key), key, 1)
        lines += [board.hellos[0], *(line for seat, line in board.requests() if seat == 0)]
        games_played.append(key)
    answers = subprocess.run(
        ["sh", str(tmp_path / "bot.sh")], input=b"".join(lines), capture_output=True, check=True, timeout=60
    ).stdout.splitlines()

    assert len(answers) == len(lines)
    for line, answer in zip(lines, answers, strict=True):
        expected = fields(line).get("legal", "ready").split(", ")[0]
        assert answer.decode() == expected


def package(folder: Path, **lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    keys = {"name": '"lines"', "runtime": '"binary"', "entry": '"bot"', "protocol": '"line"'} | lines
    (folder / "bot.toml").write_text("".join(f"{key} = {value}\n" for key, value in keys.items()), encoding="utf-8")
    return folder


def test_the_c_bot_of_the_page_plays_in_the_sandbox(
    tmp_path: Path, state_dir: Path, box: Sandbox, honest: BotSpec
) -> None:
    source = tmp_path / "bot.c"
    source.write_text(block("c"), encoding="utf-8")
    folder = package(tmp_path / "lines")
    shutil.copy(languages.build("cc", "-O2", "-static", source=source), folder / "bot")
    bot = load_package(folder, state_dir / "packages")
    lines: list[tuple[bytes, bytes]] = []

    def tap(number: int, seat: int, request: bytes, answer: bytes) -> None:
        if (number, seat) == (0, 0):
            lines.append((request, answer))

    result = play_match(match(bot, honest, boards=2, limits=Limits()), box, tap=tap)

    assert [party.faults for party in result.parties] == [[], []]
    assert lines[0][1] == b"ready"
    assert lines[-1][0].startswith(b"end; scores ")
    assert all(answer.decode() == fields(request)["legal"].split(", ")[0] for request, answer in lines[1:-1])


def test_an_unknown_protocol_is_refused(tmp_path: Path, state_dir: Path) -> None:
    folder = package(tmp_path / "lines", protocol='"uci"')
    (folder / "bot").write_bytes(b"")

    with pytest.raises(PackageRefused, match="unknown protocol 'uci'; write one of json, line"):
        load_package(folder, state_dir / "packages")


def test_a_decision_of_each_game_reads_as_before_and_the_page_shows_four() -> None:
    sections = {}
    for key in engine.games():
        board = Board(engine.load(key), key, 1)
        lines = [line.decode() for _seat, line in board.requests()]
        line = lines[len(lines) // 2]
        answer = fields(line.encode())["legal"].split(", ")[0]
        sections[key] = f"### {key}\n\n```\n> {line}< {answer}\n```\n"
    first = Board(engine.load("partnership"), 1, 1).hellos[0].decode()
    assert f"> {first}< ready\n" in PAGE.read_text(encoding="utf-8")
    expected = PAGE.read_text(encoding="utf-8").partition(LIST)[0] + LIST + "\n".join(sections[key] for key in SHOWN)
    for path, text in ((PAGE, expected), (LINES, "\n".join(sections.values()))):
        if os.environ.get("UPDATE_PAGES"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text


def test_the_page_names_every_field() -> None:
    board = Board(engine.load("partnership"), 1, 1)
    _, line = next(board.requests())
    page = PAGE.read_text(encoding="utf-8")
    tables = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    names = {name for cell in tables for name in re.findall(r"`(\w+)`", cell)}

    declared = LineTranslator().request(protocol.with_parameters(hello(board.state.game, 0), {"eager": 1.5}))
    assert names == {*fields(declared), *fields(line)}
