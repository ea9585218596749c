"""The form part of the rules: every option of every game in words, named mixtures, and words at the field."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from django.utils.translation import override

import engine
from engine import rulebook
from engine.rules.options import Range, word
from engine.rules.resolving import choices
from league.web.common.options import OptionsForm, describe_options, game_chosen
from tests.support.parts import mostly_slow

TABLES = [(key, players) for key in engine.games() for players in engine.load(key).declared.players]

QUICK = {"partnership", "subastado", "podrida", "guinote", "gana_pierde_3"}  # One of each kind of choice

ALONE = {"exchange", "max_bid", "tute_ranks"}  # Options with values that need another option too.


def _loads(key: str, players: int, name: str, value: Any) -> bool:
    try:
        return bool(engine.load(key, players=players, **{name: value}))
    except engine.OptionError:
        return False


def _chosen(game: engine.Game, **sent: Any) -> dict[str, Any]:
    form = OptionsForm(game, {name: str(value) for name, value in sent.items()})
    assert form.is_valid(), form.errors
    options: dict[str, Any] = form.cleaned_data["options"]
    return options


@pytest.mark.parametrize("key", mostly_slow(engine.games(), QUICK.__contains__))
def test_every_value_of_every_option_can_be_chosen(key: str) -> None:
    """Tables of other sizes have few values more."""
    tried: set[tuple[str, Any]] = set()
    for players in engine.load(key).declared.players:
        choose_every_value(key, players, tried)


def choose_every_value(key: str, players: int, tried: set[tuple[str, Any]]) -> None:
    game = engine.load(key, players=players)
    assert _chosen(game) == {}, "an empty form means the usual rules"
    for name, choice in choices(game.declared, players).items():
        if name == "stock":
            continue  # It follows from the hands or the pack.
        form = OptionsForm(game)
        field = form.fields[f"option_{name}"]
        values = [choice.low] if isinstance(choice, Range) else [word(value) for value in choice]
        codes = [choice.low] if isinstance(choice, Range) else [code for code, _text in vars(field)["_choices"][1:]]
        for code, value in zip(codes, values, strict=True):
            if (name, value) in tried:
                continue
            tried.add((name, value))
            if name in ALONE and not _loads(key, players, name, value):
                assert OptionsForm(game, {f"option_{name}": code}).errors[f"option_{name}"]
                continue
            options = _chosen(game, **{f"option_{name}": code})
            usual = word(getattr(game.rules, name))
            assert options == ({} if value == usual else {name: value}), (name, value)
            assert word(getattr(engine.load(key, players=players, **options).rules, name)) == value


@pytest.mark.parametrize("lang", ["en", "es"])
def test_no_field_shows_a_word_of_the_code(lang: str) -> None:
    with override(lang):
        for key, players in TABLES:
            form = OptionsForm(engine.load(key, players=players))
            choosers = [bound.field for bound in form if hasattr(bound.field, "choices")]
            texts = [str(text) for field in form.fields.values() for text in (field.label, field.help_text)]
            texts += [str(text) for field in choosers for _code, text in field.choices]
            assert not [text for text in texts if "_" in text or text in ("True", "False", "–")], key
            assert all(text[:1] == text[:1].upper() for text in texts), key


def test_a_mixture_is_chosen_by_name_and_a_field_overrides_it() -> None:
    game = engine.load("subastado", players=4)
    assert _chosen(game, mixture="censor") == {"censor": True}
    assert _chosen(game, mixture="censor", option_min_bid=70) == {"censor": True, "min_bid": 70}
    assert _chosen(game, mixture="censor", option_censor="false") == {}
    assert _chosen(game, no_double_from="on") == {"double_from": None}
    assert "mixture" in OptionsForm(engine.load("subastado", players=3), {"mixture": "censor"}).errors


def test_rules_that_do_not_go_together_are_said_at_their_fields() -> None:
    form = OptionsForm(engine.load("podrida"), {"option_preset": "podrida52", "option_rank_order": "1RCS765432"})
    with override("es"):
        assert not form.is_valid()
    assert set(form.errors) == {"option_preset", "option_rank_order"}
    assert "no van juntas" in form.errors["option_preset"][0]
    assert form.is_special


def test_a_number_out_of_range_is_said_at_its_field() -> None:
    form = OptionsForm(engine.load("partnership"), {"option_match_games": "101"})
    assert set(form.errors) == {"option_match_games"}


def test_options_are_described_in_words() -> None:
    assert describe_options("partnership", {}) == ""
    with override("en"):
        assert describe_options("subastado", {"censor": True}) == "Subastado with a censor"
    with override("es"):
        assert describe_options("gana_pierde_3", {"result": "cabron_loses"}) == "Tute cabrón"
        assert describe_options("partnership", {"tute": "none"}) == "Cuatro iguales ganan: no hay"


def test_every_mixture_is_offered_at_its_tables() -> None:
    for mixture in rulebook.all_mixtures():
        for players in mixture.players:
            assert _chosen(engine.load(mixture.game, players=players), mixture=mixture.key) == mixture.options


def test_a_form_names_game_and_players() -> None:
    assert game_chosen(QueryDict("game=subastado&players=4")).players == 4
    assert game_chosen(QueryDict("game=subastado&players=9")).players == 3
    assert game_chosen(QueryDict("game=nothing")).key == "partnership"
    assert game_chosen(QueryDict(""), "bato").key == "bato"
