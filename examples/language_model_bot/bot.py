"""A remote bot that asks a language model for each decision, at any address with the chat completions of OpenAI's API.

    export MODEL_URL=http://127.0.0.1:11434/v1 MODEL_NAME=llama3.2      # and MODEL_KEY, if the server wants one
    tute remote examples/language_model_bot --as my-model

It plays its first choice if the model is silent, late, or names none of the choices.
"""

from __future__ import annotations

import json
import os
import re
import urllib.request

from tute_bot import Bot, View, run

URL = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
MODEL = os.environ.get("MODEL_NAME", "llama3.2")
RULES = (
    "You play a Spanish trick-taking card game. A card is a rank (1 3 R C S 7 6 5 4 2, strongest first) and a suit (o c e b). "
    "Trumps beat other suits. Points: 1 is 11, 3 is 10, R is 4, C is 3, S is 2. Answer with one of the choices and nothing else."
)


class ModelBot(Bot):
    """Plays what the model names."""

    name = "language-model"

    def act(self, view: View, legal: list[str]) -> str:
        """Return the choice that the model names first."""
        if len(legal) == 1:
            return legal[0]
        try:
            text = ask(describe(view, legal), min(8.0, view.limits["move_s"]))
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            self.note(f"no answer of the model: {error}")
            return legal[0]
        choice = named(text, legal)
        if choice is None:
            self.note(f"the model said {text[:80]!r}")
        return choice or legal[0]


def describe(view: View, legal: list[str]) -> str:
    """Return the position in words."""
    table = ", ".join(f"player {seat} played {card}" for seat, card in view.table) or "you lead"
    return (
        f"Game: {view.game}. You are player {view.seat} of {view.seats}. Trump suit: {view.trump}. Your hand: {' '.join(view.hand)}. "
        f"This trick: {table}. Cards played before: {' '.join(view.played) or 'none'}. Points so far: {view.taken}. "
        f"Choices: {'; '.join(legal)}"
    )


def named(text: str, legal: list[str]) -> str | None:
    """Return the choice that a text names first, or only the card of; None if it names none."""
    places = []
    for choice in legal:
        for words in (choice, choice.rpartition(" ")[2]):
            found_at = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text)
            if found_at:
                places.append((found_at.start(), -len(words), choice))
    return min(places)[2] if places else None


def ask(text: str, seconds: float) -> str:
    """Return the answer of the model. Raise OSError, ValueError, KeyError, IndexError, TypeError."""
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": text}]
    body = json.dumps({"model": MODEL, "messages": messages, "temperature": 0}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('MODEL_KEY', 'none')}"}
    request = urllib.request.Request(f"{URL}/chat/completions", body, headers)  # noqa: S310 - the author's own address
    with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
        return str(json.load(response)["choices"][0]["message"]["content"])


if __name__ == "__main__":
    run(ModelBot())
