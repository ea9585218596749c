"""The description of a match: parties, boards, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine
from engine.packages import archive
from engine.packages.archive import BotPackage
from engine.packages.manifest import JSON, LINE, WASM, PackageRefused
from engine.runner.limits import Limits
from engine.runner.line_protocol import LineTranslator
from engine.spsa import start_values


@dataclass(frozen=True)
class BotSpec:
    """A bot ready to start: an unpacked package that does not change any more, a loaded one, or a remote bot.

    series: the release of Python for which its modules are compiled, such as "3.11", or "".
    connect: returns what stands for the process at a seat: of a remote bot, whose clock counts wall time, or of a loaded one (`loaded`).
    """

    name: str
    path: Path
    runtime: str
    entry: str
    sha256: str = ""
    games: tuple[str, ...] = ()  # Games that the bot plays; empty: every game.
    deterministic: bool = False
    sealable: bool = True  # True if the bot declares that it needs neither the host's clocks nor threads.
    protocol: str = JSON
    series: str = ""
    connect: Callable[[int], Any] | None = None
    parameters: tuple[
        tuple[str, float], ...
    ] = ()  # The values that the bot gets; those of its manifest, except in a tuning.

    def translator(self) -> LineTranslator | None:
        """Return a translator for one pass of the bot, or None if the bot speaks JSON."""
        return LineTranslator() if self.protocol == LINE else None

    @property
    def metered(self) -> bool:
        """True if the bot's instructions are counted in place of its time."""
        return self.runtime == WASM


NEVER, POSSIBLE, ALWAYS = ("never", "possible", "always")  # The settings of `sealing`.


@dataclass(frozen=True)
class MatchSpec:
    """One match. `secret` keys the deals; `table` names the table, so that the tables of a tournament may share boards or not.

    unplayable: parties at whose bots the match has broken off twice, with the reason; they are not started and forfeit every sitting.
    once: True if each board is played in one of the sittings only, in turn, because a remote bot would recognise it in the next one.
    apart: True if passes begin on a fixed grid as soon as one bot plays unsealed, so that no pass learns from its start how long others took.
    """

    match_id: str
    game: str
    secret: bytes
    table: str
    boards: Sequence[int]
    parties: tuple[BotSpec, ...]
    players: int | None = None  # Seats at the table; None: the game's default.
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    unplayable: Mapping[int, str] = field(default_factory=dict)
    deals: int | None = None  # Deals of one board; None: the game's own `board_deals`.
    sealing: str = NEVER
    apart: bool = False
    once: bool = False

    def boards_of_pass(self, number: int, game: engine.Game) -> list[int]:
        """Return the boards of a pass: all of them, or those whose turn it is."""
        return list(self.boards[number :: len(game.sittings(len(self.parties)))] if self.once else self.boards)


def bot_spec(content: BotPackage, folder: Path) -> BotSpec:
    """Unpack a package under `folder`, in a directory named by its contents, and return how to start it. Raise PackageRefused for source."""
    if content.manifest.build:
        raise PackageRefused(f"{content.manifest.name} is source that has to be built first: tute bot build")
    return spec_at(content, content.unpack(folder / content.sha256))


def spec_at(content: BotPackage, path: Path) -> BotSpec:
    """Return how to start a package whose files are in the folder `path`."""
    what = content.manifest
    return BotSpec(
        what.name,
        path,
        what.runtime,
        what.entry,
        content.sha256,
        what.games,
        what.deterministic,
        what.sealable,
        what.protocol,
        content.series,
        parameters=tuple(start_values(what.parameters).items()),
    )


def load_package(path: Path, folder: Path) -> BotSpec:
    """Load the bot in a source file, folder or zip, unpacked under `folder`. Raise PackageRefused, OSError."""
    return bot_spec(archive.read_path(path), folder)
