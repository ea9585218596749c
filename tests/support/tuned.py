"""A bot whose best parameter is known: it blunders the more often, the farther `care` is from 7."""

from __future__ import annotations

TOML = """\
name = "tuned"
runtime = "python"
entry = "bot.py"
games = ["a_dos"]
[parameters]
care = { start = 1.0, least = 0.0, most = 10.0, step = 1.0 }
"""
BOT = """\
from tute_bot import Bot, run


class Tuned(Bot):
    def act(self, view, legal):
        worth = {
            text: view.value(text[5:]) * (1 if view.would_win(text[5:]) else -1) if text.startswith("play ") else -99
            for text in legal
        }
        blunders = self.random.random() * 7 < abs(view.parameters["care"] - 7)
        return (min if blunders else max)(legal, key=worth.__getitem__)


run(Tuned())
"""
