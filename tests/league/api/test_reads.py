"""Every read of the API. That answers have the shape of the document is checked by the client on each call."""

from __future__ import annotations

import pytest

import engine
from league.domain.ratings import ratings
from league.models import Comment, Match
from tests.support import league as made


def test_games_list_what_the_engine_has(nobody):
    rows = nobody.results("games?page_size=100")

    assert [row["key"] for row in rows] == engine.games()
    row = next(row for row in rows if row["key"] == "partnership")
    assert row["title"] == engine.load("partnership").title
    assert row["players"] == [4]


def test_game_tells_its_options_at_the_table_asked_for(nobody):
    five = nobody.get("games/cabrero?players=5").json()

    loaded = engine.load("cabrero", players=5)
    assert five["seats"] == 5
    assert {option["name"]: option["default"] for option in five["options"]} == loaded.options_all
    assert five["sides"] == [[0], [1], [2], [3], [4]]


def test_players_count_their_bots(nobody, league):
    assert nobody.get("players/alice").json() == {"name": "alice", "created": "2026-01-01T12:00:00Z", "bots": 1}
    assert [row["name"] for row in nobody.results("players?q=ERT")] == ["berto"]


def test_bot_tells_its_newest_accepted_version(nobody, league):
    bot = nobody.get("bots/rufo").json()

    assert (bot["owner"], bot["state"], bot["versions"], bot["newest_accepted"]) == ("alice", "active", 2, 1)
    assert [row["slug"] for row in nobody.results("bots?owner=berto")] == ["luna"]
    assert nobody.results("bots?house=true") == []
    assert [row["slug"] for row in nobody.results("bots?state=active&q=U")] == ["luna", "rufo"]


def test_versions_are_listed_and_read(nobody, league):
    rows = nobody.results("bots/rufo/versions")

    assert [(row["number"], row["status"]) for row in rows] == [(2, "validating"), (1, "accepted")]
    assert {**rows[1], "checks": [], "waits": None} == nobody.get(f"versions/{league.rufo.pk}").json()
    assert [row["id"] for row in nobody.results("versions?status=validating")] == [league.validating.pk]
    assert rows[1]["games"] == ["cabrero", "corriente", "partnership"]


def test_version_is_rated_in_its_pools(nobody, league):
    rows = nobody.results(f"versions/{league.rufo.pk}/ratings")

    assert [(row["pool"]["game"], row["boards"], row["opponents"], row["faults"]) for row in rows] == [
        ("partnership", 4, 2, 1)
    ]


def test_tournament_counts_entries_and_matches(nobody, league):
    cup = nobody.get("tournaments/cup").json()

    assert (cup["status"], cup["entries"], cup["matches"], cup["matches_finished"]) == ("finished", 3, 3, 3)
    assert cup["secret"] == made.SECRET.hex()
    assert [row["slug"] for row in nobody.results("tournaments?status=open")] == ["next-cup"]
    assert [row["slug"] for row in nobody.results("tournaments?game=partnership&owner=alice")] == ["cup"]


def test_comments_of_a_sitting_are_listed_newest_first(nobody, league):
    at = {"match": league.faulty, "board": 1, "sitting": 0, "author": league.alice, "created": made.NOW}
    first = Comment.objects.create(**at, text="<b> [Rb]", step="d1p3")
    second = Comment.objects.create(**at, text="yes", answers=first)
    Comment.objects.create(**at, text="rude", hidden=made.NOW)
    address = f"matches/{league.faulty.public_id}/boards/1/sittings/0/comments"
    rows = [(row["id"], row["author"], row["step"], row["answers"], row["text"]) for row in nobody.results(address)]
    assert rows == [(second.pk, "alice", "", first.pk, "yes"), (first.pk, "alice", "d1p3", None, "<b> [Rb]")]
    assert nobody.get(address.replace("boards/1", "boards/9")).status_code == 404
    Match.objects.update(embargo=made.later(10**9))
    assert nobody.get(address).status_code == 404


def test_secret_of_an_open_tournament_stays_secret(nobody, as_alice, league):
    for caller in (nobody, as_alice):
        tournament = caller.get("tournaments/next-cup").json()
        assert tournament["secret"] is None
        assert len(tournament["secret_sha256"]) == 64


def test_entries_are_listed_by_number(nobody, league):
    rows = nobody.results("tournaments/cup/entries")

    assert [(row["number"], row["version"]["bot"]) for row in rows] == [(0, "rufo"), (1, "luna"), (2, "sol")]


def test_standings_agree_with_the_crosstable(nobody, league):
    table = nobody.get("tournaments/cup/standings").json()

    assert table["matches"] == {"finished": 3}
    assert sorted(row["entry"] for row in table["rows"]) == [0, 1, 2]
    for row in table["rows"]:
        cells = [cell for cell in table["crosstable"] if cell["entry"] == row["entry"]]
        assert row["points"] == sum(cell["points"] for cell in cells)
        assert row["boards"] == sum(cell["boards"] for cell in cells) == 4
        assert all(len(cell["matches"]) == 1 for cell in cells)
    assert {row["version"]["bot"]: row["faults"] for row in table["rows"]} == {"rufo": 1, "luna": 0, "sol": 0}


def test_matches_are_filtered_by_who_sits_there(nobody, league):
    everything = nobody.results("matches")

    played = [row for row in everything if row["kind"] == "tournament"]
    assert len(played) == 3
    assert {row["tournament"] for row in played} == {"cup"}
    of_luna = nobody.results("matches?bot=luna&tournament=cup")
    assert len(of_luna) == 2
    assert nobody.results(f"matches?version={league.luna.pk}&kind=tournament") == of_luna
    assert nobody.results("matches?player=berto&status=finished") == of_luna
    assert nobody.results("matches?rated=false&kind=tournament") == []
    assert nobody.results("matches?bot=nobody") == []


def test_a_listed_match_tells_what_the_match_tells(nobody, league):
    for listed in nobody.get("matches").json()["results"]:
        whole = nobody.get(f"matches/{listed['id']}").json()
        parties = [{name: party[name] for name in listed["parties"][0]} for party in whole["parties"]]
        assert listed == {name: whole[name] for name in listed} | {"parties": parties}


def test_boards_have_sittings(nobody, league):
    rows = nobody.results(f"matches/{league.faulty.public_id}/boards")

    assert [row["number"] for row in rows] == [1, 2]
    assert rows[0] == nobody.get(f"matches/{league.faulty.public_id}/boards/1").json()
    assert [sitting["number"] for sitting in rows[0]["sittings"]] == [0, 1]
    assert rows[0]["sittings"][0]["seating"] == [0, 1, 0, 1]
    assert rows[0]["sittings"][0]["fault"] == "crash"


def test_replay_holds_events_and_actions_that_verify(nobody, league):
    replay = nobody.get(f"matches/{league.faulty.public_id}/boards/2/sittings/1/replay").json()

    plain = {name: value for name, value in replay.items() if name != "notes"}
    engine.replay.verify(plain)
    assert replay["events"][1]["hands"]


@pytest.mark.parametrize("seat", ["0", "3", "public"])
def test_restricted_replay_tells_no_hidden_card(nobody, league, seat):
    whole = nobody.get(f"matches/{league.faulty.public_id}/boards/2/sittings/1/replay").json()
    seat_view = nobody.get(f"matches/{league.faulty.public_id}/boards/2/sittings/1/replay?seat={seat}").json()

    number = None if seat == "public" else int(seat)
    assert seat_view["events"] == engine.redact(whole["events"], number)
    assert str(seat_view["view"]) == seat
    assert not {"actions", "seed", "meta"} & set(seat_view)
    assert "hands" not in str(seat_view["events"])


def test_notes_and_stderr_are_for_the_owner(nobody, as_alice, as_charlie, as_operator, league):
    path = f"matches/{league.faulty.public_id}"
    number = league.faulty.parties.get(version=league.rufo).number

    for caller, private in ((nobody, False), (as_charlie, False), (as_alice, True), (as_operator, True)):
        party = caller.get(path).json()["parties"][number]
        assert party["fault"] == "crash"
        assert party["fault_at"] == {"board": 1, "sitting": 0, "step": 3}
        assert (party["stderr"] == "log of rufo v1") is private
        assert (party["fault_detail"] == "exit code 1: secret trace") is private
        assert ("request" in party["faults"][0]) is private
        assert ("secret" in str(party)) is private
    rival = as_alice.get(path).json()["parties"][1 - number]
    assert (rival["stderr"], rival["fault_detail"], rival["fault"]) == (None, None, None)


def test_pools_and_leaderboard(nobody, league):
    (pool,) = list(nobody.results("pools?game=partnership&players=4"))
    rows = nobody.results(f"pools/{pool['id']}/leaderboard")

    assert pool == nobody.get(f"pools/{league.pool.pk}").json()
    assert pool["bots"] == 3
    assert [row["elo"] for row in rows] == sorted((row["elo"] for row in rows), reverse=True)
    assert {row["version"]["bot"] for row in rows} == {"rufo", "luna", "sol"}
    assert all(row["provisional"] and not row["idle"] and row["day"] is None for row in rows)  # four boards
    assert [row["place"] for row in rows] == [1, 2, 3]
    (own_row,) = nobody.results(f"pools/{pool['id']}/leaderboard?owner=alice")
    assert own_row == next(row for row in rows if row["version"]["bot"] == "rufo")
    assert list(nobody.results(f"pools/{pool['id']}/leaderboard?show=active")) == rows
    assert list(nobody.results(f"pools/{pool['id']}/leaderboard?show=house")) == []
    for wrong in ("show=best", "limit=slow", "limit=%00"):
        assert nobody.get(f"pools/{pool['id']}/leaderboard?{wrong}").status_code == 400
    assert [row["place"] for row in nobody.results(f"pools/{pool['id']}/leaderboard?limit=small")] == [1, 2, 3]
    assert list(nobody.results(f"pools/{pool['id']}/leaderboard?limit=open")) == []
    assert len(nobody.results(f"pools/{pool['id']}/leaderboard?every_version=true")) == 3


def test_history_adds_up_to_the_leaderboard(nobody, league):
    points = nobody.results(f"pools/{league.pool.pk}/history?bot=luna")
    board = {row["version"]["bot"]: row["elo"] for row in nobody.results(f"pools/{league.pool.pk}/leaderboard")}

    assert len(points) == 2
    assert nobody.results(f"pools/{league.pool.pk}/history?version={league.luna.pk}") == points
    assert ratings.refresh(league.pool) is False
    assert set(board) == {"rufo", "luna", "sol"}


def test_queue_says_why_nothing_moves(nobody, league):
    queue = nobody.get("queue").json()

    assert (queue["queued"], queue["playing"], queue["workers"]) == (1, 0, 0)
    assert "no worker is running" in queue["starved"]


def test_me_and_tokens_are_the_callers_own(as_alice, as_charlie):
    assert as_alice.get("me").json()["name"] == "alice"
    account = {"name": "charlie", "staff": False, "rights": [], "created": "2026-01-01T12:00:00Z"}
    assert as_charlie.get("me").json() == account
    assert [row["label"] for row in as_alice.results("tokens")] == ["test"]


def test_index_lists_every_operation_as_page_and_as_json(nobody):
    from league.api.http.index import operations

    page = nobody.get("/api/v1/", headers={"Accept": "text/html"})
    plain = nobody.get("/api/v1/", headers={"Accept": "*/*"}).json()

    assert page["Content-Type"].startswith("text/html")
    assert plain["operations"] == operations()
    for operation in operations():
        assert operation["path"] in page.content.decode()
        assert operation["summary"] in page.content.decode()
        assert ", ".join(operation["query"]) in page.content.decode()


def test_head_is_get_without_a_body(nobody, league):
    response = nobody.client.head("/api/v1/bots/rufo")

    assert (response.status_code, response.content) == (200, b"")


def test_two_bots_are_compared_by_pool(nobody, league):
    rows = nobody.results("bots/rufo/versus/luna")

    assert [row["pool"]["game"] for row in rows] == ["partnership"]
    back = nobody.results("bots/luna/versus/rufo")[0]
    assert (rows[0]["wins"], rows[0]["losses"]) == (back["losses"], back["wins"])
    assert rows[0]["boards"] == rows[0]["wins"] + rows[0]["draws"] + rows[0]["losses"] > 0
    assert nobody.get("bots/rufo/versus/rufo").status_code == 404
    assert nobody.get("bots/rufo/versus/none").status_code == 404
