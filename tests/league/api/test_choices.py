"""The explorer by the API: the figures of the page, with its filters."""

from __future__ import annotations

import pytest

from league.models import ChoiceSum
from tests.league.web.games.test_explorer import OWN, fill


def test_choices_are_listed_by_kind_hand_and_band(nobody, league) -> None:
    ChoiceSum.objects.all().delete()
    path = "games/partnership/choices"
    assert nobody.get(path).json()["results"] == []
    fill(league.pool)
    row = nobody.get(f"{path}?kind=lead&hand={OWN}&band=0&pool={league.pool.pk}").json()["results"][1]
    expected = {
        "pool": league.pool.pk,
        "kind": "lead",
        "hand": OWN,
        "band": 0,
        "choice": "t1",
        "number": 72,
        "matches": 24,
    }
    assert {name: row[name] for name in expected} == expected
    assert (row["share"], row["mean"]) == pytest.approx((1 / 3, 10 / 1))
    rows = nobody.get(f"{path}?page_size=100").json()["results"]
    assert {(row["hand"], row["band"]) for row in rows} == {
        (hand, band) for hand in (OWN, "every") for band in (0, 2, 3)
    }
    pages, url = [], f"{path}?page_size=4"
    while url:
        page = nobody.get(url.removeprefix("http://testserver/api/v1/")).json()
        pages += page["results"]
        url = page["next"]
    assert pages == rows
    assert "o3" not in {row["choice"] for row in rows}, "one bot chose it"
    assert nobody.get(f"{path}?hand=every&band=2").json()["results"]
    for none in ("kind=song", "hand=t9", "band=5", "pool=999"):
        assert nobody.get(f"{path}?{none}").json()["results"] == []
    for wrong in ("kind=x", "band=9", "band=-1", "pool=x", f"hand={'x' * 99}", "x=1"):
        assert nobody.get(f"{path}?{wrong}").status_code == 400, wrong
    assert nobody.get("games/chess/choices").status_code == 404
