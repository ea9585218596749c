"""Puzzles by the API: the next one, an answer that counts once, and one's own rating."""

from __future__ import annotations

import pytest

from league.domain.puzzles import shelf
from league.models import PuzzleAnswer


def test_a_puzzle_is_read_and_answered_once(as_alice, nobody) -> None:
    puzzle = as_alice.get("puzzles/next?theme=ruff&rating=1500").json()
    item = shelf.shelf().by_id[puzzle["id"]]
    assert "ruff" in shelf.shelf().themes[item.id]
    assert (puzzle["legal"], puzzle["rating"]) == (item.legal, None)
    assert not puzzle.keys() & {"best", "lost", "margin", "source"}
    assert nobody.get("puzzles/next").status_code == 200
    at = f"puzzles/{item.id}/answers"
    assert nobody.post(at, {"do": item.best[0]}).status_code == 401

    verdict = as_alice.post(at, {"do": item.best[0], "zone": "Europe/Madrid"}).json()
    assert (verdict["solved"], verdict["first"], verdict["best"]) == (True, True, item.best)
    assert verdict["change"] > 100
    assert verdict["standing"]["streak"] == 1
    again = as_alice.post(at, {"do": "solution"}).json()
    assert (again["solved"], again["first"], again["change"]) == (False, False, None)
    assert PuzzleAnswer.objects.get().solved
    standing = as_alice.get("me/puzzles").json()
    assert standing == again["standing"]
    assert (standing["answers"], standing["zone"], standing["provisional"]) == (1, "Europe/Madrid", True)
    assert as_alice.get("puzzles/next?theme=ruff").json()["id"] != item.id


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "puzzles/next?theme=x", None, 400),
        ("GET", "puzzles/next?game=x", None, 400),
        ("GET", "puzzles/next?rating=-1", None, 400),
        ("GET", "puzzles/next?rating=99999", None, 400),
        ("GET", "puzzles/next?theme=capote&game=brisca", None, 404),
        ("POST", "puzzles/{}/answers", {"do": "play 9x"}, 409),
        ("POST", "puzzles/{}/answers", {"do": ""}, 400),
        ("POST", "puzzles/{}/answers", {"do": "solution", "zone": "No/Such"}, 400),
        ("POST", "puzzles/{}/answers", {}, 400),
        ("POST", "puzzles/000000000000/answers", {"do": "solution"}, 404),
    ],
)
def test_what_cannot_be_is_refused(as_alice, method: str, path: str, body, status: int) -> None:
    path = path.format(next(iter(shelf.shelf().by_id)))
    assert as_alice.call(method, path, body).status_code == status
    assert not PuzzleAnswer.objects.exists()
