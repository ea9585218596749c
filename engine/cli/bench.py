"""`tute bench`: how fast the rules and the runner are, as ratios to a floor measured in the same run."""

from __future__ import annotations

import argparse
from typing import Any

from engine.cli import table
from engine.cli.output import command, json_flag, print_json, print_table, progress
from engine.cli.problem import OK, Problem

EXAMPLE = """
tute bench engine
tute bench engine -g partnership --seconds 10
tute bench runner --json
"""
DETAILS = """
engine   random playouts: decisions per second with and without recording, and the time of one decision as a multiple of the floor, one
         round of a plain Python loop: x = (x * 1103515245 + 12345) & 0x7fffffff
runner   the time of one decision between sandboxed bots as a multiple of the floor, the same bytes exchanged with the same bot over bare
         pipes on the same core, unwatched
Rounds of both alternate; medians (engine) and best rounds (runner) are given, so that a busy machine disturbs the ratios little.
"""


def add(commands: Any) -> None:
    parser = command(commands, "bench", "measure the engine or the runner", EXAMPLE, DETAILS)
    parser.add_argument("what", nargs="?", choices=("engine", "runner"), default="engine")
    parser.add_argument("-g", "--game", action="append", help="only this game (may be repeated; runner: partnership)")
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long to measure each game (2)")
    parser.add_argument("--bot", default=None, help="runner: the bot at every seat (a plain one of ten lines)")
    table.add_sandbox_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import engine

    if args.seconds <= 0:
        raise Problem(f"--seconds {args.seconds}: give a number above 0")
    for game in args.game or []:
        if game not in engine.game.games():
            raise Problem(f"unknown game {game!r}; the games are {', '.join(engine.game.games())}")
    return _engine(args) if args.what == "engine" else _runner(args)


def _engine(args: argparse.Namespace) -> int:
    from engine.cli import bench_engine
    from engine.game import games

    rows = []
    keys = args.game or games()
    with progress("engine") as advance:
        for done, key in enumerate(keys):
            if advance is not None:
                advance(done, len(keys))
            rows.append(bench_engine.measure(key, args.seconds))
    if args.json:
        print_json({"format": "tute-bench-engine/1", "floor": bench_engine.FLOOR, "games": rows})
        return OK
    print_table(
        ("game", "decisions/s", "recorded/s", "floor/s", "x floor", "x floor recorded", "decisions/deal"),
        [
            (
                r["game"],
                *(f"{r[key]:,.0f}" for key in ("per_s", "recorded_per_s", "floor_per_s")),
                *(f"{r[key]:.1f}" for key in ("ratio", "recorded_ratio", "decisions_per_match")),
            )
            for r in rows
        ],
    )
    print(
        f"\nfloor: {bench_engine.FLOOR}; x floor: time of one decision in rounds of it. Random choice and deal included."
    )
    return OK


def _runner(args: argparse.Namespace) -> int:
    from engine.cli import bench_runner

    box = table.open_sandbox(args.sandbox)
    with progress("runner") as advance:
        found = bench_runner.measure((args.game or ["partnership"])[0], args.seconds, args.bot, box, advance)
    if args.json:
        print_json({"format": "tute-bench-runner/1", **found})
        return OK
    print(
        "{game}, bot {bot}, sandbox {tier}, core {core}: {decisions} decisions a match, {rounds} rounds\n".format(
            **found
        )
    )
    print_table(
        ("what", "us/decision", "x floor"),
        [(name, f"{found[key]:.1f}", f"{found[key] / found['floor_us']:.2f}") for name, key in bench_runner.ROWS],
    )
    print(
        f"\nfloor: {found['request_bytes']:.0f} bytes to the bot and {found['answer_bytes']:.0f} back over bare pipes, same bot, same core"
    )
    print(
        f"start of a bot to its ready: {found['start_ms']:.1f} ms; a match of {found['boards']} boards: {found['match_s']:.2f} s"
    )
    return OK
