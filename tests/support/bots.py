"""Real bots of a few lines each, and short matches for them."""

import platform
import struct
from pathlib import Path

from engine.runner import BotSpec, Limits, MatchSpec

HONEST = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif m["type"] == "act":
        print(json.dumps({"id": m["id"], "do": m["legal"][0]}), flush=True)
    else:
        break
"""

# `act(m)` is called with the request, `hello(m)` with the first line; what they return is written unchanged.
FRAME = """
import json, os, sys, time, threading, signal
counter = 0
def good(m): return json.dumps({{"id": m["id"], "do": m["legal"][0]}}) + "\\n"
def hello(m): return '{{"type":"ready"}}\\n'
def act(m): return good(m)
def end(m): pass
{body}
out = sys.stdout.buffer
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "end":
        end(m)
        break
    counter += m["type"] == "act"
    text = hello(m) if m["type"] == "hello" else act(m)
    out.write(text if isinstance(text, bytes) else text.encode())
    out.flush()
"""

SHORT = Limits(start_s=1.0, move_s=0.2, bank_s=0.2, wall_factor=1.0, wall_extra_s=0.4)


def match(
    *parties: BotSpec, game: str = "partnership", boards: int = 2, limits: Limits = SHORT, **more: object
) -> MatchSpec:
    """Return a match with fixed cards."""
    return MatchSpec(
        match_id="m1",
        game=game,
        secret=b"s" * 32,
        table="t1",
        boards=range(1, boards + 1),
        parties=parties,
        limits=limits,
        **more,  # type: ignore[arg-type]
    )


NOT_A_PROGRAM = 'name = "damaged"\nruntime = "binary"\nentry = "bot"\ngames = ["partnership"]\n'


def without_segments() -> bytes:
    """Return a program for this machine whose headers pass every check, but which the kernel refuses to execute: it has no segment."""
    machine = {"x86_64": 62, "aarch64": 183}[platform.machine()]
    values = (b"\x7fELF\x02\x01\x01", 2, machine, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0)
    return struct.pack("<7s9xHHIQQQIHHHHHH", *values) + bytes(56)


def damaged(folder: Path) -> Path:
    """Write the folder of a bot that looks like a program on upload; only its start shows that it is not one."""
    folder.mkdir()
    (folder / "bot").write_bytes(without_segments())
    (folder / "bot.toml").write_text(NOT_A_PROGRAM)
    return folder
