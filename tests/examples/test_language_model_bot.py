"""The example that asks a language model, against a server that this test runs: it plays what the model names, and else its first choice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.runner import protocol
from engine.runner.feed import Feed, opening
from engine.runner.limits import Limits

ROOT = Path(__file__).parents[2]
BOT = ROOT / "examples/language_model_bot/bot.py"


@pytest.fixture
def model() -> Iterator[tuple[str, list[dict[str, Any]], list[Callable[[str], tuple[int, bytes]]]]]:
    """The address of a server with chat completions, the requests to it, and how it answers the question of the last message."""
    requests: list[dict[str, Any]] = []
    answers: list[Callable[[str], tuple[int, bytes]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body | {"path": self.path, "key": self.headers["Authorization"]})
            status, content = answers[-1](body["messages"][-1]["content"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", requests, answers
    server.shutdown()
    server.server_close()


def says(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def choices(question: str) -> list[str]:
    return question.rpartition("Choices: ")[2].split("; ")


def test_it_plays_what_the_model_names(model) -> None:
    url, requests, answers = model
    game = engine.load("brisca")
    state = game.new_match(seed=bytes(32), deals=1)
    feed = Feed(2)
    feed.begin(state, 1, opening(state.events, 1, 2))
    hello = protocol.hello(
        game="brisca",
        revision=game.revision,
        options={},
        seats=2,
        seat=state.turn,
        sides=game.sides,
        boards=1,
        limits=Limits(),
        seed=1,
    )
    legal = [game.action_text(action) for action in state.legal_actions()]
    act = protocol.act(1, feed.take(state.turn), ",".join(map(protocol.encode, legal)), "1.000")
    environment = os.environ | {
        "MODEL_URL": url,
        "MODEL_NAME": "stub",
        "MODEL_KEY": "k",
        "PYTHONPATH": str(ROOT / "bots/sdk"),
    }
    bot = subprocess.Popen([sys.executable, BOT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert bot.stdin
    assert bot.stdout
    cases: list[tuple[Callable[[str], tuple[int, bytes]], str, bool]] = [
        (lambda question: (200, says(choices(question)[-1])), legal[-1], False),
        (
            lambda question: (200, says(f"I would lead {legal[1].split()[-1]}, not {legal[2].split()[-1]}.")),
            legal[1],
            False,
        ),
        (lambda question: (200, says("I resign.")), legal[0], True),
        (lambda question: (500, b"overloaded"), legal[0], True),
        (lambda question: (200, b"<html>"), legal[0], True),
        (lambda question: (200, b'{"choices": []}'), legal[0], True),
    ]
    bot.stdin.write(hello)
    bot.stdin.flush()
    assert json.loads(bot.stdout.readline())["type"] == "ready"
    for number, (answer, expected, has_note) in enumerate(cases, 1):
        answers.append(answer)
        bot.stdin.write(
            act if number == 1 else protocol.act(number, [], ",".join(map(protocol.encode, legal)), "1.000")
        )
        bot.stdin.flush()
        reply = json.loads(bot.stdout.readline())
        assert (reply["id"], reply["do"], "note" in reply) == (number, expected, has_note)
    bot.stdin.close()
    assert bot.wait(20) == 0
    bot.stdout.close()
    assert {(request["path"], request["model"], request["key"]) for request in requests} == {
        ("/v1/chat/completions", "stub", "Bearer k")
    }
    hand = [game.pack.texts[card] for card in state.hand_of(state.turn)]
    hidden = set(game.pack.texts) - set(hand)
    assert all(card in requests[0]["messages"][-1]["content"] for card in hand)
    assert not any(f" {card}" in requests[0]["messages"][-1]["content"] for card in hidden), (
        "the model learns no hidden card"
    )
