"""The libraries of the language kits know what the engine's `Knowledge` and the view of the SDK know, and deal by it."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

import engine
from bots import tables
from engine.search.knowledge import Knowledge
from tests.bots.harness import ROOT, tute_bot
from tests.support import languages
from tests.support.parts import mostly_slow

KITS = ROOT / "bots" / "kits"
PROGRAMS = Path(__file__).parent / "kits"
MOST = 200  # placements of an ending that are dealt EACH times
EACH = 20
# games of `make test`; `make slow` has all others
QUICK = ("partnership", "cabrero", "a_dos")
# tables at which seats have duties that no game has by itself, or whose plays prove something else
DUTIES: list[tuple[str, dict[str, Any]]] = [
    ("partnership", {"singing_mandatory": True}),
    (
        "partnership",
        {"singing_mandatory": True, "hand_songs": "winning_side", "songs_per_trick": "many", "tute_ranks": "R"},
    ),
    ("partnership", {"singing_mandatory": True, "song_order": "forty_first_side", "tute_first_trick_only": True}),
    ("partnership", {"singing_mandatory": True, "sing_first_trick_only": True, "tute": "none", "song_order": "any"}),
    ("partnership", {"beat_after_trumped": True, "undertrump": True}),
    ("guinote", {"players": 4, "hide_arrastre_twenty": True}),
    ("guinote", {"players": 3, "form": "stock6", "hide_arrastre_twenty": True}),
    ("arrastrado", {"exchange_duty": "must", "no_load": True}),
    ("cabrero", {"players": 3, "exchange_duty": "must", "exchange_chain": False}),
    ("cabrero", {"players": 3, "exchange_duty": "must", "no_load": True, "undertrump": True}),
    ("cabrero", {"players": 4, "illegal_move": "two_marks"}),
    ("cabrero", {"players": 4, "illegal_move": "accuse"}),
    ("a_dos", {"illegal_move": "accuse", "no_load": True}),
    (
        "partnership",
        {"no_load": True, "beat_after_trumped": True, "rank_order": "13RSC76542", "singing_mandatory": True},
    ),
    ("gana_pierde_3", {"no_load": True, "rank_order": "13RSC7654"}),
    ("bato", {"no_load": True}),
    ("two_player", {"hand_size": 10}),
    ("codillo", {"call_own_card": "solo"}),
    ("gana_pierde_4_5", {"no_load": True, "undertrump": True}),
    ("subastado", {"no_load": True}),
]

Facts = dict[str, Any]


def in_c() -> list[str]:
    library = (KITS / "c" / "tute.h",)
    options = ("-Wall", "-Wextra", "-Werror", "-O2")
    return [str(languages.build("cc", *options, source=PROGRAMS / "view.c", beside=library))]


def in_go() -> list[str]:
    library = (KITS / "go" / "tute.go", KITS / "go" / "go.mod")
    return [str(languages.build("go", "build", source=PROGRAMS / "view.go", beside=library))]


def in_java() -> list[str]:
    library = (KITS / "java" / "Tute.java",)
    classes = languages.build("javac", *languages.STRICT_JAVA, source=PROGRAMS / "Facts.java", beside=library)
    return [*languages.JAVA, str(classes), "Facts"]


def in_javascript() -> list[str]:
    return [languages.find("node"), str(PROGRAMS / "view.mjs"), str(KITS / "javascript" / "tute.mjs")]


def in_rust() -> list[str]:
    library = (KITS / "rust" / "tute.rs",)
    return [str(languages.build("rustc", "-O", "-D", "warnings", source=PROGRAMS / "view.rs", beside=library))]


LANGUAGES: dict[str, Callable[[], list[str]]] = {
    "c": in_c,
    "go": in_go,
    "java": in_java,
    "javascript": in_javascript,
    "rust": in_rust,
}


@pytest.fixture(scope="module", params=mostly_slow(sorted(LANGUAGES), ("c", "javascript").__contains__))
def program(request: pytest.FixtureRequest) -> list[str]:
    """Return the command that prints the view of a kit. Without the tool for it the test fails; it is not skipped."""
    return LANGUAGES[request.param]()


class Recorded:
    """The requests to one seat of a random match, with Python's knowledge at each."""

    def __init__(self, game: engine.Game, seed: int, seat: int, deals: int = 2) -> None:
        dice = random.Random(seed)
        state = game.new_match(seed=seed, deals=deals)
        hello = {
            "type": "hello", "protocol": 1, "game": game.key, "revision": 1, "options": game.options,
            "seats": game.players, "seat": seat, "sides": [list(side) for side in game.sides], "boards": 1, "limits": {}, "seed": 1,
        }  # fmt: skip
        self.lines = [json.dumps(hello)]
        self.expected: list[Facts] = []
        self.placements: list[int] = []
        session = tute_bot.Session(_First())
        session.answer(hello)
        knowledge = Knowledge(game, seat)
        reported = 0
        while not state.is_over:
            actions = state.legal_actions()
            quiet = [a for a in actions if game.action_text(a).split()[0] not in ("claim", "accuse")]
            if state.current_seat == seat and len(actions) > 1:
                events = engine.redact(state.events[reported:], seat)
                reported = len(state.events)
                legal = [game.action_text(a) for a in actions]
                request = {"type": "act", "id": len(self.lines), "events": events, "legal": legal, "bank_s": 3}
                self.lines.append(json.dumps(request, separators=(",", ":")))
                session.answer(request)
                knowledge.follow(events)
                knowledge.asked(legal)
                self.expected.append(expected(session.view, knowledge))
                self.placements.append(knowledge.deals().placements)
            state.apply(dice.choice(quiet or actions))  # a claim or an accusation by chance ends the deal

    def reports(self, command: list[str]) -> list[Facts]:
        """Return what a program prints at each request."""
        return reports_of(command, self.lines)

    def at_once(self, place: int) -> list[str]:
        """Return one request with all events before a decision."""
        requests = [json.loads(line) for line in self.lines[1 : place + 2]]
        events = [event for request in requests for event in request["events"]]
        return [self.lines[0], json.dumps(requests[-1] | {"events": events})]


def reports_of(command: list[str], lines: list[str]) -> list[Facts]:
    """Run a program and return what it prints at each request among the lines."""
    text = "".join(line + "\n" for line in lines)
    process = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=120)
    assert len(process.stdout.splitlines()) == len(lines)
    return [json.loads(line) for line in process.stderr.splitlines()]


class _First(tute_bot.Bot):
    def act(self, view: tute_bot.View, legal: list[str]) -> str:
        return legal[0]


def expected(view: tute_bot.View, knowledge: Knowledge) -> Facts:
    """Return the Python view and knowledge in the words of the programs."""
    pack = knowledge.game.pack
    facts = knowledge.deals().facts
    text = {card: pack.text(card) for card in pack.cards}

    def cards(mask: int) -> frozenset[str]:
        return frozenset(name for card, name in text.items() if mask >> card & 1)

    best = -1 if view.best is None else view.table.index(view.best)
    numbers = [view.stock, best]
    for seat in range(view.seats):
        numbers += [view.counts[seat], view.side_points(view._side_of[seat])]
    return {
        "led": view.led or "",
        "trump": view.trump or "",
        "table": [card for _, card in view.table],
        "played": view.played[:],
        "shown": [view.shown] if view.shown else [],
        "hand": set(view.hand),
        "unseen": cards(knowledge.unseen),
        "known": [set() if s == view.seat else cards(hand) for s, hand in enumerate(knowledge.known)],
        "barred": [cards(barred & knowledge.unseen) for barred in facts.barred],
        "view_lacks": [
            set() if s == view.seat else {c for c in view.unseen if not view.may_hold(s, c)} for s in range(view.seats)
        ],
        "at_most": [(fact.seat, cards(fact.cards), fact.number) for fact in facts.at_most],
        "not_all": [{cards(card_set) for s, card_set in knowledge.not_all if s == seat} for seat in range(view.seats)],
        "sung": [(singer, [cards(pair) for pair in pairs.values()]) for singer, pairs in facts.sung],
        "counts": list(knowledge.counts),
        "seat": view.seat,
        "plays": tute_bot.plays(view.legal),
        "numbers": numbers,
    }


def agree(facts: Facts, hands: list[set[str]]) -> bool:
    """Return True if hands agree with facts about several cards: drawn since a proof, not all of a set, songs whose suit is hidden."""
    return (
        all(len(hands[seat] & facts["unseen"] & cards) <= number for seat, cards, number in facts["at_most"])
        and not any(cards <= hand for hand, sets in zip(hands, facts["not_all"], strict=True) for cards in sets)
        and any(
            all(suits[number] < len(pairs) and pairs[suits[number]] <= hands[seat] for number, (seat, pairs) in songs)
            for songs in [list(enumerate(facts["sung"]))]
            for suits in permutations(range(4), len(songs))
        )
    )


def compare(here: Facts, expected_facts: Facts) -> None:
    """Check that a library knows exactly what Python knows."""
    for key in ("led", "trump", "table", "played", "shown", "plays", "numbers"):
        assert here[key] == expected_facts[key], key
    hand, unseen = (set(cards.split()) for cards in here["own"][:2])
    assert hand == expected_facts["hand"]
    assert unseen == expected_facts["unseen"]
    proved = [set(cards.split()) for cards in here["known"]]
    assert proved == expected_facts["known"]
    for seat, cards in enumerate(here["lacks"]):
        if seat == expected_facts["seat"]:
            continue
        lacks = set(cards.split())
        if expected_facts["counts"][seat] > len(proved[seat]):
            assert lacks == expected_facts["barred"][seat]
            assert lacks >= expected_facts["view_lacks"][seat] & unseen
    assert [{frozenset(cards.split()) for cards in sets} for sets in here["not_all"]] == expected_facts["not_all"]
    assert "none" not in here
    for number in range(4):
        hands = [set(cards.split()) for cards in here[f"deal{number}"]]
        assert [len(cards) for cards in hands] == [
            len(hand) if s == expected_facts["seat"] else n for s, n in enumerate(expected_facts["counts"])
        ]
        rest = here[f"rest{number}"]
        placed = [card for cards in hands for card in cards] + rest
        assert len(set(placed)) == len(placed)
        assert set(placed) == unseen | hand | set().union(*proved)
        for seat, cards in enumerate(hands):
            assert proved[seat] <= cards
            if seat != expected_facts["seat"]:
                assert not (cards - proved[seat]) & expected_facts["barred"][seat]
        assert agree(expected_facts, hands)


def compared(program: list[str], games: list[engine.Game], seeds: int) -> int:
    """Compare at every request to one seat of some matches, all put to one process; return the number of requests."""
    matches = [Recorded(game, seed, seed % game.players) for game in games for seed in range(seeds)]
    printed = reports_of(program, [line for match in matches for line in match.lines])
    for here, expected_facts in zip(printed, [facts for match in matches for facts in match.expected], strict=True):
        compare(here, expected_facts)
    return len(printed)


@pytest.mark.parametrize("key", mostly_slow(engine.games(), QUICK.__contains__))
def test_a_library_knows_what_python_knows(program: list[str], key: str) -> None:
    tables_of_game = [engine.load(key, players=players) for players in sorted(engine.load(key).declared.players)]
    assert compared(program, tables_of_game, 2) > 10


@pytest.mark.parametrize(("key", "options"), mostly_slow(DUTIES, DUTIES[5:8].__contains__), ids=str)
def test_a_library_knows_the_duties_of_a_table(program: list[str], key: str, options: dict[str, Any]) -> None:
    assert compared(program, [engine.load(key, **options)], 4) > 10


def enumerated(facts: Facts) -> set[tuple[frozenset[str], ...]]:
    """Return all placements of the hidden cards that agree with what Python knows: the hidden part of each hand."""

    def further(seat: int, remaining: frozenset[str]) -> list[tuple[frozenset[str], ...]]:
        if seat == len(facts["counts"]):
            return [()]
        need = 0 if seat == facts["seat"] else facts["counts"][seat] - len(facts["known"][seat])
        return [
            (hand, *others)
            for hand in map(
                frozenset, combinations(sorted(remaining - (facts["barred"][seat] if need else set())), need)
            )
            for others in further(seat + 1, remaining - hand)
        ]

    return {
        hidden
        for hidden in further(0, facts["unseen"])
        if agree(facts, [proved | hand for proved, hand in zip(facts["known"], hidden, strict=True)])
    }


# tables, and the fact that must leave fewer placements
ENDINGS: list[tuple[str, dict[str, Any], str]] = [
    ("brisca", {}, ""),
    ("partnership", {}, "barred"),
    ("codillo", {}, "barred"),
    ("two_player", {}, "at_most"),
    ("individual", {"players": 3}, "at_most"),
    ("partnership", {"singing_mandatory": True}, "not_all"),
    ("guinote", {"players": 3, "form": "stock6", "hide_arrastre_twenty": True}, "sung"),
]


@pytest.mark.parametrize(("key", "options", "fact"), mostly_slow(ENDINGS, ENDINGS[2:3].__contains__), ids=str)
def test_every_placement_has_the_same_chance(program: list[str], key: str, options: dict[str, Any], fact: str) -> None:
    endings = []
    for seed in range(300):
        match = Recorded(engine.load(key, **options), seed, seed % 2, deals=1)
        for place, (ways, facts) in enumerate(zip(match.placements, match.expected, strict=True)):
            if 6 <= ways <= MOST and _tells(facts, fact):
                endings.append((match, place, facts))
                break
        if len(endings) == 3:
            break
    assert len(endings) == 3

    for match, place, facts in endings:
        placements = enumerated(facts)
        number = EACH * len(placements)
        (here,) = reports_of([*program, str(number)], match.at_once(place))
        unseen = set(here["own"][1].split())
        counted = Counter(
            tuple(
                frozenset() if seat == facts["seat"] else frozenset(cards.split()) & unseen
                for seat, cards in enumerate(here[f"deal{deal}"])
            )
            for deal in range(number)
        )
        assert set(counted) == placements
        freedom = len(placements) - 1
        spread = sum((times - EACH) ** 2 / EACH for times in counted.values())
        # four standard deviations of chi-square; the seed is fixed, so it says the same in every run
        assert spread < freedom + 4 * (2 * freedom) ** 0.5


def _tells(facts: Facts, fact: str) -> bool:
    """Return True if a fact reduces the number of placements, and enough remain to count."""
    nothing = {"barred": [set()] * len(facts["barred"]), "not_all": [set()] * len(facts["not_all"])}
    if not fact:
        return True
    if not any(facts[fact]):
        return False
    return 6 <= len(enumerated(facts)) < len(enumerated(facts | {fact: nothing.get(fact, [])}))


@pytest.mark.slow
def test_all_languages_deal_the_same_cards() -> None:
    commands = [build() for build in LANGUAGES.values()]
    hidden = {"players": 3, "form": "stock6", "hide_arrastre_twenty": True}
    for key, options in (
        ("partnership", {"singing_mandatory": True}), ("two_player", {}), ("podrida", {}), ("codillo", {}), ("guinote", hidden),
    ):  # fmt: skip
        match = Recorded(engine.load(key, **options), 3, 1)
        first, *others = [_deals(match.reports(command)) for command in commands]
        assert len(first) == 4 * len(match.expected)
        assert all(other == first for other in others)


def _deals(requests: list[Facts]) -> list[tuple[list[set[str]], list[str]]]:
    return [
        ([set(cards.split()) for cards in request[f"deal{number}"]], request[f"rest{number}"])
        for request in requests
        for number in range(4)
    ]


@pytest.mark.slow
def test_the_examples_of_the_documents_run(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "bot-package.md").read_text(encoding="utf-8")
    for language, name in (
        ("c", "bot.c"),
        ("go", "bot.go"),
        ("java", "Bot.java"),
        ("javascript", "bot.mjs"),
        ("rust", "bot.rs"),
    ):
        shutil.copytree(KITS / language, tmp_path / language)
        (example,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
        (tmp_path / language / name).write_text(example)
    subprocess.run(
        [languages.find("cc"), "-Wall", "-Wextra", "-Werror", "-o", "bot", "bot.c"], check=True, cwd=tmp_path / "c"
    )
    subprocess.run(
        [languages.find("rustc"), "-D", "warnings", "-o", "bot", "bot.rs"], check=True, cwd=tmp_path / "rust"
    )
    subprocess.run([languages.find("go"), "build", "-o", "bot", "."], check=True, cwd=tmp_path / "go")
    subprocess.run([languages.find("javac"), "Bot.java"], check=True, cwd=tmp_path / "java")
    match = Recorded(engine.load("partnership"), 3, 1, deals=1)
    requests = "".join(line + "\n" for line in match.lines)

    scripts = ([languages.find("node"), "javascript/bot.mjs"], [*languages.JAVA, "java/.", "Bot"])
    for command in (["c/bot"], ["go/bot"], ["rust/bot"], *scripts):
        command[0] = str(tmp_path / command[0]) if "/" in command[0] else command[0]
        process = subprocess.run(command, input=requests, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert len(process.stdout.splitlines()) == len(match.lines)
        assert process.stderr.count("seat 0 may hold") == len(match.expected)


@pytest.mark.parametrize("library", sorted(tables.KIT_TABLES), ids=lambda path: path.name)
def test_the_tables_of_the_kits_are_fresh(library: Path) -> None:
    assert library.read_text(encoding="utf-8") == tables.rewritten_kit(library), "run: make texts"


@pytest.mark.parametrize("kit", sorted(path.name for path in KITS.iterdir() if path.is_dir()))
def test_the_readme_of_a_kit_names_its_files(kit: str) -> None:
    text = (KITS / kit / "README.md").read_text(encoding="utf-8")

    assert text == tables.readme(kit), "run: make texts"
    files = {path.name for path in (KITS / kit).iterdir()} - {"README.md", "go.mod", "tute.d.mts", "sense.d.mts"}
    assert files == {name for name in re.findall(r"`([\w.]+)`", text.partition("## Play")[0]) if "." in name}
