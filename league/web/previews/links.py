"""Addresses of preview pictures.

An address contains the signed content of its picture. So it needs no row, shows nothing that its page does not show, and never changes.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any
from zlib import crc32

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from league.web.common.words import SUITS, card_name
from league.web.previews.drawing import DrawnCard, Hand, Picture, Row, draw

SIGNER = signing.Signer(salt="league.preview/2")
LONGEST = 1500  # The most characters of an address.
LINE = 100  # The most characters of a line.
NAME = 40  # The most characters of a name.
MOST_CARDS, MOST_SEATS, MOST_ROWS, MOST_POINTS = 14, 8, 5, 40
COUNTING = "13RCS"  # The ranks that are worth points.
FAN = 7  # Number of cards for a page without its own.
DRAWN = 64  # The most pictures in the memory of a process, some 100 KB each.
YEAR_S = 365 * 24 * 3600
Content = dict[str, Any]


def address(picture: Picture) -> str:
    """Return the address of a picture. A picture without a body gets a fan of cards, chosen by its title."""
    return reverse("preview", args=[SIGNER.sign_object(_content(picture), compress=True)])


def general() -> Picture:
    """Return the picture of pages that not everybody may see, which says nothing about them."""
    return Picture(_("Spanish Tute, for people and for bots"))


def words(picture: Picture) -> str:
    """Return the content of a picture in words: a sentence of names and numbers."""
    rows = ", ".join(" ".join(filter(None, (row.place, row.name, row.value))) for row in picture.rows)
    laid = ", ".join(f"{laid_card.name}: {card_name(laid_card.card)}" for laid_card in picture.laid)
    hand = ", ".join(map(card_name, picture.cards))
    return " · ".join(filter(None, (picture.title, picture.head, rows, laid, hand, picture.foot)))


def _content(picture: Picture) -> Content:
    """Return the content for the address of a picture, with every part cut to its limit."""
    picture = picture._replace(
        title=picture.title[:LINE],
        head=picture.head[:LINE],
        foot=picture.foot[:LINE],
        cards=list(picture.cards)[:MOST_CARDS],
        laid=[laid_card._replace(name=laid_card.name[:NAME]) for laid_card in picture.laid[:MOST_SEATS]],
        hands=[Hand(name[:NAME], list(cards)[:MOST_CARDS], side) for name, cards, side in picture.hands[:MOST_SEATS]],
        rows=[row._replace(name=row.name[:NAME]) for row in picture.rows[:MOST_ROWS]],
        curve=list(picture.curve)[-MOST_POINTS:],
    )
    if not (picture.cards or picture.laid or picture.hands or picture.rows):
        picture = picture._replace(cards=_fan(picture.title))
    return {name: value for name, value in picture._asdict().items() if value}


def _fan(text: str) -> list[str]:
    deck = [rank + suit for suit in SUITS for rank in COUNTING]
    return random.Random(crc32(text.encode())).sample(deck, FAN)  # noqa: S311 - an ornament


def read(token: str) -> Picture:
    """Return the picture in a token. Raise BadSignature if this league has not signed the token."""
    content = SIGNER.unsign_object(token)
    parts = {"laid": DrawnCard, "hands": Hand, "rows": Row}
    fields: Content = {
        name: [parts[name](*part) for part in value] if name in parts else value for name, value in content.items()
    }
    return Picture(**fields)


@lru_cache(DRAWN)
def _png(token: str) -> bytes:
    return draw(read(token))


@require_safe
def preview(_request: HttpRequest, token: str) -> HttpResponse:
    """Return the picture of an address that this league has signed; no other content is drawn. No query."""
    if len(token) > LONGEST:
        raise Http404
    try:
        data = _png(token)
    except (signing.BadSignature, ValueError):
        raise Http404 from None
    return HttpResponse(
        data, content_type="image/png", headers={"Cache-Control": f"public, max-age={YEAR_S}, immutable"}
    )
