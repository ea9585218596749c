"""Bots that commit one act of `tests/hostile/acts.c` at one point of every pass, and otherwise play honestly."""

from __future__ import annotations

import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

from tests.support import languages

SOURCE = Path(__file__).resolve().parents[1] / "hostile/acts.c"
MANIFEST = 'name = "{name}"\nruntime = "binary"\nentry = "{entry}"\ngames = ["a_dos"]\n'


def build(program: Path) -> Path:
    """Compile the program of all acts."""
    subprocess.run([languages.find("cc"), "-O1", "-static", "-pthread", "-o", str(program), str(SOURCE)], check=True)
    return program


def package(program: bytes, name: str, act: str, *, entry: str = "bot") -> bytes:
    """Return a bot as a zip. act: MOMENT|ACT|NUMBER."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot.toml", MANIFEST.format(name=name, entry=entry))
        archive.writestr("act", act + "\n")
        archive.writestr(entry, program)
    return packed.getvalue()
