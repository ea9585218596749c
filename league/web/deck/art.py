"""The drawing of the forty cards of a Spanish deck, and of a back, as one SVG sprite. It is our own work, without outside art.

`sprite()` is a pure function: the same text on every machine. Pages show a card by `<svg><use href="/static/league/cards.svg#card-1o"/></svg>`.
Symbols are `card-<rank><suit>` in the notation of the rules book (`card-Ro`, `card-7b`), `card-back` and `suit-o`, `suit-c`, `suit-e`, `suit-b`.

Suits differ by shape, colour, frame and title. The frame is broken 0, 1, 2 or 3 times for coins, cups, swords and batons: the *pinta* of real
Spanish cards. Paper takes the page's `--card-paper`: cards are less bright on a dark page.
"""
# ruff: noqa: E501 - shapes, not sentences

from __future__ import annotations

from league.web.deck.figures import court
from league.web.deck.signs import ACE, SIGN

WIDTH, HEIGHT = 124, 190  # Size of a card in units of the drawing.
PAPER = "var(--card-paper,#fffdf7)"

# Name, colour, dark line, light tint and frame gaps of each suit.
SUITS = {
    "o": ("oros", "#e0a526", "#7d5108", "#fbe29a", 0),
    "c": ("copas", "#c8372d", "#7d1712", "#f3b9a8", 1),
    "e": ("espadas", "#2f6fb3", "#143c68", "#bcd8f2", 2),
    "b": ("bastos", "#3f8f4f", "#1b4d28", "#bfe3b8", 3),
}
# Printed figure and name of each rank.
RANKS = {
    "1": (1, "As"),
    "2": (2, "Dos"),
    "3": (3, "Tres"),
    "4": (4, "Cuatro"),
    "5": (5, "Cinco"),
    "6": (6, "Seis"),
    "7": (7, "Siete"),
    "S": (10, "Sota"),
    "C": (11, "Caballo"),
    "R": (12, "Rey"),
}
COURTS = "SCR"
# Centre and size of each suit sign.
PIPS = {
    "2": [(62, 54, 62), (62, 136, 62)],
    "3": [(62, 44, 50), (62, 95, 50), (62, 146, 50)],
    "4": [(38, 56, 44), (86, 56, 44), (38, 134, 44), (86, 134, 44)],
    "5": [(38, 50, 40), (86, 50, 40), (62, 95, 40), (38, 140, 40), (86, 140, 40)],
    "6": [(38, 47, 40), (86, 47, 40), (38, 95, 40), (86, 95, 40), (38, 143, 40), (86, 143, 40)],
    "7": [(38, 44, 36), (86, 44, 36), (62, 70, 36), (38, 98, 36), (86, 98, 36), (38, 145, 36), (86, 145, 36)],
}
MARKED = "123" + COURTS  # Ranks with a small suit sign under the figure, because in a fan only this strip is visible.


def _frame(gaps: int, dark: str) -> str:
    start, right, top, bottom, gap = 9, WIDTH - 9, 9, HEIGHT - 9, 9
    cuts = {0: (), 1: (62,), 2: (45, 79), 3: (38, 62, 86)}[gaps]
    path = f"M{start} {top}V{bottom}M{right} {top}V{bottom}"
    for y in (top, bottom):
        x: float = start
        for cut in cuts:
            path += f"M{x:g} {y}H{cut - gap / 2:g}"
            x = cut + gap / 2
        path += f"M{x:g} {y}H{right}"
    return f'<path d="{path}" fill="none" stroke="{dark}" stroke-width="1.6" stroke-linecap="square"/>'


def _use(suit: str, x: float, y: float, size: float) -> str:
    return f'<use href="#suit-{suit}" x="{x - size / 2:g}" y="{y - size / 2:g}" width="{size}" height="{size}"/>'


def _index(rank: str, suit: str, dark: str) -> str:
    figure = RANKS[rank][0]
    wide = 24 if figure > 9 else 15
    mark = _use(suit, 19, 42, 17) if rank in MARKED else ""
    return (
        f'<path d="M11 12h{wide}v20h-{wide}z" fill="{PAPER}"/>'
        f'<text x="14" y="29" font-family="Georgia,serif" font-weight="700" font-size="19" fill="{dark}">{figure}</text>{mark}'
    )


def _tab(dark: str) -> str:
    """Draw the lower right corner of a court card, which stays free for the index: robe and mane end at its edge."""
    return f'<path d="M87 180.200V144q0-6 6-6h21.200v42.200z" fill="{PAPER}"/><path d="M87 181V144q0-6 6-6h22" fill="none" stroke="{dark}" stroke-width="1.6"/>'


def card(rank: str, suit: str) -> str:
    """Return the `<symbol>` of one card."""
    name, colour, dark, light, gaps = SUITS[suit]
    if rank == "1":
        body = f'<g transform="translate(62 95) scale(.98) translate(-50 -50)">{ACE[suit](colour, dark, light)}</g>'
    elif rank in COURTS:
        figure = court(rank, colour, dark, light)
        body = (
            f'<g transform="translate(58 181) scale(1.2) translate(-60 -172)">{figure}</g>'
            + _use(suit, 99, 31, 34)
            + _tab(dark)
        )
    else:
        body = "".join(_use(suit, *pip) for pip in PIPS[rank])
    index = _index(rank, suit, dark)
    turned = f'<g transform="rotate(180 {WIDTH // 2} {HEIGHT // 2})">{index}</g>'
    return (
        f'<symbol id="card-{rank}{suit}" viewBox="0 0 {WIDTH} {HEIGHT}"><title>{RANKS[rank][1]} de {name}</title>'
        f"{_blank()}{_frame(gaps, dark)}{body}{index}{turned}</symbol>"
    )


def _blank() -> str:
    return (
        f'<rect x=".75" y=".75" width="{WIDTH - 1.5}" height="{HEIGHT - 1.5}" rx="9" fill="{PAPER}" '
        'stroke="#b9b0a2" stroke-width="1.5"/>'
    )


def _back() -> str:
    sign = '<use href="#suit-{}" x="{}" y="{}" width="15" height="15"/>'
    signs = "".join(sign.format(s, x, y) for s, x, y in (("o", 45, 78), ("c", 64, 78), ("e", 45, 97), ("b", 64, 97)))
    return (
        f'<symbol id="card-back" viewBox="0 0 {WIDTH} {HEIGHT}"><title>Carta tapada</title><defs>'
        '<pattern id="weave" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="12" height="12" fill="#7d1f2a"/><path d="M0 6H12M6 0V12" stroke="#a9575f" stroke-width="1.1"/>'
        '<circle cx="6" cy="6" r="1.5" fill="#e8c98c"/></pattern></defs>'
        f'{_blank()}<rect x="8" y="8" width="{WIDTH - 16}" height="{HEIGHT - 16}" rx="5" fill="url(#weave)"/>'
        f'<rect x="12.5" y="12.5" width="{WIDTH - 25}" height="{HEIGHT - 25}" rx="3" fill="none" stroke="#e8c98c"/>'
        f'<path d="M62 62l33 33-33 33-33-33z" fill="#fff8e6" stroke="#e8c98c" stroke-width="3"/>{signs}</symbol>'
    )


def sprite() -> str:
    """Return the whole SVG file: four suit signs, the back and forty cards; ends with a newline."""
    signs = "".join(
        f'<symbol id="suit-{suit}" viewBox="0 0 100 100"><title>{name}</title>{SIGN[suit](colour, dark, light)}</symbol>'
        for suit, (name, colour, dark, light, _) in SUITS.items()
    )
    cards = "\n".join(card(rank, suit) for suit in SUITS for rank in RANKS)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{signs}\n{_back()}\n{cards}</svg>\n'
