"""A replay that is damaged, exchanged or not kept: every way to it says so, with its status and in the reader's language."""

from __future__ import annotations

import json

import pytest

from league.models import Board, MatchLog, Sitting
from tests.support.parts import mostly_slow

DAMAGED = "la repetición guardada del reparto 1, colocación 1, de la partida {match} está dañada"
EXCHANGED = "la repetición guardada del reparto 1, colocación 1, de la partida {match} es de otra colocación"
MISSING = "la repetición del reparto 1, colocación 1, de la partida {match} ya no se conserva"
WAYS = {"damaged": (DAMAGED, 500), "exchanged": (EXCHANGED, 500), "missing": (MISSING, 410)}


@pytest.mark.parametrize("way", mostly_slow(WAYS, "damaged".__eq__))
def test_every_way_to_a_replay_says_what_happened_to_it(league, reader, way: str) -> None:
    log, other = MatchLog.objects.get(match=league.clean), MatchLog.objects.get(match=league.faulty)
    log.data = {"damaged": bytes(log.data)[:-9], "exchanged": bytes(other.data), "missing": b""}[way]
    log.save()
    words, status = WAYS[way][0].format(match=league.clean.public_id), WAYS[way][1]

    for address in ("/", "/?b=1&s=0", "/b/1/", "/replay.json", ".txt"):
        answer = reader.get(f"/m/{league.clean.public_id}{address}")
        assert (address, answer.status_code) == (address, status)
        text = answer.json()["error"] if address == "/replay.json" else answer.content.decode()
        assert words[1:] in text
    lines = b"".join(reader.get(f"/m/{league.clean.public_id}.jsonl").streaming_content).decode().splitlines()
    assert ["error" in json.loads(line) for line in lines] == [True] * 4
    assert "tute-replay" not in reader.get(f"/m/{league.clean.public_id}/").content.decode()
    for query in ("", "?seat=0"):
        answer = reader.get(f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/replay{query}")
        problem = answer.json()
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
        assert (problem["status"], words in problem["detail"]) == (status, True)
        assert problem["what_to_do"]
    assert reader.get(f"/m/{league.faulty.public_id}/").status_code == 200


def test_a_sitting_whose_row_is_gone_is_gone_and_not_unknown(league, reader) -> None:
    place = f"/api/v1/matches/{league.clean.public_id}/boards"
    Sitting.objects.filter(board__match=league.clean, board__number=1, number=0).delete()
    Board.objects.filter(match=league.clean, number=2).delete()

    for board, sitting in ((1, 0), (2, 1)):
        answer = reader.get(f"{place}/{board}/sittings/{sitting}/replay")
        assert (answer.status_code, answer["Content-Type"]) == (410, "application/problem+json")
        words = f"la repetición del reparto {board}, colocación {sitting + 1}, de la partida {league.clean.public_id} ya no se conserva"
        assert words in answer.json()["detail"]
    for never in ("/1/sittings/9/replay", "/9/sittings/0/replay", "/0/sittings/0/replay"):
        assert reader.get(place + never).status_code == 404

    Board.objects.filter(match=league.clean).delete()
    answer = reader.get(f"/m/{league.clean.public_id}/replay.json")
    assert (answer.status_code, "ya no se conserva" in answer.json()["error"]) == (410, True)


def test_a_match_whose_boards_are_gone_says_so(league, reader) -> None:
    Board.objects.filter(match=league.clean).delete()

    answer = reader.get(f"/m/{league.clean.public_id}/")

    assert answer.status_code == 410
    assert "os repartos de esta partida se han borrado" in answer.content.decode()
