"""The four suit signs and the four aces, as SVG shapes in a box of 100 by 100.

Each function takes a colour, a dark line and a light tint.
"""
# ruff: noqa: E501 - shapes, not sentences

from __future__ import annotations

from collections.abc import Callable

GOLD = "#e9b935"
Draw = Callable[[str, str, str], str]


def _ring(shape: str, step: int) -> str:
    """Repeat a shape around the centre every `step` degrees."""
    return "".join(f'<g transform="rotate({angle} 50 50)">{shape}</g>' for angle in range(0, 360, step))


def coin(m: str, d: str, t: str) -> str:
    """Draw a gold disc with a rose of eight petals."""
    petals = _ring('<ellipse cx="50" cy="31" rx="5.5" ry="10"/>', 45)
    dots = _ring('<circle cx="50" cy="13.5" r="2.6"/>', 30)
    return (
        f'<circle cx="50" cy="50" r="44" fill="{m}" stroke="{d}" stroke-width="4"/><g fill="{d}">{dots}</g>'
        f'<circle cx="50" cy="50" r="30" fill="{t}" stroke="{d}" stroke-width="3"/><g fill="{d}">{petals}</g>'
        f'<circle cx="50" cy="50" r="8" fill="{m}" stroke="{d}" stroke-width="2.5"/>'
    )


def cup(m: str, d: str, t: str) -> str:
    """Draw a red goblet with a gold band."""
    return (
        f'<path d="M20 14H80C83 42 71 57 56 60L56 74C66 76 74 81 76 90H24C26 81 34 76 44 74L44 60C29 57 17 42 20 14Z" '
        f'fill="{m}" stroke="{d}" stroke-width="4" stroke-linejoin="round"/>'
        f'<ellipse cx="50" cy="14" rx="30" ry="6" fill="{t}" stroke="{d}" stroke-width="3.5"/>'
        f'<path d="M24 34Q50 46 76 34" fill="none" stroke="{GOLD}" stroke-width="6"/>'
        f'<circle cx="50" cy="66" r="6" fill="{GOLD}" stroke="{d}" stroke-width="2.5"/>'
    )


def sword(m: str, d: str, t: str) -> str:
    """Draw a straight blade with a gold guard."""
    return (
        f'<path d="M50 1L59 13L57 66H43L41 13Z" fill="{t}" stroke="{d}" stroke-width="3.5" stroke-linejoin="round"/>'
        f'<path d="M50 9V64" stroke="{m}" stroke-width="3.5"/>'
        f'<path d="M20 60Q23 68 33 66H67Q77 68 80 60Q85 77 68 76H32Q15 77 20 60Z" fill="{GOLD}" stroke="{d}" '
        f'stroke-width="3" stroke-linejoin="round"/><path d="M44 76H56L55 90H45Z" fill="{m}" stroke="{d}" stroke-width="3"/>'
        f'<circle cx="50" cy="93" r="6" fill="{GOLD}" stroke="{d}" stroke-width="3"/>'
    )


def _stub(x: int, y: int, angle: int, m: str, d: str) -> str:
    return (
        f'<g transform="translate({x} {y}) rotate({angle})"><path d="M-6 6V-7H6V6Z" fill="{m}" stroke="{d}" stroke-width="3"/>'
        f'<ellipse cy="-7" rx="6" ry="3.4" fill="#f0d9a8" stroke="{d}" stroke-width="2.4"/></g>'
    )


def baton(m: str, d: str, t: str) -> str:
    """Draw a green cudgel with cut branches."""
    stubs = "".join(_stub(*place, m, d) for place in ((34, 30, -58), (68, 22, 56), (62, 52, 62), (39, 62, -60)))
    return (
        f'{stubs}<path d="M45 96C43 74 33 52 32 30C31 12 39 3 50 3C61 3 70 11 68 28C66 50 58 74 56 96Q50 100 45 96Z" '
        f'fill="{m}" stroke="{d}" stroke-width="4" stroke-linejoin="round"/>'
        f'<path d="M41 16C37 30 41 50 46 66" fill="none" stroke="{t}" stroke-width="4.5" stroke-linecap="round"/>'
        f'<g fill="{d}"><ellipse cx="56" cy="20" rx="4" ry="2.6"/><ellipse cx="53" cy="42" rx="3.4" ry="2.3"/>'
        '<ellipse cx="52" cy="72" rx="2.6" ry="1.9"/></g>'
    )


def ace_of_coins(m: str, d: str, t: str) -> str:
    """Draw a sun: rays, a beaded rim, a rose of twelve petals."""
    rays = _ring('<path d="M46.6 11L50 1l3.4 10z"/>', 15)
    beads = _ring('<circle cx="50" cy="15.5" r="1.7"/>', 15)
    petals = _ring('<path d="M50 23c4 6 4 11 0 16c-4-5-4-10 0-16z"/>', 30)
    return (
        f'<g fill="{m}" stroke="{d}" stroke-width="1" stroke-linejoin="round">{rays}</g>'
        f'<circle cx="50" cy="50" r="39" fill="{m}" stroke="{d}" stroke-width="2.4"/><g fill="{d}">{beads}</g>'
        f'<circle cx="50" cy="50" r="30" fill="{t}" stroke="{d}" stroke-width="1.8"/>'
        f'<g fill="{m}" stroke="{d}" stroke-width="1.2">{petals}</g>'
        f'<circle cx="50" cy="50" r="10.5" fill="{m}" stroke="{d}" stroke-width="1.8"/>'
        f'<g fill="{d}"><circle cx="46.5" cy="48" r="1.2"/><circle cx="53.5" cy="48" r="1.2"/></g>'
        f'<path d="M46 53q4 3.4 8 0" fill="none" stroke="{d}" stroke-width="1.3" stroke-linecap="round"/>'
    )


def ace_of_cups(m: str, d: str, t: str) -> str:
    """Draw a covered cup with fluted bowl, two handles and a gold foot."""
    flutes = "".join(f'<path d="M{x} 44q{(50 - x) / 3:g} 14 {(50 - x) / 1.6:g} 18"/>' for x in (30, 40, 50, 60, 70))
    handle = f'<path d="M25 34C8 30 8 54 30 56" fill="none" stroke="{GOLD}" stroke-width="4.5"/>'
    return (
        f'{handle}<g transform="matrix(-1 0 0 1 100 0)">{handle}</g>'
        f'<path d="M22 28H78C80 50 70 62 56 65V78H44V65C30 62 20 50 22 28Z" fill="{m}" stroke="{d}" stroke-width="2.4"/>'
        f'<g fill="none" stroke="{d}" stroke-width="1.3" opacity=".75">{flutes}</g>'
        f'<path d="M22.5 38Q50 48 77.5 38" fill="none" stroke="{GOLD}" stroke-width="5"/>'
        f'<g fill="{t}"><circle cx="35" cy="41.7" r="1.6"/><circle cx="50" cy="43.3" r="1.9"/><circle cx="65" cy="41.7" r="1.6"/></g>'
        f'<path d="M20 28C24 12 40 14 46 8H54C60 14 76 12 80 28Z" fill="{t}" stroke="{d}" stroke-width="2.4" stroke-linejoin="round"/>'
        f'<path d="M20 28H80" stroke="{GOLD}" stroke-width="4" stroke-linecap="round"/>'
        f'<circle cx="50" cy="5" r="4" fill="{GOLD}" stroke="{d}" stroke-width="1.8"/>'
        f'<ellipse cx="50" cy="72" rx="9" ry="4" fill="{GOLD}" stroke="{d}" stroke-width="1.8"/>'
        f'<path d="M26 94C28 83 40 80 44 78H56C60 80 72 83 74 94Z" fill="{m}" stroke="{d}" stroke-width="2.4" stroke-linejoin="round"/>'
        f'<path d="M27 90H73" stroke="{GOLD}" stroke-width="3.4"/>'
    )


def ace_of_swords(m: str, d: str, t: str) -> str:
    """Draw a broad sword with a ribbon wound about the blade."""
    ribbon = (
        f'<path d="M16 26C26 16 34 24 43 30L42 39C32 33 26 30 20 38Z" fill="#f4efe0" stroke="{d}" stroke-width="1.6"/>'
        f'<path d="M84 46C74 56 66 48 57 42L58 33C68 39 74 42 80 34Z" fill="#f4efe0" stroke="{d}" stroke-width="1.6"/>'
        f'<path d="M41 30C48 31 53 35 59.5 42L58.5 33C53 27 47 26 42 27Z" fill="{GOLD}" stroke="{d}" stroke-width="1.6"/>'
    )
    return (
        f'<path d="M50-6L58 8L57 66H43L42 8Z" fill="{t}" stroke="{d}" stroke-width="2.4" stroke-linejoin="round"/>'
        f'<path d="M50 2V65" stroke="{m}" stroke-width="2.6"/>{ribbon}'
        f'<path d="M20 58Q23 67 33 65H67Q77 67 80 58Q87 77 68 75H32Q13 77 20 58Z" fill="{GOLD}" stroke="{d}" stroke-width="2.4" '
        f'stroke-linejoin="round"/><circle cx="50" cy="70" r="3" fill="{m}" stroke="{d}" stroke-width="1.4"/>'
        f'<path d="M44.5 76H55.500L54.5 94H45.500Z" fill="{m}" stroke="{d}" stroke-width="2.2"/>'
        f'<path d="M45 81L55 85M45 87L55 91" stroke="{t}" stroke-width="1.8"/>'
        f'<circle cx="50" cy="99" r="6" fill="{GOLD}" stroke="{d}" stroke-width="2.2"/>'
    )


def ace_of_batons(m: str, d: str, t: str) -> str:
    """Draw a living cudgel: cut branches, and leaves that have sprouted."""
    leaf = f'<path d="M0 0C3-10 13-13 21-9C18 0 9 5 0 0Z" fill="{t}" stroke="{d}" stroke-width="1.6"/><path d="M2-1L15-6" stroke="{d}" stroke-width="1.2"/>'
    leaves = "".join(
        f'<g transform="translate({x} {y}) scale({flip} 1) rotate({angle})">{leaf}</g>'
        for x, y, flip, angle in ((68, 38, 1, 0), (33, 44, -1, 0), (60, 68, 1, -12), (42, 80, -1, -8))
    )
    stubs = "".join(_stub(*place, m, d) for place in ((33, 24, -58), (68, 18, 56), (62, 52, 62), (39, 62, -60)))
    return (
        f'{leaves}{stubs}<path d="M45 100C43 76 32 52 31 26C30 6 39-5 50-5C61-5 71 4 69 24C67 50 58 76 56 100Q50 104 45 100Z" '
        f'fill="{m}" stroke="{d}" stroke-width="2.6" stroke-linejoin="round"/>'
        f'<path d="M40 10C36 28 41 50 46 70" fill="none" stroke="{t}" stroke-width="4" stroke-linecap="round"/>'
        f'<path d="M60 8C63 24 60 40 56 56" fill="none" stroke="{d}" stroke-width="1.3" stroke-linecap="round" opacity=".6"/>'
        f'<g fill="{d}"><ellipse cx="55" cy="16" rx="3.6" ry="2.2"/><ellipse cx="53" cy="40" rx="3" ry="2"/>'
        f'<ellipse cx="51" cy="78" rx="2.4" ry="1.7"/></g>'
    )


SIGN: dict[str, Draw] = {"o": coin, "c": cup, "e": sword, "b": baton}
ACE: dict[str, Draw] = {"o": ace_of_coins, "c": ace_of_cups, "e": ace_of_swords, "b": ace_of_batons}
