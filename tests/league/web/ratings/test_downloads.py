"""Downloads: tables as CSV, and all boards of a pool, from which anybody can compute the leaderboard."""

from __future__ import annotations

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from league.domain.ratings import ratings
from league.models import Match, Pool, Rating
from tests.support import league as made


def rows(answer) -> list[dict[str, str]]:
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(answer.content.decode().splitlines()))


def rated_again(reader, url: str, path, capsys) -> dict:
    answer = reader.get(url)
    path.write_bytes(b"".join(answer.streaming_content))
    capsys.readouterr()
    call_command("rate_boards", str(path), json=True)
    return json.loads(capsys.readouterr().out)


def as_shown(pool: Pool) -> dict[str, tuple[float, float, int]]:
    listed = Rating.objects.filter(pool=pool).select_related("version__bot")
    return {str(row.version): (row.elo, row.margin, row.boards) for row in listed}


@pytest.mark.parametrize(("game", "players"), [("partnership", None), ("cabrero", 3)])
def test_public_boards_give_the_ratings_of_the_league(league, reader, tmp_path, capsys, game, players) -> None:
    three = [league.rufo, league.luna, league.sol]
    more = made.started(league.ana, three, game=game, players=players, name="More")
    for match in more.matches.all():
        made.play(match)
    pool = more.pool
    ratings.refresh(pool, now=made.NOW)
    table = rated_again(reader, f"/g/{game}/boards.jsonl?pool={pool.pk}", tmp_path / "boards.jsonl", capsys)
    again = {row["version"]: (row["elo"], row["margin"], row["boards"]) for row in table["rows"]}
    expected = as_shown(pool)
    assert set(again) == set(expected)
    for name, numbers in expected.items():
        assert again[name] == pytest.approx(numbers, abs=1e-6)
    assert table["matches"] == Match.objects.filter(pool=pool, status="finished", rated=True).count()


def test_a_match_that_was_struck_out_is_not_among_them(league, reader, tmp_path, capsys) -> None:
    before = rated_again(reader, "/g/partnership/boards.jsonl", tmp_path / "before", capsys)["matches"]
    call_command("void_match", league.clean.public_id, why="a test")
    after = rated_again(reader, "/g/partnership/boards.jsonl", tmp_path / "after", capsys)["matches"]
    assert after == before - 1


def test_the_command_says_which_line_it_cannot_read(tmp_path) -> None:
    for text, message in (("", "line 1"), ("{}\n", "line 1"), ("nonsense\n", "line 1: not JSON")):
        path = tmp_path / "boards.jsonl"
        path.write_text(text)
        with pytest.raises(CommandError, match=message):
            call_command("rate_boards", str(path))


POOL = '{"format": 1, "game": "partnership", "players": 4, "sides": null, "anchor": null, "score_size": 1}\n'
MATCH = '{"versions": [[1, "a"], [2, "b"]], "boards": [[1, -1]], "faulty": []}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (POOL.replace("null", '"all"', 1), 'line 1: "sides" must be null or lists of parties, not "all"'),
        (POOL.replace('"anchor": null', '"anchor": []'), 'line 1: "anchor" must be null or the id of a version'),
        ('{"format": 1}', 'line 1: "game" must be'),
        (POOL.replace("null", "[[0, 2], [1, 3]]", 1) + MATCH, "line 2: the sides in line 1 do not fit 2 parties"),
        (POOL + MATCH + MATCH.replace('[2, "b"]', "[[], 2]"), 'line 3: "versions" must be'),
        (POOL + MATCH.replace("-1", "NaN"), "line 2: not JSON (NaN is not JSON)"),
        (POOL + MATCH.replace("-1", "null"), 'line 2: "boards" must be'),
        (POOL + MATCH.replace(", -1", ""), "line 2: every board must have a score for each of the 2 versions"),
        (POOL + MATCH.replace('"faulty": []', '"faulty": [true]'), 'line 2: "faulty" must be'),
        (POOL + '{"versions": "' + "x" * 200 + '"}', 'line 2: "versions" must be a list of [id, name], not "x'),
    ],
)
def test_a_line_of_another_shape_is_named_with_what_is_wrong(text, message, tmp_path) -> None:
    path = tmp_path / "boards.jsonl"
    path.write_text(text)
    with pytest.raises(CommandError) as refused:
        call_command("rate_boards", str(path))
    assert message in str(refused.value)
    assert len(str(refused.value)) < 300


def test_tables_are_csv_too(league, reader) -> None:
    table = rows(reader.get(f"/t/{league.cup.slug}/standings.csv"))
    assert sorted(row["bot"] for row in table) == ["luna", "rufo", "sol"]
    assert sum(float(row["points"]) for row in table) == sum(int(row["boards"]) for row in table) / 2
    board = rows(reader.get("/g/partnership/ratings.csv"))
    expected = as_shown(league.pool)
    assert {f"{row['bot']} v{row['version']}": float(row["elo"]) for row in board} == {
        name: numbers[0] for name, numbers in expected.items()
    }


def test_what_is_not_there_is_not_found(league, reader) -> None:
    for url in ("/g/mus/boards.jsonl", "/g/podrida/boards.jsonl", "/g/podrida/ratings.csv", "/t/none/standings.csv"):
        assert reader.get(url).status_code == 404, url
