"""Pictures for link previews: drawn from signed content, the same bytes for the same content, and nothing else."""

from __future__ import annotations

import re
import struct
import zlib

import pytest
from django.test import Client

from league.web.previews import drawing, links


def size(data: bytes) -> tuple[int, int]:
    """Return the size of a PNG after reading all of it."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    assert len(zlib.decompress(data[start : start + length])) == height * (width + 1)
    return width, height


def test_a_picture_has_the_size_that_previews_want_and_is_small() -> None:
    data = drawing.draw(["1o", "Ro", "Co"], ["Tute por parejas", "ñandú ½ – 王"])

    assert size(data) == (1200, 630)
    assert len(data) < 60_000
    assert drawing.draw(["1o", "Ro", "Co"], ["Tute por parejas", "ñandú ½ – 王"]) == data
    assert drawing.draw(["1o"], ["Other"]) != data


def test_too_much_of_anything_is_left_out() -> None:
    cards = [rank + suit for suit in "oceb" for rank in "137"]

    assert size(drawing.draw([*cards, "9z"], ["W" * 500, *["x"] * 9])) == (1200, 630)
    assert len(links.address(["W" * 500] * 9, cards)) < links.LONGEST


def test_only_signed_content_is_drawn(client: Client) -> None:
    address = links.address(["champion – greedy"], ["1o"])
    answer = client.get(address)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert "immutable" in answer.headers["Cache-Control"]
    assert links.address(["champion – greedy"], ["1o"]) == address, "kept by content"
    assert client.get(address.replace(".png", "x.png")).status_code == 404
    assert client.get("/preview/anything.png").status_code == 404
    assert client.get(f"/preview/{'a' * 2000}.png").status_code == 404
    assert client.post(address).status_code == 405


@pytest.mark.parametrize("path", ["/", "/learn/", "/docs/first-bot/"])
def test_a_page_names_one_picture_that_there_is(client: Client, db: None, path: str) -> None:
    page = client.get(path, headers={"accept-language": "en"}).content.decode()

    (address,) = re.findall(r'property="og:image" content="http://testserver([^"]+)"', page)
    assert client.get(address).status_code == 200


def test_pages_of_matches_bots_puzzles_and_tournaments_have_their_own(league, stranger: Client) -> None:
    paths = (f"/m/{league.clean.public_id}/", "/bots/rufo/", f"/t/{league.cup.slug}/")
    addresses = [
        re.findall(r'property="og:image" content="http://testserver([^"]+)"', stranger.get(path).content.decode())
        for path in paths
    ]

    assert all(len(matches) == 1 for matches in addresses)
    assert len({matches[0] for matches in addresses}) == len(paths)
