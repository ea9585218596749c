"""Draw the cards and letters of link previews (league/web/previews) with Chromium: `python -m tests.support.sprites CHROMIUM`.

The sprites are stored, so that a league needs no renderer.
"""

from __future__ import annotations

import io
import struct
import sys
import zlib

import numpy as np
from playwright.sync_api import sync_playwright

from league.web.deck import art
from league.web.previews.drawing import CARD, LETTER, LETTERS, LEVELS, SPRITES

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def read_png(data: bytes) -> Pixels:
    """Return the colours of a PNG written by Chromium: 8 bits a channel, with any filter of the format."""
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
    return image.reshape(height, width, channels)[:, :, :3]


def quantised(image: Pixels) -> Pixels:
    """Return, for each pixel, the number of the nearest colour."""
    red, green, blue = (
        np.round(image[:, :, channel] / 255 * (most - 1)).astype(np.uint8) for channel, most in enumerate(LEVELS)
    )
    return (red * LEVELS[1] + green) * LEVELS[2] + blue


def main(chromium: str) -> None:
    """Draw all cards and letters and store them."""
    names = [rank + suit for suit in art.SUITS for rank in art.RANKS]
    width, height = CARD
    page_of_cards = "".join(
        f'<svg width="{width}" height="{height}" viewBox="0 0 124 190" style="position:absolute;left:{width * i}px;top:0">'
        f'<use href="#card-{name}"/></svg>'
        for i, name in enumerate(names)
    )
    sprite = art.sprite().replace("<svg ", '<svg style="display:none" ', 1)
    style = "body{margin:0;background:#2c6b51}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-lcd-text"])
        page = browser.new_page(viewport={"width": width * len(names), "height": height})
        page.set_content(f"<style>{style}</style>{sprite}{page_of_cards}")
        cards = quantised(read_png(page.screenshot()))
        spans = "".join(
            f'<span style="position:absolute;left:{i * LETTER[0]}px;top:{LETTER[1] // 6}px">{letter if letter != "&" else "&amp;"}</span>'
            for i, letter in enumerate(LETTERS)
        )
        page.set_viewport_size({"width": LETTER[0] * len(LETTERS), "height": LETTER[1]})
        page.set_content(
            f"<style>{style}body{{color:#f6f2e6;font:700 {LETTER[1] * 2 // 3}px/1 'DejaVu Serif',serif}}</style>{spans}"
        )
        letters = quantised(read_png(page.screenshot()))
        widths = page.evaluate("[...document.querySelectorAll('span')].map((one) => one.getBoundingClientRect().width)")
        browser.close()
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        cards=np.stack(np.split(cards, len(names), axis=1)),
        letters=np.stack(np.split(letters, len(LETTERS), axis=1)),
        widths=np.ceil(np.array(widths)).astype(np.int16),
        names=np.array(names),
    )
    SPRITES.write_bytes(buffer.getvalue())
    print(f"{SPRITES}: {len(buffer.getvalue())} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium")
