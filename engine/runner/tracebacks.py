"""The decisive line of a bot's log: an exception of Python or Node.js and its place in the bot."""

from __future__ import annotations

import re
from collections.abc import Sequence

OWN = re.compile(r"(?:.*/packages/[0-9a-f]{64}|/bot)/(.+)")  # The path of a bot's file, in the sandbox or without one.
OF_KITS = ("tute.mjs",)  # Files that authors did not write.
FRAME = re.compile(r' +File "([^"]+)", line (\d+)(?:, in (.+))?')
NODE = re.compile(r"file://(/\S+):(\d+)")
NODE_FRAME = re.compile(r" +at (?:(?:async )?(.+) \()?file://(/\S+):(\d+):\d+\)?")


def verdict(log: str) -> str:
    """Return the first complete traceback of a log as "bad.py, line 7, in act: KeyError: 'nothing'", or an empty string."""
    lines, frames = log.splitlines(), list[re.Match[str]]()
    for number, line in enumerate(lines):
        if head := NODE.fullmatch(line):
            return _of_node(head, lines[number + 1 :])
        if frame := FRAME.fullmatch(line):
            frames.append(frame)
        elif frames and line and not line.startswith(" "):
            return _said([(frame[1], frame[2], frame[3] or "") for frame in reversed(frames)], line)
    return ""


def _of_node(head: re.Match[str], lines: Sequence[str]) -> str:
    """Read what Node.js writes: the place and its code, an empty line, the error, its frames from the innermost on."""
    begin = next((number for number, line in enumerate(lines) if not line), len(lines)) + 1
    frames = [frame for line in lines[begin + 1 :] if (frame := NODE_FRAME.fullmatch(line))]
    places = [(frame[2], frame[3], frame[1] or "") for frame in frames]
    return _said([*places, (head[1], head[2], "")], lines[begin] if begin < len(lines) else "")


def _said(places: Sequence[tuple[str, str, str]], error: str) -> str:
    """Return the error with its innermost place in a file of the author; by itself if there is none. places: path, line, function."""
    for path, line, function in places if error else ():
        own = OWN.fullmatch(path)
        if own and own[1] not in OF_KITS:
            return f"{own[1]}, line {line}" + (f", in {function}" if function else "") + f": {error}"
    return error
