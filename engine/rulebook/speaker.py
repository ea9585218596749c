"""The rules at one table, in the language of a rules page."""

from __future__ import annotations

from dataclasses import dataclass

from engine.rulebook.values import meant
from engine.rulebook.words import RANKS
from engine.rules.options import word
from engine.rules.parameters import Rules


@dataclass(frozen=True)
class Speaker:
    """The rules at one table and the language of the page: `say` chooses the language, `word` names a parameter's value."""

    rules: Rules
    players: int
    lang: str

    def say(self, es: str, en: str) -> str:
        """Return the text in the language of the page."""
        return en if self.lang == "en" else es

    def word(self, name: str) -> str:
        """Return what the value of a parameter means to a player."""
        value = word(getattr(self.rules, name))
        return meant(name, value, self.lang) or str(value)

    def cap(self, name: str) -> str:
        """Return `word` with a capital first letter."""
        return capital(self.word(name))

    def ranks(self, letters: str) -> str:
        """Return the names of ranks, with commas."""
        return ", ".join(RANKS[self.lang].get(rank, rank) for rank in letters)


def capital(text: str) -> str:
    """Return the text with a capital first letter, otherwise unchanged."""
    return text[:1].upper() + text[1:]
