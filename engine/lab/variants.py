"""Variants: a game, its number of players and its options, in a TOML file with the fields of FIELDS."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import OptionError, meant
from engine.game import declared, load

if TYPE_CHECKING:
    from engine.game import Game

FIELDS = ("game", "players", "options")
LARGEST = 64 * 1024  # Bytes of a file of options.


@dataclass(frozen=True)
class Variant:
    """A game at one table. players: None for the game's usual number."""

    game: str
    players: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def parent(self) -> Variant:
        """The game by its usual rules and with its usual number of players."""
        return Variant(self.game)

    def load(self) -> Game:
        """Load the game. Raise OptionError."""
        return load(self.game, **({} if self.players is None else {"players": self.players}), **self.options)


def read(path: Path) -> Variant:
    """Read a file of options. Raise OptionError, which names the file, the line, and what is allowed; OSError."""
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OptionError(f"{path}: a file of options has at most {LARGEST // 1024} KiB")
    try:
        text = content.decode()
        values = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise OptionError(f"{path}: byte {error.start + 1} is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise OptionError(f"{path}: this is not TOML: {error or 'nested too deeply'}") from None
    for name in values:
        if name not in FIELDS:
            raise OptionError(
                f"{_place(path, text, name)}: unknown field {name!r}{meant(name, FIELDS)}; allowed are {', '.join(FIELDS)}, and options"
                " below [options]"
            )
    game, players, options = values.get("game"), values.get("players"), values.get("options", {})
    if not isinstance(game, str):
        raise OptionError(f'{_place(path, text, "game")}: name the game, such as game = "guinote"')
    if not isinstance(options, dict):
        raise OptionError(f"{_place(path, text, 'options')}: write options as a table below [options]")
    try:
        declared(game)
        return _checked(path, text, Variant(game, players, options))
    except OptionError as error:
        if str(error).startswith(str(path)):
            raise
        raise OptionError(f"{_place(path, text, 'game')}: {error}") from None


def _checked(path: Path, text: str, variant: Variant) -> Variant:
    """Load the variant; a refused option is named with its line."""
    try:
        load(variant.game, **({} if variant.players is None else {"players": variant.players}))
    except OptionError as error:
        raise OptionError(f"{_place(path, text, 'players')}: {error}") from None
    try:
        variant.load()
    except OptionError as error:
        name = next((name for name in variant.options if re.search(rf"\b{re.escape(name)}\b", str(error))), "options")
        raise OptionError(f"{_place(path, text, name)}: {error}") from None
    return variant


def _place(path: Path, text: str, name: str) -> str:
    """Return the file and the line of a name in it; the file alone if no line begins with the name."""
    pattern = re.compile(rf"\s*\[?\s*[\"']?{re.escape(name)}\b")
    number = next((number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)), None)
    return f"{path}, line {number}" if number else str(path)
