"""The picture of a link preview: a title on green felt, and below it cards, hands or a table. It is drawn from stored sprites, 1200 x 630 pixels."""

from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SPRITES = Path(__file__).with_name("sprites.npz")  # Created by python -m tests.support.sprites.
WIDTH, HEIGHT = 1200, 630
CARD, SUIT, LETTER = (198, 303), (72, 72), (92, 88)  # Sizes of the stored sprites.
EM, OVERHANG = 64, 12  # Height of the stored letters, and the free space to the left of each.
LETTERS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ÁÉÍÓÚÑÜÇÀÈÒáéíóúñüçàèòãõêôâîäöß"
    "·–—-−½:,.;()[]?!¿¡&'’\"“”«»/±+=%#@_*…→♠♥♦♣"
)
FACES = ("serif", "sans")
BACK = "back"
FELT, SHADE = (44, 107, 81), (36, 89, 67)
INK, SOFT, GOLD = (246, 242, 230), (201, 217, 206), (244, 207, 94)
PAPER, EDGE, BLACK, RED = (255, 253, 247), (185, 176, 162), (34, 37, 42), (179, 38, 30)
SIDES = ((140, 194, 255), (255, 180, 103), (212, 182, 255), (244, 227, 107), (255, 159, 203), (159, 240, 208))
MARGIN = 56
TITLES = (62, 50, 42)  # Sizes of a title; the first one that fits is used.
TEXT, SMALL = 30, 28  # Sizes of the lines above and below the body, and of names.
SPACE = 0.3  # Width of a space, as a share of the height of letters.
Pixels = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Colour = tuple[int, int, int]


class DrawnCard(NamedTuple):
    """A card on the table, and its player."""

    card: str
    name: str
    side: int = -1
    wins: bool = False


class Hand(NamedTuple):
    """The cards of a seat. side: the side of the seat, for the colour of its name; -1: none."""

    name: str
    cards: Sequence[str]
    side: int = -1


class Row(NamedTuple):
    """A line of a table: rank, name and value. side: as in `Hand`; wins: True for the winner."""

    place: str
    name: str
    value: str
    side: int = -1
    wins: bool = False


class Picture(NamedTuple):
    """The content of a picture, from top to bottom. curve: values of the chart beside the rows; suit: the trump, beside the title."""

    title: str
    head: str = ""
    suit: str = ""
    cards: Sequence[str] = ()
    laid: Sequence[DrawnCard] = ()
    hands: Sequence[Hand] = ()
    rows: Sequence[Row] = ()
    curve: Sequence[int] = ()
    foot: str = ""


class Box(NamedTuple):
    """A part of the picture, in pixels."""

    x: int
    y: int
    width: int
    height: int


def draw(picture: Picture) -> bytes:
    """Return the picture as a PNG."""
    image = np.empty((HEIGHT, WIDTH, 3), dtype=np.float32)
    image[:] = FELT
    top = _draw_head(image, picture)
    bottom = HEIGHT - MARGIN // 2 - 8
    if picture.foot:
        bottom -= TEXT + 16
        _write(image, picture.foot, MARGIN, bottom + 8, TEXT, SOFT, room=WIDTH - 2 * MARGIN)
    _draw_body(image, picture, Box(MARGIN, top, WIDTH - 2 * MARGIN, bottom - top - 12))
    return _png(image)


def _draw_head(image: Pixels, picture: Picture) -> int:
    """Draw the lines above the body, and return the height at which the body begins."""
    brand = "Tute League"
    x = WIDTH - MARGIN - _width(brand, TEXT, "serif")
    _write(image, brand, x, 40, TEXT, SOFT, "serif")
    _paste(image, _suit("o", 34), x - 46, 39)
    x_start = MARGIN
    if picture.suit:
        _fill(image, Box(x_start, 33, 46, 46), PAPER, 23)
        _paste(image, _suit(picture.suit, 32), x_start + 7, 40)
        x_start += 60
    _write(image, picture.head, x_start, 40, TEXT, SOFT, room=x - 70 - x_start)
    size, lines = _wrapped(picture.title, WIDTH - 2 * MARGIN)
    for number, line in enumerate(lines):
        _write(image, line, MARGIN, 94 + number * round(size * 1.2), size, INK, "serif", WIDTH - 2 * MARGIN)
    return 94 + round(len(lines) * size * 1.2) + 24


def _draw_body(image: Pixels, picture: Picture, box: Box) -> None:
    if picture.rows:
        width = round(box.width * 0.56) if len(picture.curve) > 1 else box.width
        _draw_rows(image, picture.rows, box._replace(width=width))
        if len(picture.curve) > 1:
            x_start = box.x + width + 40
            _draw_curve(image, picture.curve, Box(x_start, box.y, box.x + box.width - x_start, box.height))
    elif picture.hands:
        _draw_hands(image, picture.hands, box)
    elif picture.laid and picture.cards:
        above = round(box.height * 0.47)
        _draw_laid(image, picture.laid, box._replace(height=above))
        _draw_cards(image, picture.cards, Box(box.x, box.y + above + 16, box.width, box.height - above - 16))
    elif picture.laid:
        _draw_laid(image, picture.laid, box)
    else:
        _draw_cards(image, picture.cards, box)


# ---- the kinds of bodies


def _draw_rows(image: Pixels, rows: Sequence[Row], box: Box) -> None:
    height = min(144, box.height // len(rows))
    size, widest = min(58, round(height * 0.5)), box.width - 60
    while size > SMALL and max(_width("  ".join(row[:3]), size, "serif") for row in rows) > widest:
        size -= 2
    places = max(_width(row.place, size, "serif") for row in rows)
    for number, row in enumerate(rows):
        y = box.y + number * height
        _fill(image, Box(box.x, y, box.width, height - 12), SHADE, 12)
        _fill(image, Box(box.x, y, 10, height - 12), _side(row.side, SHADE), 4)
        middle = y + (height - 12 - round(size * 1.2)) // 2
        ink = GOLD if row.wins else INK
        x_start, right = box.x + 32, box.x + box.width - 28
        value = _width(row.value, size, "serif")
        if row.place:
            _write(image, row.place, x_start, middle, size, GOLD, "serif")
        x_start += places + 24 if places else 0
        _write(image, row.name, x_start, middle, size, ink, "serif", right - value - 24 - x_start)
        _write(image, row.value, right - value, middle, size, ink, "serif")


def _draw_hands(image: Pixels, hands: Sequence[Hand], box: Box) -> None:
    columns = 1 if len(hands) < 3 else 2
    down = -(-len(hands) // columns)
    width, height = (box.width - 40 * (columns - 1)) // columns, box.height // down
    for number, hand in enumerate(hands):
        x, y = box.x + number % columns * (width + 40), box.y + number // columns * height
        if hand.name:
            _write(image, hand.name, x, y, SMALL, _side(hand.side, INK), room=width)
        _draw_cards(image, hand.cards, Box(x, y + 42, width, height - 42 - 16), is_centred=False)


def _draw_cards(image: Pixels, cards: Sequence[str], box: Box, *, is_centred: bool = True) -> None:
    """Lay cards in a row, as large as the box allows."""
    if not cards:
        return
    height = min(box.height, CARD[1])
    width = _card_width(height)
    step = min(width + 14, (box.width - width) // max(1, len(cards) - 1))
    x_start = box.x + (box.width - width - step * (len(cards) - 1)) // 2 if is_centred else box.x
    for number, card in enumerate(cards):
        _paste(image, _card(card, height), x_start + number * step, box.y)


def _draw_laid(image: Pixels, laid: Sequence[DrawnCard], box: Box) -> None:
    """Lay the cards of a trick side by side, each above the name of its player."""
    height = min(box.height - 58, CARD[1])
    width = _card_width(height)
    names = max(_width(shown_card.name, SMALL) for shown_card in laid)
    step = min(max(width + 70, names + 40), box.width // len(laid))
    x_start = box.x + (box.width - step * len(laid)) // 2
    for number, shown_card in enumerate(laid):
        x = x_start + number * step + (step - width) // 2
        if shown_card.wins:
            _fill(image, Box(x - 7, box.y, width + 14, height + 14), GOLD, 16)
        _paste(image, _card(shown_card.card, height), x, box.y + 7)
        name = _cut(shown_card.name, SMALL, "sans", step - 8)
        _write(
            image, name, x + (width - _width(name, SMALL)) // 2, box.y + height + 20, SMALL, _side(shown_card.side, INK)
        )


def _draw_curve(image: Pixels, curve: Sequence[int], box: Box) -> None:
    """Draw the curve of a number, with its lowest and highest value."""
    box = box._replace(height=min(box.height, 300))
    _fill(image, box, SHADE, 12)
    low, high = min(curve), max(curve)
    inner = Box(box.x + 24, box.y + 52, box.width - 48, box.height - 104)
    points = [
        (
            inner.x + inner.width * place / (len(curve) - 1),
            inner.y + inner.height * (1 - (value - low) / max(high - low, 1)),
        )
        for place, value in enumerate(curve)
    ]
    for start, end in pairwise(points):
        _line(image, start, end, 3.0, GOLD)
    _disc(image, points[-1], 8.0, GOLD)
    _write(image, str(high), inner.x, box.y + 12, 26, SOFT)
    _write(image, str(low), inner.x, box.y + box.height - 40, 26, SOFT)


# ---- letters


@cache
def _sprites() -> dict[str, Any]:
    with np.load(SPRITES) as stored:
        sprites: dict[str, Any] = {name: stored[name] for name in stored}
    sprites["places"] = {str(name): place for place, name in enumerate(sprites["names"])}
    return sprites


def _place(letter: str) -> int:
    """Return the number of a letter's sprite; without one, that of the letter without accent, or -1."""
    place = LETTERS.find(letter)
    return place if place >= 0 else LETTERS.find(unicodedata.normalize("NFKD", letter)[:1] or " ")


def _width(text: str, size: int, face: str = "sans") -> int:
    """Return the width of a line of text."""
    widths = _sprites()[f"{face}_widths"]
    places = [_place(letter) for letter in text]
    letters = sum(int(widths[place]) for place in places if place >= 0)
    return round(letters * size / EM + text.count(" ") * SPACE * size)


def _cut(text: str, size: int, face: str, room: int) -> str:
    """Shorten a line of text until it fits."""
    if _width(text, size, face) <= room:
        return text
    while text and _width(f"{text}…", size, face) > room:
        text = text[:-1].rstrip()
    return f"{text}…"


def _wrapped(text: str, room: int) -> tuple[int, list[str]]:
    """Break a title into at most two lines; return the size of its letters and the lines."""
    for size in TITLES:
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and _width(longer, size, "serif") > room:
                lines.append(word)
            else:
                lines[-1] = longer
        if len(lines) == 1 or (len(lines) == 2 and size <= TITLES[1]):
            break
    return size, [*lines[:1], *filter(None, [" ".join(lines[1:])])]


def _write(
    image: Pixels, text: str, x: int, y: int, size: int, ink: Colour, face: str = "sans", room: int = WIDTH
) -> None:
    """Write a line of text, shortened to its room. A letter without a sprite is written without its accent, or left out."""
    widths, at = _sprites()[f"{face}_widths"], float(x)
    for letter in _cut(text, size, face, room):
        place = _place(letter)
        if letter == " ":
            at += SPACE * size
        elif place >= 0:
            _tint(image, ink, _opacity(_letter(face, place, size)), round(at - OVERHANG * size / EM), y)
            at += int(widths[place]) * size / EM


@lru_cache(400)
def _letter(face: str, place: int, size: int) -> Bytes:
    stored = _sprites()[face][place].astype(np.float32)
    return _scaled(stored, round(LETTER[1] * size / EM), round(LETTER[0] * size / EM)).astype(np.uint8)


# ---- cards and signs


def _card_width(height: int) -> int:
    return round(CARD[0] * height / CARD[1])


@lru_cache(48)
def _card(card: str, height: int) -> Bytes:
    """Return the pixels of a card, with opacity; a card that our deck lacks is a sign on paper."""
    place = _sprites()["places"].get(card)
    if place is not None:
        return _shrunk(_sprites()["cards"][place], height, _card_width(height))
    image = np.zeros((CARD[1], CARD[0], 3), dtype=np.float32)
    whole = Box(0, 0, CARD[0], CARD[1])
    image[:] = EDGE
    _fill(image, Box(2, 2, CARD[0] - 4, CARD[1] - 4), PAPER, 14)
    ink = RED if card[-1:] in "♥♦" else BLACK
    _write(image, card[:-1], 18, 10, 58, ink, "serif")
    _write(image, card[-1:], 18, 76, 56, ink)
    _write(image, card[-1:], 60, 150, 110, ink)
    pixels = np.dstack([image, 255 * _mask(whole, 14)]).astype(np.uint8)
    return _shrunk(pixels, height, _card_width(height))


@lru_cache(20)
def _suit(suit: str, size: int) -> Bytes:
    place = "oceb".find(suit)
    if place >= 0:
        return _shrunk(_sprites()["suits"][place], size, size)
    image = np.zeros((size, size, 3), dtype=np.float32)
    image[:] = PAPER
    _write(image, suit, 4, -4, size - 2, RED if suit in "♥♦" else BLACK)
    return np.dstack([image, 255 * _mask(Box(0, 0, size, size), 8)]).astype(np.uint8)


def _shrunk(pixels: Bytes, height: int, width: int) -> Bytes:
    """Return pixels with opacity at another size."""
    alpha = _opacity(pixels[:, :, 3])
    colours = [_scaled(pixels[:, :, channel] * alpha, height, width) for channel in range(3)]
    opacity = _scaled(alpha, height, width)
    whole = np.dstack([*(colour / np.maximum(opacity, 1e-3) for colour in colours), 255 * opacity])
    return np.clip(whole + 0.5, 0, 255).astype(np.uint8)


def _scaled(values: Pixels, height: int, width: int) -> Pixels:
    """Resize values: each new value is the mean over its area."""
    return _shares(values.shape[0], height) @ values.astype(np.float32) @ _shares(values.shape[1], width).T


@lru_cache(200)
def _shares(before: int, after: int) -> Pixels:
    """Return the weight of each old row in each new row."""
    edges = np.arange(after + 1, dtype=np.float32) * before / after
    rows = np.arange(before, dtype=np.float32)
    overlap = np.minimum(edges[1:, None], rows + 1) - np.maximum(edges[:-1, None], rows)
    shares: Pixels = np.maximum(overlap, 0) * np.float32(after / before)
    return shares


# ---- shapes


def _paste(image: Pixels, pixels: Bytes, x: int, y: int) -> None:
    _blend(image, pixels[:, :, :3].astype(np.float32), _opacity(pixels[:, :, 3]), x, y)


def _fill(image: Pixels, box: Box, colour: Colour, radius: int) -> None:
    """Fill a box with round corners."""
    _tint(image, colour, _mask(box, radius), box.x, box.y)


def _mask(box: Box, radius: int) -> Pixels:
    """Return the opacity of a box with round corners."""
    y, x = np.ogrid[: box.height, : box.width]
    across = np.abs(x + 0.5 - box.width / 2) - (box.width / 2 - radius)
    down = np.abs(y + 0.5 - box.height / 2) - (box.height / 2 - radius)
    outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0)) + np.minimum(np.maximum(across, down), 0) - radius
    return np.clip(0.5 - outside, 0, 1).astype(np.float32)


def _line(image: Pixels, start: tuple[float, float], end: tuple[float, float], half: float, colour: Colour) -> None:
    """Draw a straight line with round ends. half: half of its width."""
    x_start, top = int(min(start[0], end[0]) - half - 1), int(min(start[1], end[1]) - half - 1)
    right, bottom = int(max(start[0], end[0]) + half + 2), int(max(start[1], end[1]) + half + 2)
    x, y = np.meshgrid(np.arange(x_start, right) + 0.5, np.arange(top, bottom) + 0.5)
    across, down = end[0] - start[0], end[1] - start[1]
    square = max(across**2 + down**2, 1e-6)
    along = np.clip(((x - start[0]) * across + (y - start[1]) * down) / square, 0, 1)
    away = np.hypot(x - start[0] - along * across, y - start[1] - along * down)
    alpha = np.clip(half + 0.5 - away, 0, 1).astype(np.float32)
    _tint(image, colour, alpha, x_start, top)


def _disc(image: Pixels, centre: tuple[float, float], radius: float, colour: Colour) -> None:
    _line(image, centre, centre, radius, colour)


def _side(side: int, otherwise: Colour) -> Colour:
    return SIDES[side % len(SIDES)] if side >= 0 else otherwise


def _opacity(values: Bytes) -> Pixels:
    """Return bytes as shares of their highest value."""
    return (values / 255).astype(np.float32)


def _tint(image: Pixels, colour: Colour, alpha: Pixels, x: int, y: int) -> None:
    """Lay one colour over a part of the image."""
    _blend(image, np.array(colour, dtype=np.float32)[None, None], alpha, x, y)


def _blend(image: Pixels, colours: Pixels, alpha: Pixels, x: int, y: int) -> None:
    """Lay colours over a part of the image; parts outside the image are cut off."""
    rows, columns = slice(max(y, 0), y + alpha.shape[0]), slice(max(x, 0), x + alpha.shape[1])
    part = image[rows, columns]
    height, width = part.shape[:2]
    from_y, from_x = max(-y, 0), max(-x, 0)
    opacity = alpha[from_y : from_y + height, from_x : from_x + width, None]
    whole = np.broadcast_to(colours, (*alpha.shape, 3))
    part += (whole[from_y : from_y + height, from_x : from_x + width] - part) * opacity


def _png(image: Pixels) -> bytes:
    """Return the pixels as a PNG with 32 levels for each channel, which halves the file without a visible difference."""
    pixels = np.round(np.round(np.clip(image, 0, 255) / 255 * 31) / 31 * 255).astype(np.uint8)
    height, width, _channels = pixels.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)]).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return png((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """Return the file of a PNG with these chunks."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
