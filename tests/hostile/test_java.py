"""Hostile bots in Java are held like others: by the system calls, the memory and the processor time of the whole JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.packages import archive, building
from tests.engine.sandbox.support import StateDirectory
from tests.hostile import arena
from tests.hostile.attacks import Attack
from tests.hostile.test_battery import PLAYED_AT, verdict
from tests.support import languages

PROGRAMS = Path(__file__).parent / "java"
ATTACKS_BY_JAVA = [
    Attack(name="nothing", source=""),
    Attack(name="reach", source=""),
    Attack(name="native", source=""),
    Attack(name="stack", source=""),
    Attack(name="a thousand threads", source="", ends=frozenset({"memory"}), detail="unable to create native thread"),
    Attack(name="threads that go on", source="", budget_s=1.0, pause_s=0.3, ends=frozenset({None, "timeout"})),
    Attack(name="compute in four threads", source="", ends=frozenset({"timeout"}), budget_s=0.5, detail="CPU"),
    Attack(name="heap", source="", ends=frozenset({"memory"}), detail="Java heap space"),
    Attack(name="memory outside the heap", source="", ends=frozenset({"memory"}), detail="OutOfMemoryError"),
]


@pytest.fixture(scope="module")
def files(state: StateDirectory, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the hostile bot as it plays, with machine code beside its jar."""
    languages.find("javac")
    folder = tmp_path_factory.mktemp("java")
    (folder / "bot.toml").write_text('name = "x"\nbuild = "java"\nentry = "Hostile.java"\n')
    (folder / "Hostile.java").write_bytes((PROGRAMS / "Hostile.java").read_bytes())
    machine_code = languages.build("cc", "-shared", "-fPIC", "-Wall", "-Werror", source=PROGRAMS / "native.c")
    (folder / "native.so").write_bytes(machine_code.read_bytes())
    package = archive.read_path(folder)
    built = building.build(package, package.unpack(state.path / "packages" / package.sha256), state.path)
    assert built is not None
    assert built.package is not None, built.log
    return dict(built.package.files)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS_BY_JAVA, ids=lambda attack: attack.name)
def test_attack_in_java_is_contained(attack: Attack, state: StateDirectory, files: dict[str, bytes]) -> None:
    tiers = [name for name in PLAYED_AT if state.reports[name].holds]
    program = {**files, "attack": attack.name.encode()}
    outcomes = {
        tier: arena.play_attack(attack, tier, state.path, state.java, files=program, entry="program") for tier in tiers
    }

    assert tiers
    wrong = {tier: verdict(attack, outcome) for tier, outcome in outcomes.items()}
    assert {tier: what for tier, what in wrong.items() if what} == {}, outcomes
