"""`tute play`: play a match between bots on this machine."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import series, table
from engine.cli.output import BAD, GOOD, PaintedCell, command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem, require
from engine.studying import BOARDS, parts_of

if TYPE_CHECKING:
    from engine.runner import MatchSpec

EXAMPLE = """
tute play greedy random -n 100 --seed 7
tute play my_bot.py bots/house/counting greedy random -g cabrero --players 4 -n 20
tute play my_bot.zip greedy -g corriente -o match_games=3 --log games.jsonl
tute play new.py old.py -g guiñote --sprt 0 20 --resume series.jsonl
"""
DETAILS = f"""
BOT is a source file, a folder with a bot.toml, a zip, or the name of a house bot. At a table of pairs two bots hold a side each; elsewhere
every bot holds one seat. A board is played once in each seating with the same cards. The same seed deals the same cards.

Every {BOARDS} boards are a match of their own, with fresh processes of the bots. Matches are played on all cores in parallel; the same
seed gives the same result on any number of cores, and with --resume after any number of interruptions.

--sprt ELO0 ELO1 plays until a sequential test decides that the first bot is at least ELO1 stronger than the second (Elo per board), or at most
ELO0, with an error rate of at most 5% each; -n is then the upper limit. 0 20 asks whether a new version is better.

exit codes:
  0  played
  1  a bot failed; the report says how
  2  the command or its input is wrong
  3  something on this machine failed
"""
FAULTS = 8  # Number of faults printed in full per bot.
MOST = 20_000  # Most boards of a test, unless -n says otherwise.


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "play", "play bots against each other", EXAMPLE, DETAILS)
    parser.add_argument("bots", nargs="+", metavar="BOT", help="file, folder, zip or house bot")
    table.add_game_flags(parser)
    parser.add_argument("-n", "--boards", type=int, help=f"boards to play (16; with --sprt at most {MOST})")
    table.add_seed_flag(parser)
    parser.add_argument("--log", type=Path, metavar="FILE", help="write the replays, one per line (.jsonl)")
    parser.add_argument("--jobs", type=int, metavar="N", help="matches played in parallel (default: one per core)")
    parser.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="stop when a sequential test has decided"
    )
    parser.add_argument(
        "--resume", type=Path, metavar="FILE", help="store finished matches in FILE, and continue from those in it"
    )
    table.add_sandbox_flags(parser)
    parser.add_argument(
        "--sealed",
        action="store_true",
        help="hide every clock of the host from the bots, as the league does at tables with partners (docs/sandbox.md)",
    )
    table.add_limit_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Play and print the standings. Return exit code 1 if a bot failed, 3 if the platform did."""
    test = series.Sequential(*args.sprt) if args.sprt else None
    seed = args.seed if args.seed is not None else secrets.token_hex(4)
    if args.resume is not None and args.seed is None:
        seed = series.SeriesJournal.seed(args.resume) or seed
    spec = _spec(args, seed)
    if test is not None and len(spec.parties) != 2:
        raise Problem(f"--sprt compares two bots, not {len(spec.parties)}")
    if args.log is not None and args.log.suffix != ".jsonl":
        raise Problem(f"--log {args.log}: the log has one replay per line; give it a name that ends in .jsonl")
    require(args, jobs=1)
    jobs = args.jobs if args.jobs is not None else len(os.sched_getaffinity(0))
    box = table.open_sandbox(args.sandbox)
    if args.sealed and box.report.unsealed:
        raise Problem(f"bots cannot be sealed in the tier {box.tier} here: {box.report.unsealed}", INFRASTRUCTURE)
    journal = series.SeriesJournal(args.resume, spec, seed, args.log) if args.resume is not None else None
    with progress(f"{table.title(spec.game)}, {len(spec.boards)} boards") as advance:
        played = series.play(parts_of(spec), box, jobs, log=args.log, journal=journal, test=test, advance=advance)
    test_result = test.result(played.scores()) if test is not None else None
    names = table.labels(spec.parties)
    if args.json:
        print_json(document(spec, played, names, seed, test_result))
    else:
        _print(spec, played, names, seed, test_result)
    return FAILED if any(party["faults"] for party in played.parties) else OK


def _spec(args: argparse.Namespace, seed: str) -> MatchSpec:
    from engine.runner.spec import ALWAYS, NEVER

    most = args.boards if args.boards is not None else MOST if args.sprt else 16
    if most < 1:
        raise Problem(f"-n {most} is too small; play at least one board")
    sealing = ALWAYS if args.sealed else NEVER
    return table.match_spec(args, "local", seed, args.bots, boards=range(1, most + 1), sealing=sealing)


def document(
    spec: MatchSpec, played: series.SeriesResult, names: Sequence[str], seed: str, test: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the result as data for scripts, format tute-play/1."""
    from dataclasses import asdict

    from engine.cli.stats import standing
    from engine.game import load

    size = load(spec.game).score_size
    scores = played.scores()
    parties = []
    for number, (name, report) in enumerate(zip(names, played.parties, strict=True)):
        entry: dict[str, Any] = {"name": name, "sha256": spec.parties[number].sha256}
        if scores:
            result = standing(scores, number, size)
            entry |= {**asdict(result), "clear": result.clear}
        parties.append(entry | report)
    return {
        "format": "tute-play/1",
        "game": spec.game,
        "players": spec.players,
        "options": dict(spec.options),
        "seed": seed,
        "parties": parties,
        "boards": played.boards,
        "decisions": played.decisions,
        "seconds": played.seconds,
        "host": played.host,
        "sprt": test,
    }


def _print(
    spec: MatchSpec, played: series.SeriesResult, names: Sequence[str], seed: str, test: dict[str, Any] | None
) -> None:
    from engine.cli.stats import standing
    from engine.game import load

    scores = played.scores()
    game = load(spec.game)
    unit = game.score_unit
    standings = [standing(scores, number, game.score_size) for number in range(len(names))]
    rows = []
    for name, party in zip(names, standings, strict=True):
        margin = "" if party.margin is None else f"{party.difference:+.2f} ± {party.margin:.2f}"
        verdict = "" if party.margin is None else "yes" if party.clear else "no"
        if party.margin is not None and party.clear:
            margin = PaintedCell(margin, GOOD if party.difference > 0 else BAD)
        won, lost = PaintedCell(party.won, GOOD), PaintedCell(party.lost, BAD)
        rows.append((name, won, party.drawn, lost, f"{party.share:.1%}", f"{party.mean:.2f}", margin, verdict))
    sittings = sum(len(board["sittings"]) for board in played.boards)
    blind = [name for name, party in zip(names, played.parties, strict=True) if party["sealed"]]
    clocks = f", clocks hidden from {' and '.join(blind)}" if blind else ""
    print(
        f"{table.title(spec.game)}: {len(scores)} boards, {sittings} games, seed {seed}, sandbox {played.host['tier']}{clocks}\n"
    )
    print_table(("bot", "won", "drawn", "lost", "share", f"{unit}/board", "ahead by (95%)", "certain"), rows)
    if len(scores) > 1:
        print(
            f"\nahead by: {unit} per board more than the mean of the others, interval over boards; certain: the interval excludes zero"
        )
        if test is not None:
            print_test(names, test)
        elif len(names) == 2:
            paragraph(_verdict(names, standings))
    for name, report in zip(names, played.parties, strict=True):
        print_faults(name, report)
    rate = played.decisions / played.seconds if played.seconds else 0.0
    each = 1000 * played.seconds / played.decisions if played.decisions else 0.0
    print(
        f"\n{played.decisions} decisions in {played.seconds:.2f} s of play: {rate:.0f} decisions/s, {each:.3f} ms each, starts included"
    )


def print_test(names: Sequence[str], test: dict[str, Any]) -> None:
    """Print the verdict of the sequential test."""
    elo0, elo1 = f"{test['elo0']:g}", f"{test['elo1']:g}"
    verdict = {
        "elo1": f"{names[0]} is stronger than {names[1]}: the test accepts a difference of at least {elo1} Elo per board.",
        "elo0": f"{names[0]} is not stronger than {names[1]} by that much: the test accepts a difference of at most {elo0} Elo.",
        None: f"Undecided between {elo0} and {elo1} Elo. Play more boards (-n); --resume FILE continues from where it stopped.",
    }[test["accepted"]]
    paragraph(
        f"{verdict} Log-likelihood ratio {test['llr']:+.2f}, decided at {test['lower']:.2f} or {test['upper']:+.2f}; estimated"
        f" {test['elo']:+.0f} ± {test['elo_margin']:.0f} Elo per board (a series that is stopped by a test overstates it)."
    )


def _verdict(names: Sequence[str], standings: Sequence[Any]) -> str:
    first = standings[0]
    if not first.clear:
        interval = f"{first.difference:+.2f} ± {first.margin:.2f}"
        return f"No difference shown between {names[0]} and {names[1]}: the 95% interval of {interval} contains zero; play more boards."
    better, worse = (names[0], names[1]) if first.difference > 0 else (names[1], names[0])
    return f"{better} is better than {worse}: the 95% interval of {abs(first.difference):.2f} ± {first.margin:.2f} excludes zero."


def print_faults(name: str, report: dict[str, Any]) -> None:
    """Print a paragraph for each of the first faults of a party, and the end of its log."""
    from engine.cli.explain import explain, print_log_end
    from engine.runner import FaultReport

    for fault in report["faults"][:FAULTS]:
        print()
        explain(name, FaultReport(**fault))
    if len(report["faults"]) > FAULTS:
        print(f"\n... and {len(report['faults']) - FAULTS} more faults of {name} (--json shows all)")
    if report["faults"] and report["stderr"]:
        print(f"\nend of the log (stderr) of {name}:")
        print_log_end(report["stderr"], "  ")
