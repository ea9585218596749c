"""Named mixtures: each loads at its tables and changes what its text says."""

from __future__ import annotations

import pytest

from engine import rulebook
from engine.game import games, load
from engine.rules.options import word

# What the text of each mixture promises: parameters of the rules with their values.
PROMISES = {
    "cabron": {"result": "cabron_loses"},
    "plato": {"auction": "pot_contract"},
    "cuatro_juegan": {"dealer_plays": True, "hand_size": 10},
    "censor": {"censor": True},
    "desde_50": {"min_bid": 50},
    "desde_70": {"min_bid": 70},
    "de_diez": {"bid_step": 10},
    "con_vueltas": {"auction_rounds": "open"},
    "canta_la_mesa": {"hand_songs": "none", "table_songs": "forced"},
    "triunfos_alternos": {"trump_source": "rotating"},
    "hasta_uno": {"final_duel": True, "duel_game": "a_dos"},
    "con_renuncio": {"illegal_move": "accuse"},
    "canta_el_companero": {"hand_songs": "winning_side"},
    "vale_dos": {"double_at_101": True},
    "no_vale_cargar": {"no_load": True},
    "cartas_de_guinote": {
        "rank_order": "13RSC76542",
        "pair_ranks": "RS",
        "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
    },
    "dos_de_ventaja": {"win_by": 2, "match_end": "race"},
    "a_tres": {"match_games": 3, "match_end": "race"},
    "por_tandas": {"supply": "batches"},
    "cada_uno": {"sides": "single"},
    "francesa": {"deck": "fr52"},
    "subir_y_bajar": {"sequence": "up_down"},
    "diez_cartas": {"hand_size": 10, "stock": 20},
    "media_hora": {"match_end": "clock", "match_minutes": 30, "board_deals": None},
    "sin_mazo": {"stock": 0, "hand_size": 10},
}


def test_every_mixture_has_a_promise_and_a_key_of_its_own() -> None:
    keys = [mixture.key for mixture in rulebook.all_mixtures()]
    assert len(set(keys)) == len(keys)
    assert set(keys) == set(PROMISES)


@pytest.mark.parametrize("mixture", rulebook.all_mixtures(), ids=lambda mixture: mixture.key)
def test_a_mixture_is_what_its_text_says(mixture: rulebook.Mixture) -> None:
    assert mixture.game in games()
    assert mixture.players
    for players in mixture.players:
        game, usual = mixture.load(players), load(mixture.game, players=players)
        for name, value in PROMISES[mixture.key].items():
            assert word(getattr(game.rules, name)) == value, (name, players)
        assert game.options, "the options are not those of the usual rules"
        for name in mixture.options:
            assert word(getattr(game.rules, name)) != word(getattr(usual.rules, name)), (name, players)
    for lang in rulebook.LANGUAGES:
        assert mixture.titles[lang], lang
        assert mixture.lines[lang].endswith("."), lang
