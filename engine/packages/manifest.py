"""bot.toml: what a package says about itself."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

FILE = "bot.toml"
RUNTIMES = ("python", "binary", "node")
SEALABLE = ("python", "binary")  # those that run without threads and without the host's clocks
SUFFIXES = {".py": "python", ".js": "node", ".mjs": "node"}  # of packages that are one source file
FLAGS = {"deterministic": False, "sealable": True}  # what it declares of itself, and what holds where it says nothing
FREE_KEYS = ("description", "version", "license", "url")  # read by people only
MAX_BYTES = 16 * 1024
MAX_NAME = 60  # characters of a bot's name
MAX_SLUG = 40  # characters of that name in addresses
# Unicode categories: control, direction marks, unassigned, ...
INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Characters of other categories that are drawn as nothing: fillers, the empty Braille pattern, selectors of variants
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


class PackageRefused(ValueError):
    """A package that the league does not take. The message says what, why and what to do."""


@dataclass(frozen=True)
class Manifest:
    """Name shown to people, runtime, the file that is started, and the games it plays (empty: every game)."""

    name: str
    runtime: str
    entry: str
    games: tuple[str, ...] = ()
    deterministic: bool = False  # the same lines always get the same answers; audits hold it to that
    sealable: bool = True  # it can do without the host's clocks and without threads; see docs/sandbox.md

    def toml(self) -> str:
        """This manifest as the text of a bot.toml. JSON strings are TOML basic strings, save DEL, which no name holds."""
        lines = [f"{key} = {json.dumps(getattr(self, key))}" for key in ("name", "runtime", "entry")]
        lines.append(f"games = {json.dumps(list(self.games))}")
        # Left out where they are not declared: packages from before keep their hash
        declared = ["deterministic = true"] * self.deterministic + ["sealable = false"] * (not self.sealable)
        return "\n".join([*lines, *declared, ""])


def printable(text: str) -> bool:
    """Whether every character can be seen: no control, format or direction characters, fillers, surrogates or unassigned points."""
    return not any(unicodedata.category(c) in INVISIBLE or c in BLANK for c in text)


def parse(data: bytes, files: Collection[str], known_games: Collection[str]) -> Manifest:
    """The manifest in the bytes of a bot.toml beside these files. Raises PackageRefused."""
    if len(data) > MAX_BYTES:
        raise PackageRefused(f"{FILE} has {len(data)} bytes; keep it under {MAX_BYTES}")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise PackageRefused(f"{FILE} is not UTF-8 text; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise PackageRefused(f"{FILE} is not valid TOML ({error}); see the example in docs/bot-package.md") from None
    unknown = sorted(set(table) - {"name", "runtime", "entry", "games", *FLAGS, *FREE_KEYS})
    if unknown:
        raise PackageRefused(
            f"{FILE} has the unknown key {_shown(unknown[0])}; it may hold name, runtime, entry, games, {', '.join(FLAGS)} and {', '.join(FREE_KEYS)}"
        )
    name = checked_name(_text(table, "name"))
    runtime = _text(table, "runtime")
    if runtime not in RUNTIMES:
        raise PackageRefused(f"{FILE}: unknown runtime {_shown(runtime)}; write one of {', '.join(RUNTIMES)}")
    entry = _text(table, "entry")
    if entry not in files or entry == FILE:
        raise PackageRefused(
            f"{FILE}: entry {_shown(entry)} is not a file of the package; name the file that is to be started"
        )
    games = table.get("games", [])
    if not isinstance(games, list) or not all(isinstance(game, str) for game in games):
        raise PackageRefused(f'{FILE}: games must be a list of names, such as games = ["partnership"]')
    flags = {flag: table.get(flag, usual) for flag, usual in FLAGS.items()}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise PackageRefused(f"{FILE}: {flag} must be true or false, not {_shown(str(value))}")
    return Manifest(name, runtime, entry, checked_games(games, known_games), **flags)


def for_file(filename: str, games: Iterable[str], known_games: Collection[str]) -> Manifest:
    """The manifest of a package that is one source file: name and runtime follow from the file's name."""
    path = PurePosixPath(filename)
    runtime = SUFFIXES.get(path.suffix.lower())
    if runtime is None:
        raise PackageRefused(
            f"{_shown(filename)} is neither a source file ({', '.join(SUFFIXES)}) nor a zip; send one of those, "
            f"an executable goes into a zip with a {FILE}"
        )
    return Manifest(checked_name(path.stem[:MAX_NAME]), runtime, filename, checked_games(games, known_games))


def checked_name(name: str) -> str:
    """The name if it is fit to be shown, else PackageRefused."""
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not printable(name):
        raise PackageRefused(
            f"the name {_shown(name)} cannot be shown; use 1 to {MAX_NAME} visible characters, no space at the ends"
        )
    return name


def slug(name: str) -> str:
    """Return a bot's name as a league writes it in addresses: at most 40 of a-z, 0-9 and inner hyphens; "" if nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-")


def checked_games(games: Iterable[str], known_games: Collection[str]) -> tuple[str, ...]:
    """The games sorted and once each; PackageRefused that lists the games there are if one is unknown."""
    wanted = sorted(set(games))
    for game in wanted:
        if game not in known_games:
            raise PackageRefused(f"unknown game {_shown(game)}; the games are {', '.join(sorted(known_games))}")
    return tuple(wanted)


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        example = {"name": "My bot", "runtime": "python", "entry": "bot.py"}[key]
        raise PackageRefused(f'{FILE} needs {key} as text; add a line such as {key} = "{example}"')
    return value


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:77] + "...")
