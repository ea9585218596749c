"""`tute bench`: how fast the rules, the runner and the start of a bot are, as ratios to a floor measured in the same run."""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

from engine.cli import table
from engine.cli.output import command, json_flag, print_json, print_table, progress
from engine.cli.problem import OK, Problem

EXAMPLE = """
tute bench engine
tute bench engine -g partnership --seconds 10
tute bench runner --json
tute bench sandbox --seconds 20
"""
DETAILS = """
engine   random playouts of every game as multiples of OpenSpiel's hearts, driven from Python in the same way in the same run; without
         pyspiel, of a plain Python loop. Also recorded, and by `engine.playout` and `engine.play_many` against OpenSpiel's rollouts in C++
runner   the time of one decision between sandboxed bots as a multiple of the floor, the same bytes exchanged with the same bot over bare
         pipes on the same core, unwatched
sandbox  milliseconds from the start of a Python bot to its first answer in every tier that holds, over the same interpreter without a sandbox
Rounds of both alternate; medians of ratios within a round and best rounds are given, so that a busy machine disturbs them little.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "bench", "measure the engine, the runner or the sandbox", EXAMPLE, DETAILS)
    parser.add_argument("what", nargs="?", choices=("engine", "runner", "sandbox"), default="engine")
    parser.add_argument("-g", "--game", action="append", help="only this game (may be repeated; runner: partnership)")
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long to measure each game (2)")
    parser.add_argument("--bot", default=None, help="runner: the bot at every seat (a plain one of ten lines)")
    table.add_sandbox_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure what was asked for, and print it."""
    import engine

    if args.seconds <= 0:
        raise Problem(f"--seconds {args.seconds}: give a number above 0")
    for game in args.game or []:
        if game not in engine.game.games():
            raise Problem(f"unknown game {game!r}; the games are {', '.join(engine.game.games())}")
    return {"engine": _engine, "runner": _runner, "sandbox": _sandbox}[args.what](args)


def _engine(args: argparse.Namespace) -> int:
    import engine
    from engine.cli.bench import engine as bench_engine
    from engine.runner.cores import pinned

    rows = []
    keys = args.game or engine.game.games()
    rival = bench_engine.open_spiel()
    with progress("engine") as advance, pinned() as core:
        for done, key in enumerate(keys):
            if advance is not None:
                advance(done, len(keys))
            rows.append(bench_engine.measure(key, args.seconds, rival))
    against = f"OpenSpiel {bench_engine.RIVAL}" if rival else bench_engine.FLOOR
    if args.json:
        head = {"format": "tute-bench-engine/2", "compiled": engine.COMPILED, "core": core, "rival": against}
        print_json({**head, "open_spiel": rival is not None, "games": rows})
        return OK
    columns = {
        "game": lambda row: row["game"],
        "decisions/s": lambda row: f"{row['per_s']:,.0f}",
        "x rival": lambda row: f"{row['ratio']:.2f}",
        "recorded x rival": lambda row: f"{row['recorded_ratio']:.2f}",
        "clone in plays": lambda row: f"{row['clone_in_plays']:.1f}",
        "playout/s": lambda row: f"{row['playout_per_s']:,.0f}",
        "play_many/s": lambda row: f"{row['play_many_per_s']:,.0f}",
    }
    if rival:
        columns["playout x rollouts"] = lambda row: f"{row['playout_ratio']:.2f}"
        columns["play_many x rollouts"] = lambda row: f"{row['play_many_ratio']:.2f}"
    print_table(tuple(columns), [tuple(cell(row) for cell in columns.values()) for row in rows])
    how = "compiled" if engine.COMPILED else "Python source"
    print(f"\nengine: {how}; random play of whole matches, deals included; CPU time, core {core}")
    if rival is None:
        print("pyspiel is not installed (extra `adapters`), so the rival is only a floor: one round of a plain loop,")
        print(against)
        return OK
    tuned = median(row["tuned_factor"] for row in rows)
    print(f"rival: {against}, whole games driven from Python, {rows[-1]['rival_per_s']:,.0f} decisions/s in this run")
    print(f"against a loop that knows hearts, with its deal apart: every x rival times {tuned:.2f}")
    print(
        f"rollouts: OpenSpiel's own random rollouts of it, in C++, {rows[-1]['rollout_per_s']:,.0f} plays/s in this run"
    )
    return OK


def _runner(args: argparse.Namespace) -> int:
    from engine.cli.bench import runner

    box = table.open_sandbox(args.sandbox)
    with progress("runner") as advance:
        found = runner.measure((args.game or ["partnership"])[0], args.seconds, args.bot, box, advance)
    if args.json:
        print_json({"format": "tute-bench-runner/1", **found})
        return OK
    print(
        "{game}, bot {bot}, sandbox {tier}, core {core}: {decisions} decisions a match, {rounds} rounds\n".format(
            **found
        )
    )
    floor = found["floor_us"]
    print_table(
        ("what", "CPU us/decision, best", "x floor, median", "+ us, best"),
        [
            (name, f"{found[key]:.1f}", f"{found['x_floor'][key]:.2f}", f"{found[key] - floor:.1f}")
            for name, key in runner.ROWS
        ],
    )
    print(
        f"\nfloor: {found['request_bytes']:.0f} bytes to the bot and {found['answer_bytes']:.0f} back over bare pipes, same bot, same core"
    )
    print(
        f"start of a bot to its ready: {found['start_ms']:.1f} ms; a match of {found['boards']} boards, starts and ends included: "
        f"{found['match_s']:.2f} s, in which the worker and its bots computed {found['match_cpu_s']:.2f} s; "
        f"with the bots of the second pass started ahead on another core: {found['ahead_s']:.2f} s"
    )
    return OK


def _sandbox(args: argparse.Namespace) -> int:
    from engine.cli.bench import sandbox
    from engine.sandbox import Sandbox, check

    held = [report.name for report in check(table.state_dir()) if report.holds]
    boxes = [Sandbox(name, table.state_dir()) for name in held if args.sandbox in ("auto", name)]
    if not boxes:
        raise Problem(f"the tier {args.sandbox} does not hold here; `tute sandbox check` says why")
    with progress("sandbox") as advance:
        found = sandbox.measure(boxes, args.seconds, advance)
    if args.json:
        print_json({"format": "tute-bench-sandbox/1", **found})
        return OK
    cells = [
        (row["what"], f"{row['best_ms']:.1f}", f"{row['over_best_ms']:.1f}", f"{row['over_median_ms']:.1f}")
        for row in found["rows"]
    ]
    print_table(("what", "best ms", "over the floor, best", "over the floor, median"), cells)
    print(f"\n{found['rounds']} rounds in turn on core {found['core']}, control groups: {found['control_groups']}")
    return OK
