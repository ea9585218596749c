"""Addresses of preview pictures.

An address holds the signed content of its picture, so it needs no row, shows nothing that its page does not, and never changes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from league.web.deck.art import SUITS
from league.web.previews.drawing import MOST_CARDS, MOST_LINES, draw

SIGNER = signing.Signer(salt="league.preview")
LONGEST = 600  # Characters of an address.
LINE = 60  # Characters of a line.
COUNTING = "13RCS"  # The ranks that are worth points.
FAN = 7  # Cards where the page has none of its own.
DRAWN = 64  # Pictures that a process remembers, of some 40 KB each.
YEAR_S = 365 * 24 * 3600


def address(lines: Sequence[str], cards: Sequence[str] = ()) -> str:
    """Return the address of a picture with these lines and cards; without cards, with a fan that follows from the lines."""
    texts = [str(line)[:LINE] for line in lines if line][:MOST_LINES]
    shown_cards = [str(card) for card in cards][:MOST_CARDS] or _fan(texts)
    return reverse("preview", args=[SIGNER.sign_object([texts, shown_cards], compress=True)])


def _fan(texts: Sequence[str]) -> list[str]:
    deck = [rank + suit for suit in SUITS for rank in COUNTING]
    return random.Random(crc32("\n".join(texts).encode())).sample(deck, FAN)  # noqa: S311 - an ornament


@lru_cache(DRAWN)
def _picture(token: str) -> bytes:
    texts, cards = SIGNER.unsign_object(token)
    return draw(cards, texts)


@require_safe
def preview(_request: HttpRequest, token: str) -> HttpResponse:
    """Return the picture of an address that this league has made; no other text is drawn. No query."""
    if len(token) > LONGEST:
        raise Http404
    try:
        data = _picture(token)
    except (signing.BadSignature, ValueError):
        raise Http404 from None
    return HttpResponse(
        data, content_type="image/png", headers={"Cache-Control": f"public, max-age={YEAR_S}, immutable"}
    )
