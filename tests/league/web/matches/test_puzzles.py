"""Puzzles for people: what is shown, what an answer is worth, and which one counts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from engine.puzzles import Puzzle, read
from league.domain.people import players
from league.domain.puzzles import shelf
from league.models import Judgement, Mistake, MistakeSearch, Player, PuzzleAnswer, Solver
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.page import Page, faults
from tests.support.league import accepted, play, started


def some() -> Puzzle:
    """Return the first puzzle whose choices are all cards."""
    return next(
        puzzle for puzzle in shelf.shelf().by_id.values() if all(text.startswith("play ") for text in puzzle.legal)
    )


def wrong(puzzle: Puzzle) -> str:
    return next(text for text in puzzle.legal if text not in puzzle.best)


def told(client: Client, path: str, **data: str) -> str:
    answer = client.post(path, data) if data else client.get(path)
    assert answer.status_code == 200, answer.content.decode()[-2000:]
    page = Page(answer.content.decode())
    assert faults(page) == []
    return " ".join(page.text.split())


@pytest.fixture
def ana(db) -> Player:
    return players.create("ana")


@pytest.fixture
def stranger(db) -> Client:
    return Client(headers={"accept-language": "en"})


@pytest.fixture
def as_ana(ana) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(ana.user)
    return client


def test_the_file_of_the_league_holds_puzzles_worth_the_name() -> None:
    lines = Path(str(settings.PUZZLES)).read_text(encoding="utf-8").splitlines()
    puzzles = [read(line) for line in lines]

    assert len({puzzle.id for puzzle in puzzles}) == len(lines) >= 75
    assert len({puzzle.game for puzzle in puzzles}) >= 5
    for puzzle in puzzles:
        assert len(puzzle.legal) >= 3
        assert set(puzzle.legal) - set(puzzle.best) != {"claim"}
        assert {text.split()[1] for text in puzzle.legal if text.startswith("play ")} <= set(puzzle.hand)
        assert all(event.keys().isdisjoint(("hands", "rest")) for event in puzzle.events), "cards of others"


def test_a_page_tells_what_the_seat_knew_and_an_answer_what_each_choice_gives_away(stranger) -> None:
    puzzle = some()
    at = f"/puzzles/{puzzle.id}/"
    text = told(stranger, at)
    assert "What would you do?" in text
    assert "gives away" not in text
    replay = stranger.get(f"{at}replay.json").json()
    [deal] = [event for event in replay["events"] if event["e"] == "deal"]
    assert deal["hand"]
    assert deal["to"] == [puzzle.seat]
    assert json.dumps(replay).count('"hand"') == 1

    text = told(stranger, at, do=puzzle.best[0])
    assert "Correct! That is the best choice." in text
    assert "This answer counts" not in text
    text = told(stranger, at, do=wrong(puzzle))
    assert f"is not the best choice: it gives away {puzzle.lost[wrong(puzzle)]:.2f} points on average." in text
    assert "Next puzzle" in text
    refused = stranger.post(at, {"do": "play 9x"})
    assert refused.status_code == 422
    assert "none of the choices here" in refused.content.decode()
    assert "What would you do?" in refused.content.decode()
    assert not PuzzleAnswer.objects.exists()
    assert stranger.get("/puzzles/000000000000/").status_code == 404


def test_the_viewer_sits_at_the_bottom_and_is_spoken_to(stranger) -> None:
    puzzle = next(
        item for item in shelf.shelf().by_id.values() if item.players == 4 and item.seat and "play" in item.legal[0]
    )
    at = f"/puzzles/{puzzle.id}/"
    assert f'seat="{puzzle.seat}"' in stranger.get(at).content.decode()
    replay = stranger.get(f"{at}replay.json", headers={"accept-language": "es"}).json()
    assert replay["seats"][puzzle.seat]["name"] == "Tú"
    assert replay["seats"][(puzzle.seat + 1) % 4]["name"] == "Derecha"
    assert set(replay["sides"].values()) == {"Nosotros", "Ellos"}
    text = " ".join(Page(stranger.get(at, headers={"accept-language": "es"}).content.decode()).text.split())
    own = [event for event in puzzle.events if event["e"] == "play" and event["seat"] == puzzle.seat]
    assert text.count(" Echas ") == len(own)
    assert "Tu asiento echa" not in text


@pytest.mark.slow
def test_on_a_phone_the_question_the_table_and_the_hand_are_in_one_view(live_server, visit) -> None:
    puzzle = next(
        item for item in shelf.shelf().by_id.values() if item.players == 4 and item.seat and "play" in item.legal[0]
    )
    page = visit(f"{live_server.url}/puzzles/{puzzle.id}/", width=390, height=844).page
    page.locator("tute-replay.ready .felt").wait_for()
    felt, hand = page.locator(".felt").bounding_box(), page.locator("#hand button.ok").first.bounding_box()
    assert hand["y"] > felt["y"] + felt["height"]
    assert hand["y"] + 40 < 844 - page.locator(".tabbar").bounding_box()["height"]


def test_the_first_answer_counts(as_ana, ana) -> None:
    puzzle = some()
    at = f"/puzzles/{puzzle.id}/"

    assert "This answer counts." in told(as_ana, at, do=wrong(puzzle))
    assert "Only your first answer counts." in told(as_ana, at, do=puzzle.best[0])

    row = PuzzleAnswer.objects.get()
    assert (row.player, row.puzzle, row.answer, row.solved) == (ana, puzzle.id, wrong(puzzle), False)
    other = shelf.shelf().next_after(puzzle)
    assert other is not None
    told(as_ana, f"/puzzles/{other.id}/", do=other.best[0])
    counted = told(as_ana, "/puzzles/")
    assert f" {len(shelf.shelf().by_game[puzzle.game])} 2 1 " in counted


def test_a_counting_answer_shows_rating_streak_and_themes_and_the_solution_counts_as_wrong(as_ana, ana) -> None:
    first, second = shelf.shelf().about("ruff")[:2]
    page = told(as_ana, f"/puzzles/{first.id}/?theme=ruff", do=first.best[0], zone="Europe/Madrid")
    assert re.search(r"Your puzzle rating: 1\d\d\d \(\+\d+\)\. Streak: 1 day\.", page)
    assert "Trump in" in page
    assert Solver.objects.get().zone == "Europe/Madrid"
    following = as_ana.get("/puzzles/next/?theme=ruff")
    assert following.url.endswith("?theme=ruff")
    assert first.id not in following.url
    page = told(as_ana, f"/puzzles/{second.id}/", do="solution")
    assert "Best: " in page
    assert "Correct!" not in page
    assert not PuzzleAnswer.objects.get(puzzle=second.id).solved
    overview = told(as_ana, "/puzzles/")
    assert "Today is done." in overview
    assert "no list shows it, and nothing depends on it" in overview
    assert as_ana.get("/puzzles/next/?theme=no-such&game=x").url == "/puzzles/"


def test_a_mistake_is_solved_by_its_owner_alone(as_ana, ana, stranger) -> None:
    item = some()
    other = players.create("berto")
    mine_and_theirs = [(ana, item), (other, shelf.shelf().next_after(item))]
    for player, puzzle in mine_and_theirs:
        judged = rated_analysis(player)
        line = replace(puzzle, source={**puzzle.source, "played": wrong(puzzle)}).line()
        search = MistakeSearch.objects.create(player=player, judgement=judged, created=player.created)
        Mistake.objects.create(
            player=player, search=search, puzzle=puzzle.id, line=line, created=player.created, due=date(2020, 1, 1)
        )
    own, theirs = (f"/puzzles/mistakes/{puzzle.id}/" for _player, puzzle in mine_and_theirs)
    assert "Solve 1 mistake" in told(as_ana, "/puzzles/mistakes/")
    for path in (theirs, f"{theirs}replay.json", "/puzzles/mistakes/000000000000/"):
        assert as_ana.get(path).status_code == 404
    for path in ("/puzzles/mistakes/", own, f"{own}replay.json"):
        assert stranger.get(path).url.startswith("/accounts/login/")
    assert as_ana.get(f"{own}replay.json").json()["events"]
    assert "from a match of your bot" in told(as_ana, own)
    assert as_ana.post(own, {"do": "play 9x"}).status_code == 422
    page = told(as_ana, own, do=item.best[0])
    assert "Correct!" in page
    assert "Played then: " in page
    assert "It comes back on" in page
    assert "That was the last one for today." in page
    assert Mistake.objects.get(player=ana).box == 1
    assert "Streak" in told(as_ana, "/puzzles/")
    answer = as_ana.post("/puzzles/mistakes/", follow=True)
    assert "Nothing new to search." in answer.content.decode()


def rated_analysis(player: Player) -> Judgement:
    versions = [accepted(player, f"{player.name}-{number}") for number in range(2)]
    match = play(started(player, versions, name=f"{player.name}'s cup").matches.get())
    return Judgement.objects.create(match=match, kind="fair", judge="x", created=player.created)


def test_who_has_tried_all_is_told_so(as_ana, ana) -> None:
    puzzle = some()
    row = shelf.shelf().by_game[puzzle.game]
    fields = {"game": puzzle.game, "answer": "x", "solved": True, "created": ana.created}
    PuzzleAnswer.objects.bulk_create(
        PuzzleAnswer(player=ana, puzzle=each.id, **fields) for each in row if each != puzzle
    )

    assert "You have solved every puzzle of this game." in told(as_ana, f"/puzzles/{puzzle.id}/", do=puzzle.best[0])


def test_a_league_without_puzzles_shows_none(stranger, settings, tmp_path, caplog) -> None:
    assert 'href="/puzzles/"' in stranger.get("/").content.decode()
    settings.PUZZLES = ""
    for path in ("/puzzles/", f"/puzzles/{'0' * 12}/", "/puzzles.jsonl"):
        assert stranger.get(path).status_code == 404
    settings.PUZZLES = str(tmp_path / "other.jsonl")
    assert "No puzzle has been found yet" in told(stranger, "/puzzles/")
    assert "cannot read the puzzles" in caplog.text

    (tmp_path / "other.jsonl").write_text('{"format":"x"}\n')
    assert "No puzzle has been found yet" in told(stranger, "/puzzles/")
    assert "line 1" in caplog.text
    (tmp_path / "other.jsonl").write_bytes(b"\xff\xfe no text")
    assert stranger.get("/").status_code == 200
    (tmp_path / "other.jsonl").write_text("oops\n\n" + some_line())
    assert stranger.get("/puzzles/").status_code == 200, "a file that has changed is read again"
    assert b"".join(stranger.get("/puzzles.jsonl").streaming_content).decode().endswith(some_line())


def some_line() -> str:
    return (
        Path(__file__)
        .resolve()
        .parents[4]
        .joinpath("bots", "puzzles.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()[0]
        + "\n"
    )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_puzzle_is_solved_by_keyboard_on_a_narrow_screen(browser, live_server) -> None:
    puzzle = some()
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(PATIENT_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(f"{live_server.url}/puzzles/{puzzle.id}/", wait_until="networkidle")
    card = page.locator(f'#hand button[value="{puzzle.best[0]}"]')
    card.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Correct! That is the best choice.").wait_for()

    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    assert errors == []
    context.close()
