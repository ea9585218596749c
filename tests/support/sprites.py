"""Draw the cards and letters of link previews (league/web/previews) with Chromium: `python -m tests.support.sprites CHROMIUM`.

The sprites are stored, so that a league needs no renderer.
"""

from __future__ import annotations

import io
import struct
import sys
import zlib
from html import escape

import numpy as np
from playwright.sync_api import Page, sync_playwright

from league.web.common.words import RANKS, SUITS
from league.web.previews.drawing import BACK, CARD, EM, FACES, LETTER, LETTERS, OVERHANG, SPRITES, SUIT

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Widths = np.ndarray[tuple[int, ...], np.dtype[np.int16]]
DECK = SPRITES.parents[2] / "static" / "league" / "cards.svg"
FONTS = {"serif": "700 {}px/1 'DejaVu Serif'", "sans": "400 {}px/1 'DejaVu Sans'"}


def read_png(data: bytes) -> Pixels:
    """Return the colours and the opacity of a PNG of Chromium: 8 bits a channel, with any filter of the format."""
    width, height = struct.unpack(">II", data[16:24])
    channels = {2: 3, 6: 4}[data[25]]
    packed, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw, size = zlib.decompress(packed), width * channels
    image = np.zeros((height, size), dtype=np.uint8)
    before = [0] * size
    for row in range(height):
        start = row * (size + 1)
        kind, line = raw[start], list(raw[start + 1 : start + 1 + size])
        for x in range(size):
            a = line[x - channels] if x >= channels else 0
            b, c = before[x], before[x - channels] if x >= channels else 0
            paeth = min((a, b, c), key=lambda value: (abs(a + b - c - value), (a, b, c).index(value)))
            line[x] = (line[x] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        image[row], before = line, line
    pixels = image.reshape(height, width, channels)
    return pixels if channels == 4 else np.dstack([pixels, np.full((height, width), 255, dtype=np.uint8)])


def symbols(page: Page, names: list[str], size: tuple[int, int], box: str) -> Pixels:
    """Return the pixels of some symbols of the deck."""
    width, height = size
    drawn = "".join(
        f'<svg width="{width}" height="{height}" viewBox="{box}" style="position:absolute;left:{width * i}px;top:0">'
        f'<use href="#{name}"/></svg>'
        for i, name in enumerate(names)
    )
    sprite = DECK.read_text(encoding="utf-8").replace("<svg ", '<svg style="display:none" ', 1)
    page.set_viewport_size({"width": width * len(names), "height": height})
    page.set_content(f"<style>body{{margin:0}}</style>{sprite}{drawn}")
    pixels = read_png(page.screenshot(omit_background=True))
    return np.stack(np.split(pixels, len(names), axis=1))


def coarse(pixels: Pixels) -> Pixels:
    """Return the pixels with 32 levels a channel, which pack to a third."""
    return (np.round(pixels / 255 * 31) / 31 * 255).round().astype(np.uint8)


def letters(page: Page, font: str) -> tuple[Pixels, Widths]:
    """Return the opacity of all letters and their widths, with margins."""
    width, height = LETTER
    spans = "".join(
        f'<span style="position:absolute;left:{i * width + OVERHANG}px;top:{(height - EM) // 2}px">{escape(letter)}</span>'
        for i, letter in enumerate(LETTERS)
    )
    page.set_viewport_size({"width": width * len(LETTERS), "height": height})
    page.set_content(f"<style>body{{margin:0;background:#000;color:#fff;font:{font.format(EM)}}}</style>{spans}")
    drawn = read_png(page.screenshot())[:, :, 0]
    widths = page.evaluate("[...document.querySelectorAll('span')].map((one) => one.getBoundingClientRect().width)")
    return np.stack(np.split(coarse(drawn), len(LETTERS), axis=1)), np.round(np.array(widths)).astype(np.int16)


def main(chromium: str) -> None:
    """Draw all cards, signs and letters and store them."""
    names = [rank + suit for suit in SUITS for rank in RANKS]
    stored: dict[str, object] = {"names": np.array([*names, BACK])}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-lcd-text"])
        page = browser.new_page()
        cards = [f"card-{name}" for name in [*names, "back"]]
        stored["cards"] = coarse(symbols(page, cards, CARD, "0 0 124 190"))
        stored["suits"] = coarse(symbols(page, [f"suit-{suit}" for suit in SUITS], SUIT, "0 0 100 100"))
        for face in FACES:
            stored[face], stored[f"{face}_widths"] = letters(page, FONTS[face])
        browser.close()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **stored)  # type: ignore[arg-type]
    SPRITES.write_bytes(buffer.getvalue())
    print(f"{SPRITES}: {len(buffer.getvalue())} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium")
