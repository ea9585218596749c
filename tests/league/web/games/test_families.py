"""The families of games: each game stands in one of them, the best known first."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import translation

import engine
from league.web.common import families


def test_each_game_stands_in_one_family() -> None:
    listed = [key for family in families.FAMILIES for key in family.games]

    assert sorted(listed) == sorted(engine.games())
    assert families.game_order() == listed
    assert set(families.NOTES) <= set(listed)


def test_a_game_that_no_family_names_stands_in_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "FAMILIES", families.FAMILIES[:-1])

    assert [game.key for game in families.by_family()[-1].games][-1] == "variable_trump"
    assert sorted(families.game_order()) == sorted(engine.games())


def test_choices_of_a_form_tell_games_with_like_names_apart() -> None:
    with translation.override("es"):
        groups = families.choices()
    names = [name for _, games in groups for _, name in games]

    assert groups[0][0] == "Los de siempre"
    assert groups[0][1][0] == ("partnership", "Tute por parejas")
    assert len(names) == len(set(names)) == len(engine.games())
    assert next(name for name in names if name.startswith("Tute corriente")) != "Tute corriente"


@pytest.mark.django_db
def test_the_list_of_games_begins_with_the_best_known() -> None:
    page = Client(headers={"accept-language": "es"}).get("/g/").content.decode()

    assert re.findall(r'href="/g/(\w+)/"', page) == families.game_order()
    assert "Los de siempre" in page
