"""Helpers of commands that seat bots at a table: bots, sandbox, limits and options of a game."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.output import progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, USAGE, Problem

if TYPE_CHECKING:
    from engine.runner import BotSpec, Limits, MatchSpec
    from engine.sandbox import Sandbox


USUAL_GAME = "partnership"  # The default of --game.


class _TierNames:
    """The values of --sandbox. They import the sandbox only when needed, which keeps `tute --help` fast."""

    def __iter__(self) -> Iterator[str]:
        from engine.sandbox import TIERS

        return iter(["auto", *(tier.name for tier in TIERS)])

    def __contains__(self, word: object) -> bool:
        return word in list(self)


def add_game_flags(parser: argparse.ArgumentParser) -> None:
    """Declare the game: --game, --players and --option. `chosen_game` reads them."""
    parser.add_argument(
        "-g", "--game", default=USUAL_GAME, help=f"key or name of the game, see tute games (default: {USUAL_GAME})"
    )
    parser.add_argument("--players", type=int, help="seats at the table, if the game has several sizes")
    parser.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the game; may be repeated",
    )


def chosen_game(args: argparse.Namespace) -> tuple[str, int | None, dict[str, Any]]:
    """Return the game's key, the number of seats (None: the game's default) and the options. Raise Problem for an unknown game."""
    options = option_values(args.option)
    players = args.players if args.players is not None else options.pop("players", None)
    return find_game(args.game), players, options


def add_seed_flag(parser: argparse.ArgumentParser) -> None:
    """Declare --seed."""
    parser.add_argument(
        "--seed", help="any text; the same text deals the same cards (default: a random text, which is printed)"
    )


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
    group = parser.add_argument_group("limits (seconds of CPU time; by default those of the league)")
    group.add_argument("--start-s", type=float, metavar="S", help="from start to ready (5)")
    group.add_argument("--move-s", type=float, metavar="S", help="per decision (0.5)")
    group.add_argument("--bank-s", type=float, metavar="S", help="beyond that, per pass (3)")
    group.add_argument("--memory-mb", type=int, metavar="MB", help="memory of a bot (256)")


def limits(args: argparse.Namespace) -> Limits:
    """Return the league's limits, with those that the user set replaced. Raise Problem if one is out of range."""
    from engine.runner import Limits

    values = {
        name: getattr(args, name)
        for name in ("start_s", "move_s", "bank_s", "memory_mb")
        if getattr(args, name, None) is not None
    }
    try:
        return Limits(**values)
    except ValueError as error:
        raise Problem(str(error)) from None


def match_spec(
    args: argparse.Namespace, name: str, seed: str, texts: Sequence[str], *, boards: Sequence[int], **more: Any
) -> MatchSpec:
    """Return the match between these bots at the table of the command line. Raise Problem if it cannot be played.

    name: for the match and its table; more: further fields of the spec. A single bot may be given: its opponents are chosen later.
    """
    from engine.cards import chance
    from engine.errors import OptionError
    from engine.game import declared
    from engine.game import load as load_game
    from engine.runner import MatchSpec
    from engine.runner.match import load

    bots = tuple(find_bot(text, refused=USAGE) for text in texts)
    game, players, options = chosen_game(args)
    try:
        if players is None and len(bots) in declared(game).players and len(load_game(game).sides) != len(bots):
            players = len(bots)
        spec = MatchSpec(
            match_id=f"{name} {seed}",
            game=game,
            players=players,
            options=options,
            secret=chance.as_seed(seed),
            table=name,
            boards=boards,
            parties=bots,
            limits=limits(args),
            **more,
        )
        rules = load(spec)
        if len(bots) > 1:
            rules.sittings(len(bots))
    except OptionError as error:
        raise Problem(str(error)) from None
    for bot, text in zip(bots, texts, strict=True):
        if bot.games and game not in bot.games:
            raise Problem(f"{text} plays {', '.join(bot.games)}, not {game}; see games in its bot.toml")
    return spec


def state_dir() -> Path:
    """Return the folder of copied runtimes and unpacked bots: STATE_DIR, else the user's cache.

    Root's bots run as other users, who may not enter root's home, so root's cache is /var/cache.
    """
    setting = os.environ.get("STATE_DIR")
    if setting:
        return Path(setting).resolve()
    if os.getuid() == 0:
        return Path("/var/cache/tute-league")
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "tute-league"


def open_sandbox(tier: str) -> Sandbox:
    """Return a sandbox of the tier. Raise Problem, with advice, if the tier does not hold."""
    from engine.sandbox import Sandbox, SandboxError

    try:
        with progress("testing the sandbox"):
            return Sandbox(tier=tier, state_dir=state_dir())
    except SandboxError as error:
        raise Problem(str(error), INFRASTRUCTURE) from None


def house_folder() -> Path | None:
    """Return the folder of the house bots, if they are installed."""
    spec = importlib.util.find_spec("bots")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / "house").is_dir():
            return Path(folder) / "house"
    return None


def house_names() -> list[str]:
    """Return the names of the house bots, sorted."""
    folder = house_folder()
    return sorted(path.parent.name for path in folder.glob("*/bot.toml")) if folder else []


def _bot_files() -> list[str]:
    """Return the files in this folder that look like bots."""
    here = Path()
    return sorted(
        str(path) for path in here.iterdir() if path.suffix in (".py", ".zip", ".js") or (path / "bot.toml").is_file()
    )


def find_bot(text: str, *, refused: int = FAILED) -> BotSpec:
    """Load the bot in a file, folder or zip, or a house bot. refused: exit code for a package that is refused."""
    from engine.cli.builds import ready
    from engine.errors import meant
    from engine.packages.archive import read_path
    from engine.runner import PackageRefused, bot_spec

    path = Path(text)
    if not path.exists():
        folder = house_folder()
        if folder is None or text not in house_names():
            house = ", ".join(house_names()) or "none here"
            near = meant(text, [*house_names(), *_bot_files()])
            raise Problem(f"no bot {text!r}{near}: there is no such file or folder, and no such house bot ({house})")
        path = folder / text
    try:
        return bot_spec(ready(read_path(path), state_dir()), state_dir() / "packages")
    except PackageRefused as error:
        raise Problem(f"{text}: {error}", refused) from None


def find_game(text: str) -> str:
    """Return the key of a game from its key or name, ignoring accents, capitals and spaces: guinote, Guiñote, "tute por parejas", parejas.

    Raise Problem, with the nearest name, for any other word.
    """
    from engine.game import declared, games

    if text in games():
        return text
    keys_by_name: dict[str, str] = {}
    for key in games():
        for name in (key, declared(key).title, declared(key).title.removeprefix("Tute ").removeprefix("por ")):
            keys_by_name.setdefault(_folded(name), key)
    if (folded := _folded(text)) in keys_by_name:
        return keys_by_name[folded]
    from engine.errors import meant

    raise Problem(f"unknown game {text!r}{meant(folded, keys_by_name)}; games are: {', '.join(games())}")


def _folded(name: str) -> str:
    import unicodedata

    letters = unicodedata.normalize("NFD", name.casefold().replace("_", " ").replace("-", " "))
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())


def option_values(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse `key=value` arguments as options; Values are written as in the rules book: numbers, true, false, null, else text."""
    import json

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Problem(f"-o needs name=value, such as -o match_games=3, not {pair!r}")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        values[name] = value if isinstance(value, bool | int | str | None) else text
    return values


def title(game: str) -> str:
    """Return the name of a game as the site shows it."""
    from engine.game import declared

    return declared(game).title


def labels(bots: Sequence[BotSpec]) -> list[str]:
    """Return names that distinguish the parties."""
    counts: dict[str, int] = {}
    names = []
    for bot in bots:
        counts[bot.name] = counts.get(bot.name, 0) + 1
        names.append(bot.name if counts[bot.name] == 1 else f"{bot.name} ({counts[bot.name]})")
    return names
