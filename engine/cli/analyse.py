"""`tute analyse`: what each decision of a logged match gave away."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from engine.cli import remote
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress
from engine.cli.problem import OK, Problem
from engine.cli.repro import documents

if TYPE_CHECKING:
    from engine.analysis import Judged, Tally

EXAMPLE = """
tute analyse games.jsonl
tute analyse games.jsonl --fair 16
tute analyse h7k2m9xq4d --league https://tute.example --board 3
"""
DETAILS = """
Works out what each decision gave away, in units of the board score, if all seats know all cards from then on. With --fair the same over
deals that agree with what the seat had been told, so a bot is not blamed for what it could not know; that is an estimate with its error,
and takes longer by the number of deals. LOG is what tute play --log wrote, the log of a whole match from the site, or the id of a match
there.

What cannot be proved within a limit is not judged, and said so: deals that are not between two sides; as Python source all but the
endings; compiled (make fast) the first tricks of most games.
"""
WORST = 5  # decisions that are printed; --json has all


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "analyse", "what each decision of a logged match gave away", EXAMPLE, DETAILS)
    parser.add_argument("log", metavar="LOG|ID")
    remote.add_league_flag(parser)
    parser.add_argument(
        "--fair", type=int, metavar="DEALS", help="by this many deals that the seat could not tell from the real one"
    )
    parser.add_argument("--board", type=int, metavar="N", help="only this board")
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="at most so many for each action; more judges more decisions"
    )
    parser.add_argument(
        "--lines",
        action="store_true",
        help="with open cards: also what the best action leads to, if all play as well as they can",
    )
    json_flag(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True, slots=True)
class Place:
    """A judged decision, and where it was."""

    board: int
    sitting: int
    bot: str
    judged: Judged


def run(args: argparse.Namespace) -> int:
    """Judge, sum up and print."""
    from engine.analysis import JUDGE
    from engine.compiled import COMPILED
    from engine.replay import ReplayError

    for name, least in (("fair", 2), ("nodes", 1)):
        given = getattr(args, name)
        if given is not None and given < least:
            raise Problem(f"--{name} {given}: at least {least}")
    if args.lines and args.fair is not None:
        raise Problem("--lines are of open cards: over several deals there is no one line. Leave --fair away")
    try:
        replays = [one for one in documents(args.log, args.league) if args.board in (None, one["meta"]["board"])]
        if not replays:
            raise Problem(f"{args.log} has no board {args.board}" if args.board is not None else f"{args.log} is empty")
        places = list(_judged(replays, args))
    except (ReplayError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Problem(f"{args.log}: {error}") from None
    tallies = _tallies(places)
    if args.json:
        how = {"fair": args.fair} if args.fair is not None else {}
        found = {"format": "tute-analysis/1", "judge": JUDGE, "compiled": COMPILED, "unit": _unit(replays[0]), **how}
        rows = [{"board": one.board, "sitting": one.sitting, "bot": one.bot, **asdict(one.judged)} for one in places]
        bots = [{"bot": bot, **{phase: _plain(tally) for phase, tally in by.items()}} for bot, by in tallies.items()]
        print_json(found | {"bots": bots, "decisions": rows})
        return OK
    _print(places, tallies, replays[0], args)
    return OK


def _judged(replays: Sequence[Mapping[str, Any]], args: argparse.Namespace) -> Iterator[Place]:
    from engine.analysis import USUAL_NODES, fairly, with_open_cards

    nodes = args.nodes or USUAL_NODES
    with progress("judging") as advance:
        for done, replay in enumerate(replays):
            advance(done, len(replays))
            meta = replay["meta"]
            bots = [meta["parties"][party] for party in meta["seating"]]
            deals = (
                with_open_cards(replay, nodes, lines=args.lines)
                if args.fair is None
                else fairly(replay, args.fair, nodes)
            )
            for deal in deals:
                for one in deal:
                    yield Place(meta["board"], meta["sitting"], bots[one.seat], one)
        advance(len(replays), len(replays))


def _tallies(places: Iterable[Place]) -> dict[str, dict[str, Tally]]:
    """By bot: of all its decisions ("all") and of each phase."""
    from engine.analysis import PHASES, Tally

    found: dict[str, dict[str, Tally]] = {}
    for place in places:
        mine = found.setdefault(place.bot, {phase: Tally() for phase in ("all", *PHASES)})
        mine["all"].add(place.board, place.judged.lost)
        mine[place.judged.phase].add(place.board, place.judged.lost)
    return found


def _plain(tally: Tally) -> dict[str, Any]:
    return {
        "decisions": tally.decisions,
        "judged": tally.judged,
        "right": tally.right,
        "lost": tally.lost,
        "margin": tally.margin,
    }


def _unit(replay: Mapping[str, Any]) -> str:
    from engine.game import load

    return str(load(replay["game"], players=replay["players"], **replay["options"]).score_unit)


def _print(
    places: Sequence[Place],
    tallies: Mapping[str, Mapping[str, Tally]],
    replay: Mapping[str, Any],
    args: argparse.Namespace,
) -> None:
    from engine.analysis import PHASES
    from engine.compiled import COMPILED

    unit = _unit(replay)
    how = (
        "with all cards open"
        if args.fair is None
        else f"over {args.fair} deals that the seat could not tell from the real one"
    )
    print(f"{replay['game']}: {unit} lost a decision, {how}\n")
    rows = [
        [
            bot,
            by["all"].decisions,
            by["all"].judged,
            _mean(by["all"]),
            _share(by["all"]),
            *(_mean(by[one], False) for one in PHASES),
        ]
        for bot, by in tallies.items()
    ]
    print_table(["bot", "decisions", "judged", "lost", "nothing lost", *PHASES], rows)
    worst = sorted((one for one in places if one.judged.lost), key=lambda one: -(one.judged.lost or 0))[:WORST]
    if worst:
        print("\nWhat cost most:")
    for one in worst:
        judged = one.judged
        error = f" ± {1.96 * judged.error:.1f}" if judged.samples else ""
        print(
            f"  board {one.board}, sitting {one.sitting}, after {judged.step} actions: {one.bot} in seat {judged.seat}, {judged.action}:"
            f" {judged.lost:.4g}{error} {unit}; best {' or '.join(judged.best)}"
        )
        if judged.line:
            paragraph(", ".join(f"{move.seat}: {move.action}" for move in judged.line), "    ")
    print()
    unknown = sum(by["all"].decisions - by["all"].judged for by in tallies.values())
    if unknown:
        more = "" if COMPILED else " Compiled rules (make fast) see much further."
        paragraph(
            f"{unknown} decisions could not be judged: the deal is not between two sides, or the proof takes too long (--nodes).{more}"
        )
    if args.fair is None:
        paragraph(
            "With all cards open: who lost nothing may have been lucky, and who lost could perhaps not know better. See --fair."
        )
    else:
        paragraph(
            "An estimate over deals; from the next card on all seats are taken to see all cards, so bluff and caution count for nothing."
        )


def _mean(tally: Tally, interval: bool = True) -> str:
    if tally.lost is None:
        return "-"
    return f"{tally.lost:.2f}" + (f" ± {tally.margin:.2f}" if interval and tally.margin is not None else "")


def _share(tally: Tally) -> str:
    return f"{tally.right / tally.judged:.0%}" if tally.judged else "-"
