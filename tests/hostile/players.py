"""Hostile bots that speak the league's protocol: they play like honest ones until their moment has come."""

from __future__ import annotations

from pathlib import Path

from engine.runner import BotSpec, Limits, load_package
from engine.sandbox import Policy
from tests.hostile.arena import PROLOGUE, Surroundings
from tests.hostile.attacks import ATTACKS, Attack

OBTAINED = "obtained "
# For matches of many bots: short enough to go on, long enough for an honest bot on a machine that is busy.
LIMITS = Limits(start_s=5.0, move_s=0.3, bank_s=0.7, wall_factor=2.0, wall_extra_s=5.0, memory_mb=128, threads=8)
POLICY = Policy(memory_mb=128, threads=8)
_IMPORTS, _, _REST = PROLOGUE.partition("goal = json.loads(sys.stdin.readline())")
_TOOLS = _REST.partition("def answer():")[0]
_PLAYER = """
def answer():
    note = "{obtained}" + json.dumps(got)[:150] if got else ""
    print(json.dumps({{"id": _asked["id"], "do": _asked["legal"][0], "note": note}}), flush=True)


for _line in sys.stdin:
    _asked = json.loads(_line)
    if _asked["type"] == "hello":
        print('{{"type":"ready"}}', flush=True)
    elif _asked["type"] == "act":
        if _asked["id"] == {moment}:
            exec({attack!r}, globals())
        answer()
    else:
        break
"""


def source(attack: Attack, around: Surroundings, moment: int = 2) -> str:
    """Return the program of a bot that attacks at its decision number ``moment``."""
    goal = around.goal(POLICY) | {"padding": "x" * attack.padding}
    player = _PLAYER.format(obtained=OBTAINED, moment=moment, attack=attack.source)
    return f"{_IMPORTS}goal = {goal!r}{_TOOLS}{player}"


def hostile(name: str, around: Surroundings, folder: Path, moment: int = 2) -> BotSpec:
    """Write the attack of that name as an unpacked package below ``folder``."""
    path = folder / "bot.py"
    path.write_text(source(ATTACKS[name], around, moment))
    return load_package(path, folder / "packages")


def limits(attack: Attack) -> Limits:
    """Return the limits of a match that decides about this attack without waiting long for it."""
    return Limits(
        start_s=5.0,
        move_s=min(attack.budget_s or 2.0, 2.0),
        bank_s=0.0,
        wall_factor=2.0,
        wall_extra_s=attack.wall_s or 4.0,
        memory_mb=POLICY.memory_mb,
        threads=POLICY.threads,
    )
