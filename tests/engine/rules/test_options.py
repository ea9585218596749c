"""Options: every one of the rules book is there, its values are checked, and a refusal says what is allowed."""

from __future__ import annotations

import pytest

import engine
from engine.game import declared
from engine.match.scoring.results import most_points_wins
from engine.rules.options import BOOL, Range, word
from engine.rules.parameters import Rules
from engine.rules.resolving import at_table, choices
from tests.support import playing, tables


@pytest.mark.parametrize("key", engine.games())
def test_defaults_are_values_of_their_options(key: str) -> None:
    """Each default can also be chosen by name, and choosing it changes nothing: the same rules have one name."""
    for players in declared(key).players:
        plain = engine.load(key, players=players)
        for name, value in plain.options_all.items():
            game = engine.load(key, players=players, **{name: value})
            assert game.options_all == plain.options_all
            assert game.options == {}


def test_a_chosen_value_is_in_force() -> None:
    for table in tables.covering():
        with tables.note_table(table):
            game = table.load()
            for name, value in table.options:
                assert game.options_all[name] == value
                assert word(getattr(game.rules, name)) == value


@pytest.mark.parametrize("key", engine.games())
def test_an_unknown_option_is_refused_with_the_list(key: str) -> None:
    with pytest.raises(engine.OptionError) as caught:
        engine.load(key, no_such_option=1)
    assert "no option 'no_such_option'" in str(caught.value)
    for name in choices(declared(key), declared(key).players[0]):
        assert name in str(caught.value)


@pytest.mark.parametrize("key", engine.games())
def test_a_wrong_value_is_refused_with_what_is_allowed(key: str) -> None:
    players = declared(key).players[0]
    for name, choice in choices(declared(key), players).items():
        wrong: list[object] = ["nonsense", -1, 10**9 if isinstance(choice, Range) and choice.high else "x", [], {}, 2.5]
        if isinstance(choice, Range):
            wrong += [True, str(choice.low), float(choice.low)] + ([] if choice.none else [None])
        else:
            wrong += [1 if choice == BOOL else True]
        for value in wrong:
            with pytest.raises(engine.OptionError) as caught:
                engine.load(key, **{name: value})
            message = str(caught.value)
            assert name in message
            assert repr(value) in message
            allowed = str(choice) if isinstance(choice, Range) else ", ".join(repr(word(v)) for v in choice)
            assert allowed in message


def test_true_is_not_one_however_often_it_is_asked() -> None:
    """1 == True, and a cache that forgets the difference would let one pass for the other."""
    engine.load("partnership", undertrump=True, match_games=1)
    for options in ({"undertrump": 1}, {"match_games": True}, {"match_games": 1.0}, {"win_by": True}):
        with pytest.raises(engine.OptionError):
            engine.load("partnership", **options)


@pytest.mark.parametrize("key", engine.games())
def test_a_wrong_number_of_players_is_refused(key: str) -> None:
    for players in (0, 1, 9, "4", 4.0, None, True, [4]):
        with pytest.raises(engine.OptionError, match="is played by") as caught:
            engine.load(key, players=players)
        assert repr(players) in str(caught.value)


def test_an_unknown_game_is_refused_with_the_list() -> None:
    with pytest.raises(engine.OptionError) as caught:
        engine.load("whist")
    assert "'whist'" in str(caught.value)
    assert all(key in str(caught.value) for key in engine.games())
    assert len(engine.games()) >= 21
    assert engine.games() == sorted(engine.games())


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("corriente", {"hand_size": 8, "stock": 28}),
        ("a_dos", {"hand_size": 10, "stock": 28}),
        ("brisca", {"players": 3, "deck": "es39", "stock": 27}),
    ],
)
def test_options_that_contradict_each_other_are_refused(key: str, options: dict[str, object]) -> None:
    with pytest.raises(engine.OptionError, match="the stock holds"):
        engine.load(key, **options)


@pytest.mark.parametrize(
    ("key", "players", "options"),
    [
        ("cabrero", 3, {"trump_source": "rotating"}),
        ("cabrero", 4, {"dealer_plays": False}),
        ("subastado", 3, {"censor": True}),
        ("arrastrado", 3, {"dealer_plays": True}),
        ("brisca", 2, {"sides": "single"}),
        ("brisca", 4, {"deck": "es39"}),
        ("guinote", 2, {"form": "full"}),
    ],
)
def test_options_of_other_tables_are_refused(key: str, players: int, options: dict[str, object]) -> None:
    with pytest.raises(engine.OptionError):
        engine.load(key, players=players, **options)


@pytest.mark.parametrize(("players", "exchange"), [(4, "immediate"), (4, "before_first_lead"), (3, "immediate")])
def test_guinote_without_a_stock_has_no_exchange_of_a_stock(players: int, exchange: str) -> None:
    with pytest.raises(engine.OptionError, match="without a stock"):
        engine.load("guinote", players=players, form="full", exchange=exchange)


# ---- matches


@pytest.mark.parametrize("deals", [0, -1, 1.0, True, "3"])
def test_a_wrong_number_of_deals_is_refused(deals: object) -> None:
    with pytest.raises(engine.OptionError, match="deals must be a whole number"):
        engine.load("brisca").new_match(seed=1, deals=deals)  # type: ignore[arg-type]


@pytest.mark.parametrize("suits", ["", "o", "oceo", "ocebx", "OCEB", "shdc"])
def test_wrong_suits_are_refused(suits: str) -> None:
    with pytest.raises(engine.OptionError, match="suits must hold each of o, c, e, b once"):
        engine.load("brisca").new_match(seed=1, suits=suits)


@pytest.mark.parametrize("table", tables.plain(), ids=str)
def test_sittings_put_every_party_in_every_place(table: tables.Table) -> None:
    game = table.load()
    parties = len(game.sides)
    sittings = game.sittings(parties)
    assert len(sittings) == parties
    for seat in range(game.players):
        assert sorted(sitting[seat] for sitting in sittings) == list(range(parties))
    for sitting in sittings:
        assert all(len({sitting[seat] for seat in side}) == 1 for side in game.sides)
    for wrong in (0, 1, parties + 1):
        with pytest.raises(engine.OptionError, match=f"takes {parties} parties, not {wrong}"):
            game.sittings(wrong)


@tables.on_games(tables.plain(), tables.once())
def test_a_forfeit_is_never_better_than_a_played_sitting(key: str, group: list[tables.Table]) -> None:
    """A side that gives up gets no more than in the worst of random matches, whatever the options, and less than the others."""
    for table in group:
        with tables.note_table(table):
            check_forfeit(table)


def check_forfeit(table: tables.Table) -> None:
    game = table.load()
    played = [playing.finished(game, seed, game.board_deals) for seed in range(6 if not table.options else 2)]
    for side, seats in enumerate(game.sides):
        scores = game.fault_scores(side)
        assert len(scores) == game.players
        assert {scores[seat] for seat in seats} == {min(scores)}
        assert all(scores[seat] > min(scores) for seat in range(game.players) if seat not in seats)
        for state in played:
            assert all(min(scores) <= state.scores()[seat] for seat in seats)


@pytest.mark.parametrize(
    ("key", "players", "options", "worst"),
    [
        ("subastado", 3, {}, -1840),
        ("subastado", 4, {"unit": 1000}, -184_000),
        ("subastado", 3, {"double_from": None}, -920),
        ("remate", 5, {"double_from": 120}, -3680),
        ("codillo", 5, {"stake": 50}, -400),
        ("bato", 6, {"ante": 400}, -2800),
        ("arrastrado", 3, {"tute_payment": 5000}, -5100),
        ("arrastrado", 4, {"auction": "pot_contract", "dealer_plays": True}, -1200),
        ("podrida", 3, {}, -273),
    ],
)
def test_a_forfeit_costs_what_the_worst_of_the_table_does(key: str, players: int, options: dict, worst: int) -> None:
    assert min(engine.load(key, players=players, **options).fault_scores(0)) == worst


# ---- the record of rules itself


def test_ranges() -> None:
    steps = Range(5, 20, 5)
    assert [value for value in range(30) if steps.accepts(value)] == [5, 10, 15, 20]
    assert not any(steps.accepts(value) for value in (True, 5.0, "5", None))
    assert Range(1, none=True).accepts(None)
    assert Range(1).accepts(10**9)
    assert str(Range(1)) == "a whole number, 1 or more"
    assert str(steps) == "a whole number, 5 to 20 in steps of 5"
    assert str(Range(50, 230, none=True)) == "a whole number, 50 to 230, or null"


def test_mappings_by_players_are_resolved() -> None:
    rules = at_table(declared("cabrero"), {}, 3)
    assert (rules.players, rules.hand_size, rules.trump_source, rules.exchange) == (
        (3,),
        13,
        "centre_card",
        "before_first_lead",
    )
    assert at_table(declared("cabrero"), {"dealer_plays": False}, 5).hand_size == 10
    assert Rules(result=most_points_wins).rank_points == {"1": 11, "3": 10, "R": 4, "C": 3, "S": 2}
