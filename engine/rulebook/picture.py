"""The worked trick as a picture: plain SVG for a Markdown page, with the order of play under the cards and the legal cards framed."""

from __future__ import annotations

from engine.rulebook.trick import WorkedTrick

WIDTH, HEIGHT, GAP = 56, 84, 10
COLOUR = {"o": "#b8860b", "c": "#c0392b", "e": "#1f5fa8", "b": "#2e7d32"}
SHAPES = {
    "o": '<circle cx="28" cy="54" r="15" fill="none" stroke="{0}" stroke-width="5"/><circle cx="28" cy="54" r="5" fill="{0}"/>',
    "c": '<path d="M13 40h30q0 18-11 21v7h7v5H17v-5h7v-7q-11-3-11-21z" fill="{0}"/>',
    "e": '<path d="M25 36l3-5 3 5v24h7v4h-7v10h-6V64h-7v-4h7z" fill="{0}"/>',
    "b": '<path d="M22 74l-4-34q10-12 20 0l-4 34z" fill="{0}"/><path d="M38 46l7-6 2 3-8 7z" fill="{0}"/>',
}


def picture(trick: WorkedTrick) -> str:
    """Draw the cards of the trick in order, the winner's framed, and below the hand of the chosen follower, its legal cards framed."""
    follower = trick.example
    first = [
        _card(place, 0, card, str(place + 1), seat == trick.winner) for place, (seat, card) in enumerate(trick.plays)
    ]
    second = [_card(place, 1, card, "", card in follower.legal) for place, card in enumerate(follower.hand)]
    columns = max(len(first), len(second))
    wide, high = columns * (WIDTH + GAP) + GAP, 2 * (HEIGHT + 34) + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="sans-serif" text-anchor="middle">'
        f'<rect width="{wide}" height="{high}" rx="8" fill="#eef1ee"/>{"".join(first + second)}</svg>\n'
    )


def _card(place: int, row: int, card: str, under: str, framed: bool) -> str:
    rank, suit = card[:-1], card[-1]
    frame = 'stroke="#111" stroke-width="4"' if framed else 'stroke="#999" stroke-width="1"'
    x, y = GAP + place * (WIDTH + GAP), GAP + row * (HEIGHT + 34)
    return (
        f'<g transform="translate({x} {y})"><rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#fff" {frame}/>'
        f'<text x="28" y="25" font-size="22" font-weight="bold" fill="{COLOUR[suit]}">{rank}</text>'
        f"{SHAPES[suit].format(COLOUR[suit])}"
        f'<text x="28" y="{HEIGHT + 19}" font-size="15" fill="#333">{under}</text></g>'
    )
