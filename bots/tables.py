"""Write the rules that bots carry with them: `python -m bots.tables`, part of `make texts`.

The SDK and the library of each kit are single files that stand alone, so they cannot import the engine. This module writes their tables between two
marks, and copies the rule of a trick into the house bot `counting`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import engine
from engine.errors import OptionError
from engine.game import ORDINARY, declared
from engine.rules.following import CODE, CODES, EXEMPTIONS, STRICT, demands, duty_of
from engine.rules.options import Range, word
from engine.rules.parameters import Rules
from engine.rules.resolving import at_table, choices

SDK = Path(__file__).parent / "sdk" / "tute_bot.py"
BEGIN = "# >>> written by `make texts` from engine/games; do not edit\n"
END = "# <<< written by `make texts`\n"
WIDTH = 120  # longest line of the formatter
# the parameters of the rules book that a bot may ask for, in the order of `Rules`
CARRIED = (
    "sides", "deck", "rank_order", "rank_points", "auction", "auction_rounds", "soloist_partner", "passed_may_join",
    "first_leader", "obligation_stock_open", "obligation_stock_empty", "partner_exempt", "undertrump",
    "beat_after_trumped", "no_load", "trump_dynamics", "trump_cycle", "hand_songs", "pair_ranks", "song_values",
    "song_order", "song_min_stock", "table_songs", "tute", "tute_ranks", "tute_first_trick_only", "capote",
    "last_trick_bonus", "result", "tricks_soloist", "tricks_joiner", "target", "claim_mode", "settlement",
    "illegal_move",
)  # fmt: skip

# The parameters that the libraries of the kits use.
KIT = (
    "sides", "deck", "rank_order", "rank_points", "auction", "passed_may_join", "call_own_card", "obligation_stock_open", "obligation_stock_empty",
    "partner_exempt", "undertrump", "beat_after_trumped", "no_load", "hand_songs", "pair_ranks", "songs_per_trick", "song_order",
    "song_values", "table_songs", "sing_first_trick_only", "singing_mandatory", "tute", "tute_ranks",
    "tute_first_trick_only", "last_trick_bonus", "result", "target", "settlement", "illegal_move",
)  # fmt: skip
_KITS = SDK.parents[1] / "kits"
# The rule of a trick, and its copy in the house bot `counting`.
RULE = SDK.parents[2] / "engine" / "rules" / "following.py"
FOLLOWING = SDK.parents[1] / "house" / "counting" / "following.py"

Table = dict[str, Any]


def carried(rules: Rules, names: tuple[str, ...] = CARRIED) -> Table:
    """Return parameters of rules by name, with words in place of functions; by default the parameters of the SDK."""
    return {name: word(getattr(rules, name)) for name in names}


def ordinary(names: tuple[str, ...] = CARRIED) -> Table:
    """Return the parameters of ordinary Tute, from which a game differs."""
    return carried(ORDINARY, names)


def game(key: str, names: tuple[str, ...] = CARRIED) -> Table:
    """Return the parameters in which a game differs from ordinary Tute; a value that depends on the number of players is a mapping."""
    tables = {players: carried(at_table(declared(key), {}, players), names) for players in _players(key)}
    return {name: value for name, value in _merged(tables).items() if value != ordinary(names)[name]}


def implied(key: str, names: tuple[str, ...] = CARRIED) -> dict[str, Table]:
    """Return, for each 'option=value' of a game, the further parameters that it sets."""
    further: dict[str, Table] = {}
    for name, value in _values(key):
        changes = {}
        for players in _players(key):
            try:
                changed = at_table(declared(key), {name: value}, players)
            except OptionError:
                continue  # This table does not have the option, or only together with another one.
            usual = carried(at_table(declared(key), {}, players), names) | {name: value}
            changes[players] = {n: v for n, v in carried(changed, names).items() if v != usual[n]}
        if any(changes.values()):
            further[f"{name}={value}"] = _merged(changes)
    return further


def text() -> str:
    """Return the part of the SDK between the marks."""
    games = {key: game(key) for key in engine.games()}
    further = {key: tables for key in engine.games() if (tables := implied(key))}
    return "".join(
        [
            f"_TUTE: dict[str, Any] = {_literal(ordinary(), 0, len('_TUTE: dict[str, Any] = '))}\n",
            f"_GAMES: dict[str, dict[str, Any]] = {_literal(games, 0, len('_GAMES: dict[str, dict[str, Any]] = '))}\n",
            f"_IMPLIED: dict[str, dict[str, dict[str, Any]]] = {_literal(further, 0, WIDTH)}\n",
        ]
    )


def rewritten(sdk: str) -> str:
    """Return the source of the SDK with its tables brought up to date."""
    return _between(sdk, BEGIN, text(), END)


def duties() -> dict[str, str]:
    """Return what each duty demands of a follower (`engine.rules.following.demands`), for the kits.

    A key is the word of an obligation; for "strict", `partner_exempt`, `undertrump` and `beat_after_trumped` follow it. A value is two digits per
    situation, then 1 where `no_load` counts.
    """
    strict = [
        (f"strict {exempt} {_json(undertrump)} {_json(beat)}", duty_of("strict", undertrump, beat, exempt, False))
        for exempt in EXEMPTIONS
        for undertrump in (False, True)
        for beat in (False, True)
    ]
    words = [(word, code) for word, code in CODES.items() if code != STRICT]
    return {
        name: "".join(f"{of_led}{of_trumps}" for of_led, of_trumps in demands(duty)) + str(int(duty & CODE == STRICT))
        for name, duty in words + strict
    }


@cache
def kit_rows() -> list[str]:
    """Return the tables of the kits as lines of one JSON object. A value that depends on the number of players has keys such as `4p`."""
    games = {key: _kit(game(key, KIT)) for key in engine.games()}
    further = {
        key: {value.replace("=True", "=true"): _kit(table) for value, table in tables.items()}
        for key in engine.games()
        if (tables := implied(key, KIT))
    }
    head = f'{{"demands":{_json(duties())},"tute":{_json(_kit(ordinary(KIT)))},"games":{{'
    rows = [f'"{key}":{_json(table)},' for key, table in games.items()]
    rows[-1] = rows[-1].removesuffix(",")
    return [head, *rows, f'}},"implied":{_json(further)}}}']


def _c_table(rows: list[str]) -> str:
    lines = ["    " + json.dumps(row) for row in rows]
    return "static const char RULES[] =\n" + "\n".join(lines) + ";\n"


def _js_table(rows: list[str]) -> str:
    return "const RULES = " + "\n  ".join(rows) + ";\n"


def _rust_table(rows: list[str]) -> str:
    return 'const RULES: &str = r#"' + "\n".join(rows) + '"#;\n'


def _java_table(rows: list[str]) -> str:
    lines = "".join(f"        {json.dumps(row)},\n" for row in rows)  # In parts: a constant has at most 64 KiB.
    return "    private static final String[] RULES = {\n" + lines + "    };\n    "


def _go_table(rows: list[str]) -> str:
    return "const rulesOfGames = `" + "\n".join(rows) + "`\n\n"  # gofmt wants an empty line.


# The library of each kit, and the function that writes the rows in its language.
KIT_TABLES: dict[Path, Callable[[list[str]], str]] = {
    _KITS / "c" / "tute.h": _c_table,
    _KITS / "go" / "tute.go": _go_table,
    _KITS / "java" / "Tute.java": _java_table,
    _KITS / "javascript" / "tute.mjs": _js_table,
    _KITS / "rust" / "tute.rs": _rust_table,
}


# The words of the README of each kit: the language, the endings of its sources and libraries, the text of a card, a deal, a line of the log, and the
# command that makes a program of it.
READMES = {
    "c": (
        "C", "c", "h", "view->name[card]",
        r'Deal one; if (deal(view, &view->seed, &one)) fprintf(stderr, "%d cards\n", count(one.hands[0]));',
        r'fprintf(stderr, "trump %c\n", view->trump);', "gcc -O2 -o ../my_bot bot.c",
    ),
    "cpp": (
        "C++", "cpp", "h", "view->name[card]",
        r'Deal one; if (deal(view, &view->seed, &one)) std::cerr << count(one.hands[0]) << " cards\n";',
        r'std::cerr << "trump " << view->trump << "\n";', "g++ -std=c++20 -O2 -o ../my_bot bot.cpp",
    ),
    "go": (
        "Go", "go", "go", "view.Name[card]", 'if one := view.Deal(); one != nil { Log(Count(one.Hands[0]), "cards") }',
        'Log("trump", string(view.Trump))', "go build -o ../my_bot .",
    ),
    "java": (
        "Java", "java", "java", "view.name[card]", 'Deal one = view.deal(); if (one != null) Tute.log(Tute.count(one.hands[0]) + " cards");',
        'Tute.log("trump " + view.trump);', "javac -d ../my_bot *.java",
    ),
    "javascript": (
        "JavaScript", "mjs", "mjs", "view.name[card]", 'const one = view.deal(); if (one) console.error(one.hands[0].size, "cards");',
        'console.error("trump", view.trump);', "",
    ),
    "typescript": (
        "TypeScript", "mts", "mjs", "view.name[card]", 'const one = view.deal(); if (one) console.error(one.hands[0].size, "cards");',
        'console.error("trump", view.trump);', "tsc --target es2022 --module nodenext --outDir ../my_bot *.mts && cp *.mjs ../my_bot",
    ),
    "rust": (
        "Rust", "rs", "rs", "view.name[card as usize]",
        'if let Some(one) = view.deal() { eprintln!("{} cards", one.hands[0].count_ones()); }',
        'eprintln!("trump {}", view.trump);', "rustc --edition 2021 -O -o ../my_bot bot.rs",
    ),
}  # fmt: skip


def readme(kit: str) -> str:
    """Return the README of a kit."""
    words = ("title", "ending", "library", "name", "deal", "log", "build")
    values = dict(zip(words, READMES[kit], strict=True))
    programs = {"java": "java -cp ../my_bot Bot", "javascript": "node bot.mjs", "typescript": "node ../my_bot/bot.mjs"}
    values["program"] = programs.get(kit, "../my_bot")
    values["build"] += " && " if values["build"] else ""
    text = Template((_KITS / "README.template.md").read_text(encoding="utf-8")).substitute(values)
    return re.sub(
        r"`(bot|sense|tute)\.java`", lambda file: file[0].title().replace("Java", "java"), text
    )  # As classes.


def rewritten_kit(library: Path) -> str:
    """Return the source of a kit's library with its tables brought up to date."""
    begin, end = BEGIN.replace("#", "//", 1), END.replace("#", "//", 1)
    return _between(library.read_text(encoding="utf-8"), begin, KIT_TABLES[library](kit_rows()), end)


def _between(source: str, begin: str, tables: str, end: str) -> str:
    before, _, rest = source.partition(begin)
    _, _, after = rest.partition(end)
    return before + begin + tables + end + after


def _kit(table: Table) -> Table:
    """Return a table as the kits carry it: numbers of players become `4p`, so that they differ from ranks."""
    return {name: _by_players(value) for name, value in table.items()}


def _by_players(value: Any) -> Any:
    if isinstance(value, dict) and all(isinstance(players, int) for players in value):
        return {f"{players}p": choice for players, choice in value.items()}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _players(key: str) -> tuple[int, ...]:
    return tuple(sorted(declared(key).players))


def _values(key: str) -> list[tuple[str, Any]]:
    """Return each option with each of its words; for a range of whole numbers, the least and, if there is one, the highest."""
    pairs: dict[tuple[str, str], tuple[str, Any]] = {}
    for players in _players(key):
        for name, choice in choices(declared(key), players).items():
            values = (choice.low, choice.high) if isinstance(choice, Range) else map(word, choice)
            for value in values:
                if value is not None:
                    pairs[name, repr(value)] = name, value
    return list(pairs.values())


def _merged(tables: Mapping[int, Table]) -> Table:
    """Merge tables by number of players: a value that is the same in all tables stays unchanged, others become mappings by number of players."""
    merged: Table = {}
    for name in dict.fromkeys(name for table in tables.values() for name in table):
        values = {players: table[name] for players, table in tables.items() if name in table}
        first = next(iter(values.values()))
        agree = all(value == first for value in values.values()) and len(values) == len(tables)
        merged[name] = first if agree else values
    return merged


def _literal(value: Any, depth: int, used: int) -> str:
    """Return the Python source of plain data, as the formatter writes it. `used`: number of characters before and after it on its line."""
    flat = _flat(value)
    if not isinstance(value, dict) or used + len(flat) <= WIDTH:
        return flat
    inner = "    " * (depth + 1)
    lines = [
        f"{inner}{_flat(name)}: {_literal(part, depth + 1, len(inner) + len(_flat(name)) + 3)},\n"
        for name, part in value.items()
    ]
    return "{\n" + "".join(lines) + "    " * depth + "}"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flat(name)}: {_flat(part)}" for name, part in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    SDK.write_text(rewritten(SDK.read_text(encoding="utf-8")), encoding="utf-8")
    for kit in KIT_TABLES:
        kit.write_text(rewritten_kit(kit), encoding="utf-8")
    for name in READMES:
        (_KITS / name / "README.md").write_text(readme(name), encoding="utf-8")
    FOLLOWING.write_bytes(RULE.read_bytes())
    print(f"{SDK.name} and the kits: {len(engine.games())} games")
