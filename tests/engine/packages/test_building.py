"""The toolchains of builds: named by what they are now, not by what they were when the worker started."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from engine.packages import archive, building
from engine.packages.building import RECIPES, Toolchain
from engine.sandbox import SandboxUnavailable
from tests.bots.greedy import KITS


def test_a_build_names_the_toolchain_that_is_installed_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, linker = tmp_path / "cc1", tmp_path / "ld"

    def install(path: Path, text: str) -> None:
        new = path.with_suffix(".new")
        new.write_text(text)
        os.utime(new, ns=(0, 0))  # A package keeps the times of its files.
        new.rename(path)

    def look() -> Toolchain:
        if not compiler.exists():
            raise SandboxUnavailable("gcc is not installed")
        return Toolchain(compiler.read_text(), [compiler], (), {}, linker=Toolchain("ld", [linker], (), {}))

    monkeypatch.setitem(RECIPES, "c", replace(RECIPES["c"], look=look))
    building._found.cache_clear()
    package = archive.read_path(KITS / "c")
    install(compiler, "gcc 12")
    install(linker, "ld 2.40")
    toolchain, names = building.find("c"), [building.digest(package)]
    assert building.find("c") is toolchain
    for path, text in ((compiler, "gcc 13"), (linker, "ld 2.41"), (linker, "ld 2.40")):
        install(path, text)
        assert not toolchain.is_current
        names.append(building.digest(package))
        toolchain = building.find("c")
    assert toolchain.version == "gcc 13"
    assert len(set(names)) == 3
    assert names[1] == names[3], "the same toolchain has the same name"

    compiler.unlink()
    assert "c" not in building.installed()
    with pytest.raises(SandboxUnavailable, match="not installed"):
        building.digest(package)
    building._found.cache_clear()
