"""`tute analyse`: how much each decision of a logged match cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from engine.cli import remote
from engine.cli.output import command, json_flag, paragraph, print_json, print_table, progress, seats
from engine.cli.problem import OK, Problem, require
from engine.cli.repro import documents

if TYPE_CHECKING:
    from engine.analysis import Judged, Tally

EXAMPLE = """
tute analyse games.jsonl
tute analyse games.jsonl --fair 16
tute analyse h7k2m9xq4d --league https://tute.example --board 3
"""
DETAILS = """
Costs are in units of the board score, assuming that all seats see all cards from then on. With --fair they are averages over
deals that agree with what the seat knew, so a bot is not blamed for what it could not know; that is an estimate with an error, and the time
grows with the number of deals. LOG is the output of tute play --log, the log of a whole match from the site, or the id of a match there.

Decisions that cannot be solved within a limit are reported as not judged: deals that are not between two sides; with Python source,
everything but endings; with compiled rules (make fast), the first tricks of most games.
"""
WORST = 5  # Number of decisions printed; --json has all.


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "analyse", "compute how much each decision of a logged match cost", EXAMPLE, DETAILS)
    parser.add_argument("log", metavar="LOG|ID")
    remote.add_league_flag(parser)
    parser.add_argument(
        "--fair",
        type=int,
        metavar="DEALS",
        help="average over this many deals that the seat could not tell from the real one",
    )
    parser.add_argument("--board", type=int, metavar="N", help="only this board")
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="limit of search nodes per action; a larger one judges more decisions"
    )
    parser.add_argument(
        "--lines",
        action="store_true",
        help="with open cards: also show best play after the best action",
    )
    json_flag(parser)


@dataclass(frozen=True, slots=True)
class JudgedDecision:
    """A judged decision, and its place in the match."""

    board: int
    sitting: int
    bot: str
    judged: Judged


def run(args: argparse.Namespace) -> int:
    """Analyse the log, summarise it and print the result."""
    from engine.analysis import JUDGE
    from engine.compiled import COMPILED
    from engine.replay import ReplayError

    require(args, fair=2, nodes=1)
    if args.lines and args.fair is not None:
        raise Problem("--lines needs open cards, because several deals have no common line; leave --fair out")
    try:
        replays = [
            replay for replay in documents(args.log, args.league) if args.board in (None, replay["meta"]["board"])
        ]
        if not replays:
            raise Problem(f"{args.log} has no board {args.board}" if args.board is not None else f"{args.log} is empty")
        places = list(_judged(replays, args))
    except (ReplayError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Problem(f"{args.log}: {error}") from None
    tallies = _tallies(places)
    if args.json:
        how = {"fair": args.fair} if args.fair is not None else {}
        document = {"format": "tute-analysis/1", "judge": JUDGE, "compiled": COMPILED, "unit": _unit(replays[0]), **how}
        rows = [
            {"board": place.board, "sitting": place.sitting, "bot": place.bot, **asdict(place.judged)}
            for place in places
        ]
        bots = [
            {"bot": bot, **{phase: _plain(tally) for phase, tally in tally_by_phase.items()}}
            for bot, tally_by_phase in tallies.items()
        ]
        print_json(document | {"bots": bots, "decisions": rows})
        return OK
    _print(places, tallies, replays[0], args)
    return OK


def _judged(replays: Sequence[Mapping[str, Any]], args: argparse.Namespace) -> Iterator[JudgedDecision]:
    from engine.analysis import USUAL_NODES, fairly, with_open_cards

    nodes = args.nodes or USUAL_NODES
    with progress("analysing") as advance:
        for finished, replay in enumerate(replays):
            advance(finished, len(replays))
            meta = replay["meta"]
            bots = [meta["parties"][party] for party in meta["seating"]]
            deals = (
                with_open_cards(replay, nodes, lines=args.lines)
                if args.fair is None
                else fairly(replay, args.fair, nodes)
            )
            for deal in deals:
                for judged in deal:
                    yield JudgedDecision(meta["board"], meta["sitting"], bots[judged.seat], judged)
        advance(len(replays), len(replays))


def _tallies(places: Iterable[JudgedDecision]) -> dict[str, dict[str, Tally]]:
    """Return tallies by bot and phase; "all" counts the decisions of all phases."""
    from engine.analysis import PHASES, Tally

    tallies: dict[str, dict[str, Tally]] = {}
    for place in places:
        tally_by_phase = tallies.setdefault(place.bot, {phase: Tally() for phase in ("all", *PHASES)})
        tally_by_phase["all"].add(place.board, place.judged.lost)
        tally_by_phase[place.judged.phase].add(place.board, place.judged.lost)
    return tallies


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
    places: Sequence[JudgedDecision],
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
    print(f"{replay['game']}: {unit} lost per decision, {how}\n")
    rows = [
        [
            bot,
            tally_by_phase["all"].decisions,
            tally_by_phase["all"].judged,
            _mean(tally_by_phase["all"]),
            _share(tally_by_phase["all"]),
            *(_mean(tally_by_phase[phase], False) for phase in PHASES),
        ]
        for bot, tally_by_phase in tallies.items()
    ]
    print_table(["bot", "decisions", "judged", "lost", "nothing lost", *PHASES], rows)
    worst = sorted((place for place in places if place.judged.lost), key=lambda place: -(place.judged.lost or 0))[
        :WORST
    ]
    if worst:
        print("\nCostliest decisions:")
    for place in worst:
        judged = place.judged
        error = f" ± {1.96 * judged.error:.1f}" if judged.samples else ""
        print(
            f"  board {place.board}, {seats(place.sitting)}, after {judged.step} actions: {place.bot} in seat {judged.seat + 1}, {judged.action}:"
            f" {judged.lost:.4g}{error} {unit}; best {' or '.join(judged.best)}"
        )
        if judged.line:
            paragraph(", ".join(f"{move.seat + 1}: {move.action}" for move in judged.line), "    ")
    print()
    unknown = sum(tally_by_phase["all"].decisions - tally_by_phase["all"].judged for tally_by_phase in tallies.values())
    if unknown:
        more = "" if COMPILED else " Compiled rules (make fast) search much further."
        paragraph(
            f"{unknown} decisions could not be judged: the deal is not between two sides, or the search takes too long (--nodes).{more}"
        )
    if args.fair is None:
        paragraph(
            "With all cards open: a bot that lost nothing may have been lucky, and one that lost something could perhaps not know better. See --fair."
        )
    else:
        paragraph(
            "An estimate over deals. From the next card on every seat is assumed to see all cards, so bluff and caution count for nothing."
        )


def _mean(tally: Tally, interval: bool = True) -> str:
    if tally.lost is None:
        return "-"
    return f"{tally.lost:.2f}" + (f" ± {tally.margin:.2f}" if interval and tally.margin is not None else "")


def _share(tally: Tally) -> str:
    return f"{tally.right / tally.judged:.0%}" if tally.judged else "-"
