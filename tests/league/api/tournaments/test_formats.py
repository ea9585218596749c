"""Formats in the API: what there is, what it would take, rounds and brackets, growing and closing."""

from __future__ import annotations

import pytest

from league.domain.tournaments import brackets, progress, tournaments
from league.models import Tournament
from league.pure.formats import FORMATS
from tests.support import league as made


def test_formats_explain_themselves(nobody):
    forms = nobody.get("formats").json()

    assert [form["key"] for form in forms] == list(FORMATS)
    swiss = forms[1]
    assert swiss["text"].startswith("In every round entries with equal scores meet")
    assert swiss["parameters"][:1] == [
        {
            "name": "rounds",
            "text": "How many rounds. 0: log2 of the number of entries plus two, at most half that number.",
            "kind": "integer",
            "default": 0,
            "low": 0,
            "high": 50,
        }
    ]
    kinds = {parameter["kind"] for form in forms for parameter in form["parameters"]}
    assert kinds == {"boolean", "integer", "number"}


def test_forecast_counts_and_times(nobody, league):
    forecast = nobody.post("forecast", {"game": "cabrero", "players": 4, "entries": 10, "boards": 2}).json()

    assert (forecast["matches"], forecast["boards"], forecast["sittings"]) == ([210, 210], [420, 420], [1680, 1680])
    assert (forecast["measured"], forecast["workers"], forecast["sitting_s"]) == (False, 1, 0.3)
    assert forecast["match_most_s"] == 16 * 72  # four passes of four seats
    assert forecast["seconds"] == [504.0, 504.0]
    bracket = nobody.post(
        "forecast", {"game": "partnership", "entries": 8, "boards": 4, "format": "single_elimination"}
    ).json()
    assert bracket["matches"] == [8, 40]
    assert bracket["boards"] == [32, 96]
    mixed = nobody.post("forecast", {"game": "partnership", "entries": 8, "boards": 1, "mixed": True}).json()
    assert (mixed["matches"], mixed["sittings"]) == ([14, 14], [56, 56])


def test_what_is_above_a_limit_is_refused_with_what_would_fit(nobody, as_alice, league, settings):
    settings.QUOTA_BOARDS = 60
    refused = nobody.post("forecast", {"game": "partnership", "entries": 8, "boards": 4})
    limits = as_alice.get("me/limits").json()

    assert refused.status_code == 409
    assert "112 boards" in refused.json()["detail"]
    assert "It fits with 2 boards per match, or with 6 entries" in refused.json()["detail"]
    assert [limit["name"] for limit in limits] == [
        "boards",
        "tournaments",
        "bots",
        "validations",
        "uploads",
        "bytes",
        "requests",
        "challenges",
        "judgements",
        "tries",
        "series",
        "tables",
        "comments",
        "reports",
    ]
    assert (limits[0]["limit"], limits[0]["default"], limits[0]["again"]) == (60, 60, None)


def test_forecast_uses_what_was_measured(nobody, league):
    """The matches of the league took as long as their rows say."""
    for match in league.cup.matches.all():
        match.started, match.finished = made.NOW, made.later(12)
        match.save()

    forecast = nobody.post("forecast", {"game": league.cup.pool.game, "entries": 4, "boards": 1}).json()

    assert forecast["measured"] is True
    assert forecast["sitting_s"] == pytest.approx(12 / (league.cup.boards * 2))


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"entries": 0}, 400, "greater than or equal to 1"),
        ({"format": "chess"}, 400, "not a valid choice"),
        ({"format": "swiss", "parameters": {"rounds": -1}}, 400, "rounds must be a whole number from 0 to 50, not -1"),
        ({"parameters": [1]}, 400, "must be an object that maps parameter names to values"),
        ({"game": "cabrero", "players": 3, "format": "duel"}, 400, "a duel is between two bots, and 3 sit"),
        ({"game": "cabrero", "players": 3, "mixed": True}, 400, "no two sides of two seats"),
        ({"entries": 1}, 409, "round_robin needs 2 entries or more, not 1"),
    ],
)
def test_forecasts_say_what_is_allowed(nobody, league, change, status, text):
    response = nobody.post("forecast", {"game": "partnership", "entries": 4} | change)

    assert response.status_code == status
    assert text in response.json()["detail"]


def bracket_cup(owner, league) -> Tournament:
    cup = tournaments.create(
        owner,
        "Bracket",
        "partnership",
        boards=1,
        versions=[league.rufo, league.luna, league.sol],
        format="single_elimination",
        secret=made.SECRET,
        now=made.NOW,
    )
    tournaments.start(cup, now=made.NOW)
    return cup


def test_bracket_and_rounds_as_they_are_played(nobody, alice, league):
    cup = bracket_cup(alice, league)

    pairings = nobody.get("tournaments/bracket/bracket").json()["pairings"]
    assert [(pairing["part"], pairing["first"], pairing["second"], pairing["by"]) for pairing in pairings] == [
        ("winners", 0, None, "bye"),
        ("winners", 1, 2, None),
    ] or len(pairings) == 2
    match = cup.matches.get()
    made.play(match, winner=0)
    progress.advance(cup, now=made.NOW)

    pairings = nobody.get("tournaments/bracket/bracket").json()["pairings"]
    assert [pairing["part"] for pairing in pairings] == ["winners", "winners", "final"]
    assert pairings[1]["matches"] == [match.public_id]
    assert pairings[1]["by"] == "boards"
    rounds = nobody.get("tournaments/bracket/rounds").json()["results"]
    assert [row["number"] for row in rounds] == [1, 2]
    assert rounds[0]["matches"][0]["points"] == [1.0, 0.0]
    assert len(rounds[0]["resting"]) == 1
    assert rounds[1]["matches"][0]["points"] is None
    entries = nobody.get("tournaments/bracket/entries").json()["results"]
    assert sorted(entry["seed"] for entry in entries) == [1, 2, 3]
    assert {entry["place"] for entry in entries} == {None}
    assert nobody.get(f"tournaments/{league.cup.slug}/bracket").json()["pairings"] == []


@pytest.mark.slow
def test_a_page_of_rounds_has_so_many_matches(nobody, alice, league, monkeypatch):
    versions = [made.accepted(alice, f"round-{number}") for number in range(4)]
    cup = tournaments.create(alice, "Rounds", "partnership", boards=1, versions=versions, now=made.NOW)
    tournaments.start(cup, now=made.NOW)
    whole = nobody.get("tournaments/rounds/rounds").json()
    assert [len(row["matches"]) for row in whole["results"]] == [2, 2, 2]
    monkeypatch.setattr(brackets, "MOST_MATCHES", 4)
    pages, step = [], "tournaments/rounds/rounds"
    while step:
        page = nobody.get(step).json()
        pages.append(page)
        step = (page["next"] or "").removeprefix("http://testserver")
    assert [[row["number"] for row in page["results"]] for page in pages] == [[1, 2], [3]]
    assert pages[0]["results"] + pages[1]["results"] == whole["results"]
    back = nobody.get(pages[1]["previous"].removeprefix("http://testserver")).json()
    assert [row["number"] for row in back["results"]] == [1, 2]
    monkeypatch.setattr(brackets, "MOST_MATCHES", 1)
    back = nobody.get(pages[1]["previous"].removeprefix("http://testserver")).json()
    assert [row["number"] for row in back["results"]] == [2], "one at least, and the nearest"
    first = nobody.get(back["previous"].removeprefix("http://testserver")).json()
    assert ([row["number"] for row in first["results"]], first["previous"]) == ([1], None)


def test_swiss_standings_show_their_tie_breaks(nobody, alice, league):
    cup = tournaments.create(
        alice,
        "Swiss",
        "partnership",
        boards=1,
        versions=[league.rufo, league.luna, league.sol],
        format="swiss",
        parameters={"rounds": 1},
        secret=made.SECRET,
        now=made.NOW,
    )
    tournaments.start(cup, now=made.NOW)
    made.play(cup.matches.get(), winner=0)

    rows = nobody.get("tournaments/swiss/standings").json()["rows"]

    assert [row["tie_breaks"]["match_points"] for row in rows] == [1.0, 1.0, 0.0]
    assert list(rows[0]["tie_breaks"])[:3] == ["match_points", "buchholz_cut1", "buchholz"]


def test_create_extend_and_close(as_alice, league):
    body = {"name": "Ladder", "game": "partnership", "format": "ladder", "parameters": {"open": 1, "budget": 4}}
    created = as_alice.post(
        "tournaments", body | {"bots": ["rufo", "sol"], "boards": 1, "seeding": "entry", "start": True}
    )

    assert created.status_code == 201, created.json()
    cup = created.json()
    assert (cup["format"], cup["parameters"], cup["seeding"]) == ("ladder", {"open": 1, "budget": 4}, "entry")
    assert (cup["ending"], cup["facts"]) == (None, {})
    grown = as_alice.post("tournaments/ladder/extend", {"parameters": {"budget": 9}}).json()
    assert grown["parameters"] == {"open": 1, "budget": 9}
    refused = as_alice.post("tournaments/ladder/extend", {"parameters": {"budget": 3}})
    assert (refused.status_code, refused.json()["detail"]) == (409, "budget is 9; you can raise it, not change it to 3")
    assert as_alice.post("tournaments/ladder/extend", {"parameters": {}}).status_code == 400
    closed = as_alice.post("tournaments/ladder/close").json()
    assert (closed["status"], closed["ending"]) == ("finished", "closed")
    places = [entry["place"] for entry in as_alice.get("tournaments/ladder/entries").json()["results"]]
    assert sorted(places) == [1, 2]


def test_mixed_pairs_are_created(as_alice, league):
    created = as_alice.post("tournaments", {"name": "Pairs", "game": "partnership", "mixed": True})

    assert created.json()["pool"]["team"] == "mixed"
