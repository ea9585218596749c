"""What the commands share that seat bots at a table: finding bots, the sandbox, the limits, the options of a game."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.output import progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, Problem

if TYPE_CHECKING:
    from engine.runner import BotSpec, Limits
    from engine.sandbox import Sandbox


class _TierNames:
    """The words of --sandbox. The sandbox is imported only when somebody asks for them: `tute --help` would wait for it."""

    def __iter__(self) -> Iterator[str]:
        from engine.sandbox import TIERS

        return iter(["auto", *(tier.name for tier in TIERS)])

    def __contains__(self, word: object) -> bool:
        return word in list(self)


def add_game_flags(parser: argparse.ArgumentParser) -> None:
    """Declare which game is played, and how: --game, --players and --option. `chosen_game` reads them."""
    parser.add_argument("-g", "--game", required=True, help="key or name of the game (tute games)")
    parser.add_argument("--players", type=int, help="seats at the table, where the game has several sizes")
    parser.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the game; may be repeated",
    )


def chosen_game(args: argparse.Namespace) -> tuple[str, int | None, dict[str, Any]]:
    """Key of the game, seats at the table (None: as the game says) and options. Problem where one is not understood."""
    options = option_values(args.option)
    players = args.players if args.players is not None else options.pop("players", None)
    return find_game(args.game), players, options


def add_seed_flag(parser: argparse.ArgumentParser) -> None:
    """Declare --seed."""
    parser.add_argument("--seed", help="any text; the same text deals the same cards (a random one, which is printed)")


def add_sandbox_flags(parser: argparse.ArgumentParser) -> None:
    """Declare --sandbox and --no-sandbox."""
    parser.add_argument(
        "--sandbox",
        choices=_TierNames(),
        metavar="TIER",
        default="auto",
        help="isolation of the bots: the strongest tier that holds here (auto), or one by name: %(choices)s",
    )
    parser.add_argument(
        "--no-sandbox",
        dest="sandbox",
        action="store_const",
        const="none",
        help="the same as --sandbox none: only for bots that you trust",
    )


def add_limit_flags(parser: argparse.ArgumentParser) -> None:
    """Declare the limits of a bot."""
    group = parser.add_argument_group("limits (seconds of CPU time, as in the league unless changed)")
    group.add_argument("--start-s", type=float, metavar="S", help="from start to ready (5)")
    group.add_argument("--move-s", type=float, metavar="S", help="per decision (0.5)")
    group.add_argument("--bank-s", type=float, metavar="S", help="beyond that, per pass (3)")
    group.add_argument("--memory-mb", type=int, metavar="MB", help="memory of a bot (256)")


def limits(args: argparse.Namespace) -> Limits:
    """The limits of the league, with those that were given in their place. Problem where one is out of range."""
    from engine.runner import Limits

    given = {
        name: getattr(args, name)
        for name in ("start_s", "move_s", "bank_s", "memory_mb")
        if getattr(args, name, None) is not None
    }
    try:
        return Limits(**given)
    except ValueError as error:
        raise Problem(str(error)) from None


def state_dir() -> Path:
    """Where copied runtimes and unpacked bots are kept: STATE_DIR, else the user's cache.

    Root's bots run as other users, who may not pass root's home: root's cache is /var/cache.
    """
    given = os.environ.get("STATE_DIR")
    if given:
        return Path(given).resolve()
    if os.getuid() == 0:
        return Path("/var/cache/tute-league")
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "tute-league"


def open_sandbox(tier: str) -> Sandbox:
    """A sandbox of the tier. Problem with what to do where it does not hold."""
    from engine.sandbox import Sandbox, SandboxError

    try:
        with progress("proving the sandbox"):
            return Sandbox(tier=tier, state_dir=state_dir())
    except SandboxError as error:
        raise Problem(str(error), INFRASTRUCTURE) from None


def house_folder() -> Path | None:
    """The folder of the house bots, where they are installed."""
    found = importlib.util.find_spec("bots")
    for folder in (found.submodule_search_locations or []) if found else []:
        if (Path(folder) / "house").is_dir():
            return Path(folder) / "house"
    return None


def house_names() -> list[str]:
    """Names of the house bots, sorted."""
    folder = house_folder()
    return sorted(path.parent.name for path in folder.glob("*/bot.toml")) if folder else []


def _bot_files() -> list[str]:
    """What in this folder looks like a bot."""
    here = Path()
    return sorted(
        str(path) for path in here.iterdir() if path.suffix in (".py", ".zip", ".js") or (path / "bot.toml").is_file()
    )


def find_bot(text: str, *, refused: int = FAILED) -> BotSpec:
    """The bot of a file, folder, zip or house name. `refused`: exit code for a package that is not taken."""
    from engine.errors import meant
    from engine.runner import PackageRefused, load_package

    path = Path(text)
    if not path.exists():
        folder = house_folder()
        if folder is None or text not in house_names():
            there = ", ".join(house_names()) or "none here"
            near = meant(text, [*house_names(), *_bot_files()])
            raise Problem(f"no bot {text!r}{near}: it is neither a file or folder nor a house bot ({there})")
        path = folder / text
    try:
        return load_package(path, state_dir() / "packages")
    except PackageRefused as error:
        raise Problem(f"{text}: {error}", refused) from None


def find_game(text: str) -> str:
    """The key of a game from its key or its name, whatever the accents, capitals and spaces: guinote, Guiñote, "tute por parejas", parejas.

    Problem for another word, with the nearest.
    """
    from engine.game import declared, games

    if text in games():
        return text
    named: dict[str, str] = {}
    for key in games():
        for name in (key, declared(key).title, declared(key).title.removeprefix("Tute ").removeprefix("por ")):
            named.setdefault(_folded(name), key)
    if (folded := _folded(text)) in named:
        return named[folded]
    from engine.errors import meant

    raise Problem(f"unknown game {text!r}{meant(folded, named)}; games are: {', '.join(games())}")


def _folded(name: str) -> str:
    import unicodedata

    letters = unicodedata.normalize("NFD", name.casefold().replace("_", " ").replace("-", " "))
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())


def option_values(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` arguments as options; values read as in the rules book: numbers, true, false, null, else text."""
    import json

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Problem(f"-o takes name=value, such as -o match_games=3, not {pair!r}")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        values[name] = value if isinstance(value, bool | int | str | None) else text
    return values


def labels(bots: Sequence[BotSpec]) -> list[str]:
    """Names to tell the parties apart by."""
    seen: dict[str, int] = {}
    found = []
    for bot in bots:
        seen[bot.name] = seen.get(bot.name, 0) + 1
        found.append(bot.name if seen[bot.name] == 1 else f"{bot.name} ({seen[bot.name]})")
    return found
