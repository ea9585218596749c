"""`tute bot`: create a bot from the starter kit, build, check or pack it before it is entered."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import table
from engine.cli.output import BAD, GOOD, command, json_flag, paint, print_json, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem

if TYPE_CHECKING:
    from engine.runner import BotSpec
    from engine.sandbox import Sandbox

EXAMPLE = """
tute bot new my_bot
tute bot new my_bot --language rust
tute bot build my_bot
tute bot check my_bot
tute bot check my_bot -g partnership -g guiñote
tute bot check my_bot.zip --all --json
tute bot pack my_bot
"""
DETAILS = """
new NAME     creates a folder with a bot that plays, its bot.toml and the SDK; with --language a bot in another language, and its library
build PATH   compiles a package of source (build = "c" in its bot.toml) in the sandbox, as a league does; check and play do so, too, if it is new
check PATH   plays a file, folder, zip or house bot in the sandbox, at a table of each game it claims (all, if it names none), against the house
             bot random and then through rare decisions: every kind of decision of a game, a long match, and a cancelled one. Explains each
             failure with the exact request and answer. Stops at once if the bot does not start. Exit code 1 if the bot failed.
pack PATH    writes a folder as a zip into the current folder (from within it: beside it), for the page of a league that takes files; tute submit
             takes the folder itself

A check plays one deal of each game, and further tables for kinds of decisions that those have not; it takes a second or two a game. With --all, or
for the games of -g, it plays more deals at every table size, as the league's validation does.
"""
DEALS = 4  # Deals of a table, in every seating: as many boards if a board is one deal. A short check plays one.
OPPONENT = "random"
PYTHON = "python"
# Languages of the kits, each with the folder of its kit below bots/.
KITS = {
    PYTHON: "sdk/template",
    "c": "kits/c",
    "c++": "kits/cpp",
    "go": "kits/go",
    "java": "kits/java",
    "javascript": "kits/javascript",
    "rust": "kits/rust",
    "typescript": "kits/typescript",
    "c-wasm": "kits/c",
    "rust-wasm": "kits/rust",
}


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "bot", "create, build, check or pack a bot", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("new", "build", "check", "pack"))
    parser.add_argument("target", metavar="NAME|PATH")
    parser.add_argument("--language", choices=tuple(KITS), default=PYTHON, help="new: the language of the bot")
    parser.add_argument("-g", "--game", action="append", help="check: only this game (may be repeated)")
    parser.add_argument("--all", action="store_true", help="check: every table of every game that the bot claims")
    table.add_sandbox_flags(parser)
    table.add_limit_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Create, build, check or pack a bot."""
    return {"new": new, "build": build, "check": check, "pack": pack}[args.action](args)


# ---- new


def new(args: argparse.Namespace) -> int:
    """Copy the starter kit into a new folder, with the SDK beside it."""
    from engine.packages.manifest import BUILDS, checked_name, slug
    from engine.runner import PackageRefused

    target = Path(args.target)
    try:
        name = checked_name(target.name)
    except PackageRefused as error:
        raise Problem(str(error)) from None
    if target.exists():
        raise Problem(f"{target} exists already; choose another name or remove it")
    house = table.house_folder()
    kit = KITS[args.language]
    if not house or not (house.parent / kit).is_dir():
        raise Problem("the starter kit is not installed; install the whole project with its bots", INFRASTRUCTURE)
    shutil.copytree(house.parent / kit, target, ignore=shutil.ignore_patterns("__pycache__"))
    if args.language == PYTHON:
        for path in sorted((house.parent / "sdk").glob("tute_*.py")):
            shutil.copy(path, target)
    manifest = target / "bot.toml"
    lines = manifest.read_text(encoding="utf-8").splitlines()
    own = {"name": _toml(name)} | ({"build": args.language} if args.language in BUILDS else {})
    new_lines = [f'{key} = "{own[key]}"' if (key := line.partition(" ")[0]) in own else line for line in lines]
    manifest.write_text("\n".join(new_lines) + "\n", encoding="utf-8")
    files = sorted(path.name for path in target.iterdir())
    if args.json:
        print_json({"folder": str(target), "files": files})
        return OK
    address = slug(name)
    quoted = shlex.quote(str(target))
    in_leagues = f" (in a league: {address})" if address and address != name else ""
    print(f"created {target}{in_leagues}: {', '.join(files)}")
    source = next(path for path in files if Path(path).stem.lower() == "bot" and path != manifest.name)
    print(f"edit {shlex.quote(str(target / source))}, then:")
    print(f"  tute bot check {quoted}\n  tute play {quoted} random -n 50\n  tute submit {quoted}")
    return OK


def _toml(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# ---- build


def build(args: argparse.Namespace) -> int:
    """Build a package of source, even if it was built before, and say where the program is."""
    from engine.cli.builds import ready
    from engine.packages.archive import read_path
    from engine.runner import PackageRefused, bot_spec

    folder = table.state_dir()
    try:
        source = read_path(Path(args.target))
        if not source.manifest.build:
            raise Problem(f'{args.target} has nothing to build: its bot.toml has no line such as build = "c"')
        built = ready(source, folder, again=True)
        bot = bot_spec(built, folder / "packages")
    except FileNotFoundError:
        raise Problem(f"there is no file or folder {args.target}") from None
    except PackageRefused as refused:
        raise Problem(f"{args.target}: {refused}", FAILED) from None
    program, size = (
        bot.path / bot.entry,
        sum(len(data) for name, data in built.files.items() if name not in source.files),
    )
    if args.json:
        print_json({"bot": bot.name, "sha256": bot.sha256, "program": str(program), "bytes": size})
    else:
        print(f"built {bot.name}: {size} bytes, {program}")
    return OK


# ---- pack


def pack(args: argparse.Namespace) -> int:
    """Write a package as a zip into the current folder; beside the package if we are in it, or the next zip would have this one in it."""
    from engine.packages.archive import read_path
    from engine.runner import PackageRefused

    source = Path(args.target)
    whole = source.resolve()
    target = (whole.parent if Path.cwd().is_relative_to(whole) else Path()) / f"{whole.stem}.zip"
    if whole == target.resolve():
        raise Problem(f"{source} is a zip already")
    try:
        package = read_path(source)
    except FileNotFoundError:
        raise Problem(f"there is no file or folder {args.target}") from None
    except PackageRefused as refused:
        raise Problem(f"{args.target}: {refused}", FAILED) from None
    target.write_bytes(package.zip())
    if args.json:
        print_json({"zip": str(target), "files": list(package.files), "bytes": target.stat().st_size})
    else:
        print(f"packed {package.manifest.name}: {len(package.files)} files, {target.stat().st_size} bytes, {target}")
    return OK


# ---- check


def check(args: argparse.Namespace) -> int:
    """Play every game that the bot claims, at every table size, and explain its failures."""
    from engine.game import games

    bot = table.find_bot(args.target)
    named_games = [table.find_game(game) for game in args.game or ()]
    games_to_check = named_games or list(bot.games) or games()
    refused = [game for game in games_to_check if bot.games and game not in bot.games]
    if refused:
        raise Problem(f"{args.target} does not claim {refused[0]}: its bot.toml says games = {list(bot.games)}")
    opponent = table.find_bot(OPPONENT)
    box = table.open_sandbox(args.sandbox)
    every = [(game, players) for game in games_to_check for players in _sizes(game)]
    whole = args.all or bool(named_games)
    tables, deals = (every, DEALS) if whole else (short(every), 1)
    if not args.json:
        print(
            f"{bot.name}, {bot.runtime}, sandbox {box.tier}, {deals} deal{'s' if deals > 1 else ''} in every seat against {OPPONENT}, then the"
            " rare decisions of each game\n",
            flush=True,
        )
    reports = []
    started = True
    with progress(f"checking {bot.name}", among_results=True) as advance:
        for finished, (game, players) in enumerate(tables):
            advance(finished, len(tables))
            reports.append(_check_table(bot, opponent, game, players, box, args, deals))
            started = not any(fault["step"] < 0 for fault in reports[-1]["faults"])
            if not args.json:
                if started:
                    _print_table(bot, reports[-1])
                else:
                    _print_no_start(bot, reports[-1])
                sys.stdout.flush()
            if not started:  # The bot would fail in the same way at every other table.
                break
    failed = [report for report in reports if report["faults"]]
    if args.json:
        document = {"bot": bot.name, "sha256": bot.sha256, "holds": not failed, "tier": box.tier, "tables": reports}
        print_json({**document, "left_out": len(every) - len(reports)})
        return FAILED if failed else OK
    if not started:
        return FAILED
    print(f"\n{len(reports) - len(failed)} of {len(reports)} tables played without a fault", end="")
    if len(tables) < len(every):
        print(
            f"; each of its games is among them. The league checks all {len(every)}: tute bot check {shlex.quote(args.target)} --all"
        )
    else:
        print("" if failed else ": the bot may be entered")
    return FAILED if failed else OK


def short(tables: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return a table of each game, the one that `few` chooses or else that of the usual size, in the order of the games."""
    import engine

    chosen = set(few(tables))
    missing = {game for game, _players in tables} - {game for game, _players in chosen}
    chosen |= {(game, engine.load(game).players) for game in missing}
    return [at for at in tables if at in chosen]


def few(tables: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return few tables that together contain every situation: greedily take the table that adds most, and of equal ones the smaller."""
    import engine
    from engine.runner import rare_decisions

    meets = {at: set(rare_decisions.known_boards(engine.load(at[0], players=at[1]))) for at in tables}
    missing = set().union(*meets.values())
    chosen = []
    while missing:
        best = max(tables, key=lambda at: (len(meets[at] & missing), -at[1]))
        chosen.append(best)
        missing -= meets[best]
    return chosen


def _sizes(game: str) -> tuple[int, ...]:
    from engine.game import declared

    return tuple(declared(game).players)


def _check_table(
    bot: BotSpec, opponent: BotSpec, game: str, players: int, box: Sandbox, args: argparse.Namespace, deals: int
) -> dict[str, Any]:
    from dataclasses import asdict

    import engine
    from engine.runner import Infrastructure, MatchSpec
    from engine.runner.spec import POSSIBLE
    from engine.runner.trial import START, WHOLE, try_bot

    rules = engine.load(game, players=players)
    parties = len(rules.sides)
    spec = MatchSpec(
        match_id=f"check {game} {players}",
        game=game,
        players=players,
        secret=b"tute bot check",
        table="check",
        boards=range(1, 1 + (deals if rules.board_deals == 1 else 1)),
        deals=1 if rules.board_deals == 1 else deals,
        parties=(bot, *[opponent] * (parties - 1)),
        limits=table.limits(args),
        sealing=POSSIBLE,
    )
    try:
        trial = try_bot(spec, box)
    except Infrastructure as error:
        raise Problem(f"{error}; this is not the bot's fault", INFRASTRUCTURE) from None
    report = trial.result.parties[0]
    faults = [{"at": "match", **asdict(fault)} for fault in report.faults]
    faults += [{"at": check.at, **asdict(check.fault)} for check in trial.checks if check.fault and check.name != WHOLE]
    started = not any(fault["step"] < 0 for fault in faults)
    return {
        "game": game,
        "players": players,
        "decisions": sum(check.decisions for check in trial.checks),
        "start_s": next((check.max_cpu_s for check in trial.checks if check.name == START), None),
        "cpu_s": report.cpu_s,
        "max_cpu_s": max(check.max_cpu_s for check in trial.checks if check.name != START),
        "checks": {check.name: check.fault.kind if check.fault else None for check in trial.checks},
        "situations": dict(sorted(trial.met.items())),
        "missed": trial.missed,
        "faults": faults,
        # A bot that does not start writes the same log each time: one is enough.
        "stderr": report.stderr + trial.stderr if started else trial.stderr or report.stderr,
    }


def _print_table(bot: BotSpec, report: dict[str, Any]) -> None:
    from engine.cli.explain import explain
    from engine.runner import FaultReport

    where = f"{table.title(report['game'])}, {report['players']} players"
    faults = report["faults"]
    slowest = f"slowest decision {report['max_cpu_s'] * 1000:.1f} ms of CPU"
    verdict = paint(f"{'FAILED':<7}", BAD) if faults else paint(f"{'ok':<7}", GOOD)
    print(f"{verdict}{where}: {report['decisions']} decisions, {slowest}")
    if report["missed"]:
        print(f"       not tried, because they never came up: {', '.join(report['missed'])}")
    explained = set()
    for fault in faults:
        fault = dict(fault)
        where = fault.pop("at")
        report_of_fault = FaultReport(**fault)
        if (
            report_of_fault.kind,
            report_of_fault.detail[:60],
        ) in explained:  # Explaining the same mistake of a later pass would add nothing.
            continue
        explained.add((report_of_fault.kind, report_of_fault.detail[:60]))
        if where != "match":
            print(f"  at a rare decision ({where}):")
        explain(bot.name, report_of_fault, "  ")
    if faults:
        _print_log(report["stderr"])


def _print_no_start(bot: BotSpec, report: dict[str, Any]) -> None:
    """Print in one line why the bot does not start, then the end of its log once."""
    from engine.runner import tracebacks

    fault = next(fault for fault in report["faults"] if fault["step"] < 0)
    log = report["stderr"]
    why = tracebacks.verdict(log) if fault["kind"] == "crash" else ""
    print(paint(f"{bot.name} does not start: {why or fault['detail'].removeprefix('while starting: ')}", BAD))
    _print_log(log)


def _print_log(log: str) -> None:
    from engine.cli.explain import print_log_end

    if log:
        print("  end of its log (stderr):")
        print_log_end(log)
