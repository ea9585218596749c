"""Translation catalogues without GNU gettext: reads .po, writes .mo. Enough of the formats for the files of this project.

Format of .mo: https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html. Entries sorted by key, no hash table.
"""

from __future__ import annotations

import ast
import struct
from dataclasses import dataclass, field

MAGIC = 0x950412DE
CONTEXT, PLURAL = "\x04", "\x00"  # separators of context and of plural forms in a .mo


@dataclass
class Entry:
    """One message: `strings` holds its translations, one per plural form."""

    id: str = ""
    plural: str | None = None
    context: str | None = None
    strings: list[str] = field(default_factory=list)
    fuzzy: bool = False

    @property
    def key(self) -> str:
        """The message as a .mo names it."""
        own = self.id if self.plural is None else self.id + PLURAL + self.plural
        return own if self.context is None else self.context + CONTEXT + own

    @property
    def translated(self) -> bool:
        """Whether every form has a text and nobody has marked it as doubtful."""
        return bool(self.strings) and all(self.strings) and not self.fuzzy


def read(text: str) -> list[Entry]:
    """The entries of a .po, the header (id '') first. Raises ValueError with the number of a line that is no .po."""
    entries: list[Entry] = []
    entry, target = Entry(), ""
    started = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        if not line:
            if started:
                entries.append(entry)
            entry, target, started = Entry(), "", False
        elif line.startswith("#"):
            entry.fuzzy = entry.fuzzy or (line.startswith("#,") and "fuzzy" in line)
        else:
            word, _, quoted = ("", "", line) if line.startswith('"') else line.partition(" ")
            try:
                value = ast.literal_eval(quoted)
            except (SyntaxError, ValueError):
                raise ValueError(f"line {number} is not a line of a .po file: {line}") from None
            target = word or target
            _put(entry, target, value, new=bool(word))
            started = True
    return entries


def _put(entry: Entry, target: str, value: str, *, new: bool) -> None:
    if target == "msgctxt":
        entry.context = (entry.context or "") + value
    elif target == "msgid":
        entry.id += value
    elif target == "msgid_plural":
        entry.plural = (entry.plural or "") + value
    elif new:
        entry.strings.append(value)
    else:
        entry.strings[-1] += value


def compiled(entries: list[Entry]) -> bytes:
    """The .mo of all translated entries, the header among them. The same bytes for the same entries."""
    pairs = sorted((e.key.encode(), PLURAL.join(e.strings).encode()) for e in entries if e.translated)
    start = 28 + 16 * len(pairs)
    keys = b"".join(key + b"\0" for key, _ in pairs)
    table, values = [], b""
    offset = start
    for key, _ in pairs:
        table.append((len(key), offset))
        offset += len(key) + 1
    for _, value in pairs:
        table.append((len(value), offset))
        offset += len(value) + 1
        values += value + b"\0"
    head = struct.pack("<7I", MAGIC, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    return head + b"".join(struct.pack("<2I", *cell) for cell in table) + keys + values
