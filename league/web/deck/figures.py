"""The three court figures as flat busts: page with a feathered cap, horse's head, bearded king.

Their outlines stay recognisable on a card 44 px wide.
"""

from __future__ import annotations

INK = "#2b2622"
SKIN, HAIR, GOLD, BEARD, COAT = "#f2d3b3", "#5a3a22", "#e9b935", "#e9e2d6", "#efe6d6"


def _face(d: str) -> str:
    return (
        f'<path d="M49 92C49 78 75 78 75 92C75 108 69 118 62 118C55 118 49 108 49 92Z" fill="{SKIN}" stroke="{d}" stroke-width="2"/>'
        f'<g fill="{INK}"><circle cx="57" cy="97" r="1.5"/><circle cx="67" cy="97" r="1.5"/></g>'
        f'<path d="M62 98L60.6 104H63.4M58.5 109.5Q62 112 65.5 109.5" fill="none" stroke="{INK}" stroke-width="1.3" '
        'stroke-linecap="round"/>'
    )


def jack(m: str, d: str, t: str) -> str:
    """Draw the page (sota)."""
    robe = (
        f'<path d="M30 173C31 138 42 124 62 122C82 124 93 138 94 173Z" fill="{m}" stroke="{d}" stroke-width="2.4"/>'
        f'<path d="M55 124L62 173L69 124" fill="{t}" stroke="{d}" stroke-width="1.8"/>'
        f'<path d="M38 150q8 3 10 22" fill="none" stroke="{d}" stroke-width="1.4" opacity=".6"/>'
    )
    cap = (
        f'<path d="M47 96C44 106 45 114 48 119C50 110 50 100 50 94ZM77 96C80 106 79 114 76 119C74 110 74 100 74 94Z" fill="{HAIR}"/>'
        f'<path d="M43 86C44 70 80 70 81 86Q62 93 43 86Z" fill="{m}" stroke="{d}" stroke-width="2.2"/>'
        f'<path d="M43 86Q62 94 81 86" fill="none" stroke="{GOLD}" stroke-width="4"/>'
        f'<path d="M76 74C88 66 94 74 104 68C98 82 86 82 78 80Z" fill="{t}" stroke="{d}" stroke-width="1.8"/>'
    )
    return robe + _face(d) + cap


def horse(m: str, d: str, t: str) -> str:
    """Draw the horse's head with its bridle (caballo)."""
    return (
        f'<path d="M36 173C34 148 44 132 52 116C44 118 36 126 30 125C25 124 24 117 28 112C36 102 42 86 52 74L50 60L62 70'
        f'C82 74 92 98 92 173Z" fill="{COAT}" stroke="{d}" stroke-width="2.4" stroke-linejoin="round"/>'
        f'<path d="M62 70C82 74 92 98 92 173H81C83 130 78 96 60 80Z" fill="{HAIR}" stroke="{d}" stroke-width="1.8"/>'
        f'<circle cx="51" cy="92" r="2.6" fill="{INK}"/><circle cx="31" cy="117" r="1.6" fill="{INK}"/>'
        f'<path d="M33 122Q38 120 41 116" fill="none" stroke="{INK}" stroke-width="1.6" stroke-linecap="round"/>'
        f'<g fill="none" stroke="{m}" stroke-width="4"><path d="M40 100L58 112L64 84"/><path d="M58 112C67 122 71 136 72 152"/></g>'
        f'<circle cx="58" cy="112" r="4" fill="{GOLD}" stroke="{d}" stroke-width="1.6"/>'
        f'<path d="M52 74L57 84L60 76" fill="{t}" stroke="{d}" stroke-width="1.2"/>'
    )


def king(m: str, d: str, t: str) -> str:
    """Draw the bearded king (rey)."""
    robe = (
        f'<path d="M22 173C23 136 40 122 62 120C84 122 101 136 102 173Z" fill="{m}" stroke="{d}" stroke-width="2.4"/>'
        f'<path d="M46 124L62 173L78 124L62 132Z" fill="#fff" stroke="{d}" stroke-width="1.8"/>'
        f'<path d="M57 136l1.6 4h-3.2zM66 136l1.6 4h-3.2zM62 148l1.6 4h-3.2z" fill="{INK}"/>'
        f'<path d="M34 138q8 8 10 34" fill="none" stroke="{t}" stroke-width="3"/>'
    )
    crown = (
        f'<path d="M46 96C41 112 45 128 62 134C79 128 83 112 78 96C77 110 71 116 62 116C53 116 47 110 46 96Z" fill="{BEARD}" '
        f'stroke="{d}" stroke-width="1.8"/><path d="M44 88L40 62L53 74L62 57L71 74L84 62L80 88Z" fill="{GOLD}" stroke="{d}" '
        f'stroke-width="2.2" stroke-linejoin="round"/><path d="M44 88H80V93H44Z" fill="{m}" stroke="{d}" stroke-width="1.8"/>'
        f'<g fill="{m}" stroke="{d}" stroke-width="1.4"><circle cx="40" cy="61" r="3.2"/><circle cx="62" cy="56" r="3.6"/>'
        '<circle cx="84" cy="61" r="3.2"/></g>'
    )
    return robe + _face(d) + crown


def court(rank: str, m: str, d: str, t: str) -> str:
    """Draw the figure of rank S, C or R, standing on y = 172 of the card."""
    return {"S": jack, "C": horse, "R": king}[rank](m, d, t)
