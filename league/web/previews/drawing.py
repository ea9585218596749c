"""The picture of a link preview: a felt with cards and lines of text, drawn from stored sprites. 1200 x 630 pixels."""

from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SPRITES = Path(__file__).with_name("sprites.npz")  # python -m tests.support.sprites draws them.
WIDTH, HEIGHT = 1200, 630
CARD = (132, 202)
LETTER = (64, 72)  # The cell of a letter.
STEP = 78  # From line to line.
GAP = 22  # Width of a space.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ÁÉÍÓÚÑÜáéíóúñü·–-½:,.()?!&'/±+%"
LEVELS = (6, 7, 6)  # Of red, green and blue: 252 colours.
FELT = (44, 107, 81)
MARGIN = 60
MOST_CARDS, MOST_LINES = 10, 3  # Of an address.
Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def number_of(red: int, green: int, blue: int) -> int:
    """Return the number of the nearest colour."""
    levels = [round(value / 255 * (most - 1)) for value, most in zip((red, green, blue), LEVELS, strict=True)]
    return (levels[0] * LEVELS[1] + levels[1]) * LEVELS[2] + levels[2]


@cache
def _sprites() -> dict[str, Any]:
    with np.load(SPRITES) as stored:
        sprites: dict[str, Any] = {name: stored[name] for name in ("cards", "letters", "widths", "names")}
    sprites["places"] = {str(name): place for place, name in enumerate(sprites["names"])}
    return sprites


def draw(cards: Sequence[str], lines: Sequence[str]) -> bytes:
    """Return a PNG with at most ten cards in a row, above as many lines of text as there is room for."""
    image = np.full((HEIGHT, WIDTH), number_of(*FELT), dtype=np.uint8)
    row = [card for card in cards if card in _sprites()["places"]][:MOST_CARDS]
    top = MARGIN
    if row:
        _lay(image, row, top)
        top += CARD[1] + 40
    rows = [row for line in lines for row in _wrap(line)]
    for number, line in enumerate(rows[: (HEIGHT - MARGIN // 2 - top) // STEP]):
        _write(image, line, top + number * STEP)
    return _png(image)


def _lay(image: Pixels, cards: Sequence[str], top: int) -> None:
    sprites = _sprites()
    room = WIDTH - 2 * MARGIN - CARD[0]
    step = min(CARD[0] + 16, room // max(1, len(cards) - 1))
    for number, card in enumerate(cards):
        x = MARGIN + number * step
        image[top : top + CARD[1], x : x + CARD[0]] = sprites["cards"][sprites["places"][card]]


def _place(letter: str) -> int:
    """Return the number of a letter's sprite, of the same without its accent, or -1."""
    place = LETTERS.find(letter)
    return place if place >= 0 else LETTERS.find(unicodedata.normalize("NFKD", letter)[:1] or " ")


def _wrap(line: str) -> list[str]:
    """Break a line at its spaces, so that it fits."""
    widths, rows, x = _sprites()["widths"], [""], 0
    for word in line.split():
        length = sum(int(widths[place]) for letter in word if (place := _place(letter)) >= 0)
        if rows[-1] and x + length > WIDTH - 2 * MARGIN:
            rows.append("")
            x = 0
        rows[-1] = f"{rows[-1]} {word}".strip()
        x += length + GAP
    return rows


def _write(image: Pixels, line: str, top: int) -> None:
    """Write a line until its end or the margin. A letter without a sprite is written without its accent, or left out."""
    sprites = _sprites()
    x = MARGIN
    for letter in line:
        if letter == " ":
            x += GAP
            continue
        place = _place(letter)
        if place < 0:
            continue
        width = int(sprites["widths"][place])
        if x + width > WIDTH - MARGIN:
            return
        image[top : top + LETTER[1], x : x + width] = sprites["letters"][place][:, :width]
        x += width


def _png(image: Pixels) -> bytes:
    """Write pixels of these colours as a PNG."""
    height, width = image.shape
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), image]).tobytes()
    red, green, blue = LEVELS
    palette = bytes(
        round(255 * level / (most - 1))
        for number in range(red * green * blue)
        for level, most in zip((number // (green * blue), number // blue % green, number % blue), LEVELS, strict=True)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
