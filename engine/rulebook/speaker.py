"""The rules at one table, in the language of a rules page."""

from __future__ import annotations

from dataclasses import dataclass

from engine.rulebook.values import meant
from engine.rulebook.words import RANKS
from engine.rules.options import word
from engine.rules.parameters import Rules


@dataclass(frozen=True)
class Speaker:
    """The rules at one table and the language of the page: `say` chooses the language, `word` tells a parameter as a player would."""

    rules: Rules
    players: int
    lang: str

    def say(self, es: str, en: str) -> str:
        """The text in the language of the page."""
        return en if self.lang == "en" else es

    def word(self, name: str) -> str:
        """What the value of a parameter means, as a player would say it."""
        value = word(getattr(self.rules, name))
        return meant(name, value, self.lang) or str(value)

    def cap(self, name: str) -> str:
        """As `word`, with a capital first letter."""
        return capital(self.word(name))

    def ranks(self, letters: str) -> str:
        """The names of ranks, with commas."""
        return ", ".join(RANKS[self.lang].get(rank, rank) for rank in letters)


def capital(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]
