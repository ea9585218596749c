"""Every hostile bot, by name. The source is the middle of tests/hostile/prologue.txt."""

from __future__ import annotations

from tests.hostile.attacks import files, kernel, network, output, processes, resources, together
from tests.hostile.attacks.kind import Attack

ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for module in (files, network, processes, resources, together, output, kernel)
    for attack in module.ATTACKS
}

__all__ = ["ATTACKS", "Attack"]
