"""Numbers as people read them."""

import pytest

from league.templatetags.league_web import in_unit


@pytest.mark.parametrize(
    ("score", "size", "text"),
    [(162, 1, "162"), (-4, 1, "−4"), (None, 1, ""), (1118, 1000, "1.118"), (90, 1000, "0.090"), (0, 1000, "0.000")],
)
def test_score_in_the_unit_of_the_game(score: int | None, size: int, text: str) -> None:
    assert in_unit(score, size) == text


def test_pages_are_compressed(client, db) -> None:
    answer = client.get("/", headers={"accept-encoding": "gzip"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < 8_000
