"""The house bots play every game of the engine: legally, the same way twice, and the better ones better."""

from __future__ import annotations

import tomllib

import pytest

from engine.game import declared, games, load
from tests.bots.harness import HOUSE, BotClass, Duel, house, play, tute_bot
from tests.support.parts import mostly_slow

NAMES = sorted(manifest.parent.name for manifest in HOUSE.glob("*/bot.toml"))
GAMES = {name: tomllib.loads((HOUSE / name / "bot.toml").read_text())["games"] or games() for name in NAMES}
BETTER = ("greedy", "counting")  # The numbers in BOARDS have this order
TABLES = [
    *[(key, {"players": players}) for key in games() for players in declared(key).players],
    ("partnership", {"hand_songs": "winning_side", "singing_mandatory": True}),
    ("partnership", {"illegal_move": "lose_game", "undertrump": True}),
    ("corriente", {"exchange": "immediate", "hand_size": 8}),
    ("corriente", {"claim_mode": "none", "match_games": 2}),
    ("cabrero", {"players": 4, "illegal_move": "accuse", "max_losses": 2}),
    ("a_dos", {"illegal_move": "accuse", "rank_order": "13RSC76542"}),
    ("individual", {"match_end": "clock", "match_minutes": 10, "no_load": True, "rank_order": "13RSC76542"}),
    ("two_player", {"hand_size": 10}),
    ("cabrero", {"players": 5, "dealer_plays": False, "final_duel": True, "max_losses": 2}),
    ("podrida", {"preset": "podrida52"}),
    ("gana_pierde_3", {"result": "cabron_loses"}),
    ("codillo", {"result": "soloist_side_best_single", "hand_songs": "soloist_side"}),
    ("subastado", {"players": 4, "censor": True, "auction_rounds": "open"}),
    ("subastado", {"no_load": True}),
    ("arrastrado", {"auction": "pot_contract"}),
    ("bato", {"settlement": "loss_marks", "passed_may_join": False}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "options"), TABLES, ids=str)
def test_house_bots_play_legally(key: str, options: dict) -> None:
    """`play` raises for an illegal answer. Each bot sits alone among others, in several seats."""
    game = load(key, **options)
    for number, name in enumerate(NAMES):
        if key not in GAMES[name]:
            continue
        other = "greedy" if name == "random" else "random"
        thinks = name not in ("random", "greedy")
        for seed in range(1 if thinks and game.board_deals is None and game.players > 2 else 3):
            own = (seed + number) % game.players
            bots = [house(name) if seat == own else house(other) for seat in range(game.players)]
            state, _ = play(game, bots, seed, deals=min(3, game.board_deals or 3))

            assert state.is_over


@pytest.mark.parametrize(
    ("key", "name"),
    mostly_slow(
        [(key, name) for key in ("partnership", "corriente", "cabrero") for name in NAMES if key in GAMES[name]],
        lambda case: case[0] == "corriente",
    ),
)
def test_house_bot_repeats_itself(key: str, name: str) -> None:
    """Equal cards and seed give an equal game: nothing depends on the clock, on hash order or on earlier games."""
    game = load(key)

    first, _ = play(game, [house(name)] * game.players, 5, deals=1)
    play(game, [house(name)] * game.players, 6, deals=1)
    second, _ = play(game, [house(name)] * game.players, 5, deals=1)

    assert first.actions == second.actions


def test_random_bot_never_makes_a_false_claim() -> None:
    game = load("corriente")
    claims = []

    for seed in range(40):
        state, _ = play(game, [house("random")] * 2, seed)
        claims += [event["right"] for event in state.events if event["e"] == "claim"]

    assert claims
    assert all(claims)


def test_random_bot_follows_its_seed() -> None:
    """Another seed of the referee gives another game of the same cards."""
    hands = []
    for seed in (1, 2):
        bot = house("random")()
        session = tute_bot.Session(bot)
        session.answer({"type": "hello", "game": "partnership", "seats": 4, "seat": 0, "seed": seed})
        hands.append([bot.act(session.view, [f"play {card}" for card in session.view.pack]) for _ in range(10)])

    assert hands[0] != hands[1]


# Boards that show greedy, and counting, to be better than random, with as many again where the first ones just do: more of them would hide
# a bot that has become a little worse. Podrida's boards are ten deals long; those of the two games with marks are cut to a short match.
# A new game enters here once the house bots have learnt what wins in it.
BOARDS: dict[str, tuple[int, int]] = {
    "a_dos": (12, 6),
    "americano": (12, 6),
    "arrastrado": (20, 8),
    "bato": (25, 20),
    "brisca": (15, 6),
    "cabrero": (40, 8),
    "chancho": (40, 12),
    "codillo": (40, 10),
    "corriente": (12, 6),
    "gana_pierde_3": (40, 25),
    "gana_pierde_4_5": (40, 16),
    "guinote": (15, 8),
    "habanero": (12, 6),
    "havanian": (12, 6),
    "individual": (30, 8),
    "partnership": (40, 20),
    "podrida": (4, 3),
    "remate": (20, 8),
    "subastado": (20, 10),
    "two_player": (30, 10),
    "variable_trump": (60, 12),
}
SHORT: dict[str, dict] = {"cabrero": {"max_losses": 1}, "chancho": {"max_losses": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("better", BETTER)
@pytest.mark.parametrize("key", BOARDS)
def test_house_bot_beats_random(key: str, better: str) -> None:
    """Both intervals, of the boards won and of the lead, exclude the level on duplicate boards. The seeds are fixed, so no luck is left."""
    count = BOARDS[key][BETTER.index(better)]

    duel = Duel(load(key, **SHORT.get(key, {})), house(better), house("random"), range(count))

    assert duel.rate - duel.half_width > 0.5, str(duel)
    assert duel.mean - duel.mean_half_width > 0, str(duel)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "count"), [("partnership", 12), ("corriente", 30), ("subastado", 10), ("podrida", 4)])
def test_counting_beats_greedy(key: str, count: int) -> None:
    """Check one game of each kind; docs/house-bots.md has the others."""
    duel = Duel(load(key), house("counting"), house("greedy"), range(count))

    assert duel.rate - duel.half_width > 0.5, str(duel)
    assert duel.mean - duel.mean_half_width > 0, str(duel)


@pytest.mark.parametrize("name", mostly_slow(["deep", "champion"], "champion".__eq__))
def test_those_that_try_cards_out_beat_greedy(name: str) -> None:
    """Give them no more time than counting takes, in Python source; docs/house-bots-strength.md compares them compiled."""
    duel = Duel(load("partnership"), house(name), house("greedy"), range(6))

    assert duel.rate - duel.half_width > 0.5, str(duel)
    assert duel.mean - duel.mean_half_width > 0, str(duel)


def thinking(name: str, key: str, monkeypatch: pytest.MonkeyPatch, cards: int) -> BotClass:
    """Return a bot that tries its cards out even where rules are not compiled, and everywhere in few deals."""
    bot = house(name)
    least = {"cards": cards, "deals": 12}
    monkeypatch.setattr(bot, "plain", (key,))
    monkeypatch.setattr(bot, "plain_plan", bot.plain_plan._replace(**least))
    monkeypatch.setattr(bot, "plans", {table: plan._replace(**least) for table, plan in bot.plans.items()})
    return bot


@pytest.mark.parametrize(
    ("name", "key", "count"),
    mostly_slow(
        [
            ("champion", "guinote", 12),
            ("champion", "subastado", 8),
            ("champion", "corriente", 8),
            ("champion", "brisca", 12),
            ("deep", "guinote", 12),
            ("deep", "brisca", 12),
        ],
        lambda case: case[:2] in (("champion", "corriente"), ("deep", "brisca")),
    ),
)
def test_cards_are_tried_out_where_rules_are_not_compiled(
    name: str, key: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uncompiled, both play these games like counting. Here they must think a little: their own cards and counting's calls beat random, too."""
    duel = Duel(load(key), thinking(name, key, monkeypatch, 600), house("random"), range(count))

    assert duel.rate - duel.half_width > 0.5, str(duel)
    assert duel.mean - duel.mean_half_width > 0, str(duel)


@pytest.mark.parametrize("name", mostly_slow(["deep", "champion"], "deep".__eq__))
def test_cards_are_tried_out_where_seats_are_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Playouts serve four seats and three in a match of cabrero; counting plays the duel at its end, which is another game."""
    bot = thinking(name, "cabrero", monkeypatch, 300)

    state, seats = play(load("cabrero", max_losses=2, final_duel=True), [bot] * 2 + [house("random")] * 2, 0)

    assert state.is_over
    thought = seats[0].session.bot.tables | seats[1].session.bot.tables
    assert {key: table is not None for key, table in thought.items()} == {
        ("cabrero", 4): True,
        ("cabrero", 3): True,
        ("a_dos", 2): False,
    }
