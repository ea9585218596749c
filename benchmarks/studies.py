"""The lab's reports and the studies of docs/studies: boards between house bots, then data, pictures and the tables of the pages.

    .venv/bin/python benchmarks/studies.py [reports exchange phases pages ...] [--boards 192] [-g GAME ...]

    reports   docs/studies/lab/GAME.json: each game and its variants in docs/studies/variants
    exchange  docs/studies/exchange.json: guiñote with and without its exchange, with the same cards
    phases    docs/studies/phases.json: `counting` with the choices of `champion` in one part of a deal (compile first: make fast)
    exploitability  docs/studies/exploitability.json: how far each house bot can be exploited (a night; compile first; only if named)
    pages     the tables and pictures of the pages, from these files

Without a name it does all but exploitability. Boards are stored as by `tute lab`, and probes in the data, so the command goes on where
it was stopped. Games of several deals get half of the boards, those of many sides a sixth.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

from engine.cli import table  # noqa: E402
from engine.cli.lab import measure  # noqa: E402
from engine.compiled import described  # noqa: E402
from engine.game import declared, games  # noqa: E402
from engine.lab.picture import chart, seats  # noqa: E402
from engine.lab.report import mean_of, quotient, rounded  # noqa: E402
from engine.lab.variants import Variant, read  # noqa: E402
from engine.lab.words import NUMBER, PERCENT, WHOLE, interval  # noqa: E402
from engine.responding import two_sided  # noqa: E402
from engine.sandbox import Sandbox  # noqa: E402
from engine.studying import SEED  # noqa: E402

STUDIES = ROOT / "docs" / "studies"
PAIR = ("counting", "greedy")  # Quick enough for every game on two cores.
GUINOTE, NO_EXCHANGE = Variant("guinote"), "guinote-no-exchange"
PHASES_GAME = "two_player"
PHASES = {"first": (24, 13), "second": (12, 1), "third": (0, 0), "all": (24, 0)}  # Cards in the stock, from and to.
# Bot, the weakest first: training boards, boards of practice, test boards of its probe.
PROBES = {
    "random": (24, 12_800, 60),
    "greedy": (24, 12_800, 60),
    "counting": (24, 12_800, 100),
    "deep": (24, 12_800, 100),
    "champion": (24, 12_800, 100),
}
MIXED = '''"""`champion` while the stock has {most} to {least} cards, else `counting`."""

from bot import ChampionBot
from tute_bot import View, run


class MixedBot(ChampionBot):
    """Two bots, by the stock."""

    name = "{name}"

    def act(self, view: View, legal: list[str]) -> str:
        """Return the choice of the bot that is on."""
        return super().act(view, legal) if {least} <= view.stock <= {most} else self.counting.act(view, legal)


if __name__ == "__main__":
    run(MixedBot())
'''


def write(path: Path, value: Any) -> None:
    """Write data as JSON, one report or number a line."""
    if isinstance(value, list):
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in value)
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def stored(name: str) -> Any:
    """Read data of an earlier run."""
    return json.loads((STUDIES / name).read_text(encoding="utf-8"))


def variants(key: str) -> Iterator[Variant]:
    """Yield the usual rules of a game, then its variants."""
    yield Variant(key)
    for path in sorted((STUDIES / "variants").glob("*.toml")):
        variant = read(path)
        if variant.game == key:
            yield variant


def reports(keys: Sequence[str], boards: int, box: Sandbox) -> None:
    """Play and write the reports of these games."""
    for key in keys:
        game = Variant(key).load()
        whole_games = game.board_deals is None
        number = max(2, boards // (1 if not whole_games else 2 if len(game.sides) == 2 else 6))
        write(
            STUDIES / "lab" / f"{key}.json",
            [measure(variant, PAIR, number, SEED, box)[0] for variant in variants(key)],
        )


def exchange(boards: int, box: Sandbox) -> None:
    """Compare guiñote with and without its exchange, sitting by sitting with the same cards and bots."""
    usual, with_boards = measure(GUINOTE, PAIR, boards, SEED, box)
    other, without_boards = measure(read(STUDIES / "variants" / f"{NO_EXCHANGE}.toml"), PAIR, boards, SEED, box)
    gains, exchangers, sittings = [], [], []
    for board, twin in zip(with_boards, without_boards, strict=True):
        gain = count = 0.0
        for sitting, same in zip(board["sittings"], twin["sittings"], strict=True):
            for side in sitting["facts"]["exchanged"]:
                gain += _won(sitting, side) - _won(same, side)
                count += 1
        gains.append(gain)
        exchangers.append(count)
        sittings.append(float(len(board["sittings"])))
    ends = [
        float(sum(bool(sitting["facts"]["last_decides"]) for sitting in board["sittings"])) for board in with_boards
    ]
    write(
        STUDIES / "exchange.json",
        {
            "boards": boards,
            "seed": SEED,
            "bots": PAIR,
            "digests": [usual["digest"], other["digest"]],
            "exchangers": rounded(quotient(exchangers, sittings)),
            "gain": rounded(quotient(gains, exchangers)),
            "moved": rounded(quotient(gains, sittings)),
            "last": rounded(quotient(ends, sittings)),
        },
    )


def _won(sitting: dict[str, Any], side: int) -> float:
    own, other = sitting["scores"][side], sitting["scores"][1 - side]
    return (own > other) + (own == other) / 2


def phases(boards: int, box: Sandbox) -> None:
    """Measure what `champion` gains over `counting` in each part of a deal for two."""
    rows = {}
    for name, (most, least) in PHASES.items():
        folder = _mixed(f"champion-{name}", most, least)
        report, played = measure(Variant(PHASES_GAME), (str(folder), "counting"), boards, SEED, box)
        leads = [float(board["scores"][0] - board["scores"][1]) for board in played]
        rows[name] = {"lead": rounded(mean_of(leads)), "share": report["measures"]["share"], "digest": report["digest"]}
    write(STUDIES / "phases.json", {"game": PHASES_GAME, "boards": boards, "seed": SEED, "rows": rows})


def _mixed(name: str, most: int, least: int) -> Path:
    """Write a bot that is `champion` in one part of a deal."""
    folder = table.state_dir() / "studies" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "bots" / "house" / "champion", folder)
    text = (folder / "bot.toml").read_text(encoding="utf-8")
    text = text.replace('name = "champion"', f'name = "{name}"').replace('entry = "bot.py"', 'entry = "mixed.py"')
    (folder / "bot.toml").write_text(text, encoding="utf-8")
    (folder / "mixed.py").write_text(MIXED.format(name=name, most=most, least=least), encoding="utf-8")
    return folder


def exploitability(keys: Sequence[str], bots: Sequence[str]) -> None:
    """Probe house bots in the games of two sides, the weakest bot first, unless the data of the study have this probe by this code already."""
    rows = {(row["bot"], row["game"]): row for row in stored("exploitability.json")}
    probes = [
        (name, key)
        for name in PROBES
        for key in games()
        if two_sided(Variant(key).load()) and key in (table.find_bot(name).games or games())
    ]
    for name, key in probes:
        if name not in bots or key not in keys:
            continue
        words, digest = _probe(name, key)
        if (name, key) in rows and rows[name, key]["digest"] == digest:
            continue
        print(f"{name} at {key}", file=sys.stderr)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = json.loads(subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows[name, key] = {
            **{column: result[column] for column in ("game", "players", "bot", "unit", "seed", "tested", "trained")},
            **{column: result[column] for column in ("practised", "foreseen")},
            "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
            "rules": described(),
            "digest": digest,
        }
        write(STUDIES / "exploitability.json", [rows[probe] for probe in probes if probe in rows])


def _probe(name: str, key: str) -> tuple[list[str], str]:
    """Return the command of a probe, and a digest of all that its result follows from, but for the rules."""
    tries, episodes, boards = PROBES[name]
    numbers = ("--tries", tries, "--episodes", episodes, "--boards", boards, "--seed", SEED)
    words = ["probe", name, "-g", key, "--learned", *map(str, numbers), "--no-sandbox", "--json"]
    sources = [(ROOT / "engine" / module).read_bytes() for module in ("probing.py", "responding.py")]
    bots = [table.find_bot(bot).sha256 for bot in PROBES]
    digest = sha256(b"\n".join([*(word.encode() for word in [*words, *bots]), *sources])).hexdigest()
    return [sys.executable, "-m", "engine.cli", *words], digest


def replace_table(name: str, head: str, rows: Sequence[Sequence[str]]) -> None:
    """Replace the table of a page that begins with this head."""
    path = STUDIES / name
    text = path.read_text(encoding="utf-8")
    lines = [head, re.sub(r"[^|]+", " --- ", head), *("| " + " | ".join(row) + " |" for row in rows)]
    pattern = re.compile(re.escape(head) + r"\n(\|.*\n)*")
    if not pattern.search(text):
        raise SystemExit(f"{path} has no table that begins with {head!r}")
    path.write_text(pattern.sub(lambda _: "\n".join(lines) + "\n", text), encoding="utf-8")


def pages() -> None:
    """Write the tables and pictures of the pages."""
    usual = [stored(f"lab/{key}.json")[0] for key in games() if (STUDIES / "lab" / f"{key}.json").exists()]

    def title(report: dict[str, Any]) -> str:
        return declared(report["game"]).title

    by_luck = sorted(usual, key=lambda report: -(report["measures"]["luck"] or [0.0])[0])
    shapes = (("luck", PERCENT), ("share", PERCENT), ("boards_needed", WHOLE), ("drawn", PERCENT))
    replace_table(
        "luck.md",
        "| game | players | boards | luck | better bot wins | boards to tell them apart | drawn |",
        [
            [
                title(r),
                str(r["players"]),
                str(r["boards"]),
                *(interval(form, r["measures"][name]) for name, form in shapes),
            ]
            for r in by_luck
        ],
    )
    picture = chart("Luck in a board", [(title(r), [r["measures"]["luck"]]) for r in by_luck])
    (STUDIES / "luck.svg").write_text(picture, encoding="utf-8")

    replace_table(
        "lead.md",
        "| game | players | unit | leads first | next places |",
        [
            [
                title(r),
                str(r["players"]),
                r["unit"],
                interval(NUMBER, r["seats"][0], signed=True),
                "; ".join(interval(NUMBER, seat, signed=True) for seat in r["seats"][1:]),
            ]
            for r in usual
        ],
    )
    in_points = [r for r in usual if r["unit"] == "points"]
    picture = seats("Advantage of the first lead, points", [(title(r), [r["seats"][0]]) for r in in_points])
    (STUDIES / "lead.svg").write_text(picture, encoding="utf-8")

    data = stored("exchange.json")
    texts = (
        ("Sides that exchange, both of a game added", "exchangers"),
        ("Games that an exchange gains its side", "gain"),
        ("Games that the exchange moves", "moved"),
        ("Games that the last trick's ten decides", "last"),
    )
    replace_table(
        "exchange.md", "| what | of 100 games |", [[text, interval(PERCENT, data[name])] for text, name in texts]
    )
    picture = chart("Guiñote: games of 100", [(text, [data[name]]) for text, name in texts[2:]])
    (STUDIES / "exchange.svg").write_text(picture, encoding="utf-8")

    rows = stored("phases.json")["rows"]
    parts = {"first": "24 to 13 cards in the stock", "second": "12 to 1", "third": "stock empty", "all": "whole deal"}
    replace_table(
        "phases.md",
        "| champion chooses | lead a board, points | wins |",
        [[parts[n], interval(NUMBER, r["lead"], signed=True), interval(PERCENT, r["share"])] for n, r in rows.items()],
    )
    picture = seats("What champion gains, points a board", [(parts[n], [r["lead"]]) for n, r in rows.items()])
    (STUDIES / "phases.svg").write_text(picture, encoding="utf-8")

    probes = stored("exploitability.json")
    replace_table(
        "exploitability.md",
        "| game | bot | searched, a board | by | learned, a board | at least, Elo | boards | CPU, s |",
        [
            [
                title(r),
                r["bot"],
                _won_by(r["tested"][0], r["unit"]),
                r["tested"][0]["response"],
                _won_by(r["tested"][1], r["unit"]),
                interval(WHOLE, _larger(r)["elo"], signed=True),
                str(r["tested"][0]["boards"]),
                str(r["cpu_s"]),
            ]
            for key in games()
            for r in probes
            if r["game"] == key
        ],
    )
    elo = {(r["game"], r["bot"]): _larger(r)["elo"] for r in probes}
    rows_of_chart = [
        (declared(key).title, [elo.get((key, name)) for name in PROBES])
        for key in games()
        if any(game == key for game, _ in elo)
    ]
    picture = chart("Exploited by at least, Elo", rows_of_chart, list(PROBES), NUMBER)
    (STUDIES / "exploitability.svg").write_text(picture, encoding="utf-8")


def _larger(row: dict[str, Any]) -> dict[str, Any]:
    """Return the response that won more."""
    return max(row["tested"], key=lambda response: response["ahead"])


def _won_by(response: dict[str, Any], unit: str) -> str:
    text = f"{response['ahead']:+.2f} ± {response['margin']:.2f} {unit}"
    return text if response["clear"] else f"{text}, none shown"


def main() -> None:
    """Do the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("reports", "exchange", "phases", "pages")
    parser.add_argument(
        "parts",
        nargs="*",
        choices=[*names, "exploitability", []],
        default=[],
        help="all but exploitability if none is named",
    )
    parser.add_argument("--boards", type=int, default=192, help="boards of each table (192)")
    parser.add_argument(
        "-g", "--game", action="append", help="only the reports and probes of this game (may be repeated)"
    )
    parser.add_argument("--bot", action="append", choices=PROBES, help="only the probes of this bot (may be repeated)")
    chosen = parser.parse_args()
    parts = chosen.parts or names
    box = Sandbox(tier="none", state_dir=table.state_dir())
    if "reports" in parts:
        reports(chosen.game or games(), chosen.boards, box)
    if "exchange" in parts:
        exchange(chosen.boards, box)
    if "phases" in parts:
        phases(chosen.boards, box)
    if "exploitability" in parts:
        exploitability(chosen.game or games(), chosen.bot or list(PROBES))
    if "pages" in parts:
        pages()


if __name__ == "__main__":
    main()
