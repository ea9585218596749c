"""Hand sizes that change from deal to deal."""

from __future__ import annotations

from engine.rules.parameters import Rules


def deal_sizes(rules: Rules, players: int) -> list[int]:
    """Return the hand sizes of the deals of a match whose hands grow or shrink (`sequence`)."""
    pack = {"es40": 40, "es36": 36, "es39": 39, "fr52": 52}[rules.deck]
    most = pack // players
    up, down = list(range(1, most + 1)), list(range(most, 0, -1))
    return {"up": up, "up_down": up + down[1:], "down_up": down + up[1:]}[rules.sequence or "up"]
