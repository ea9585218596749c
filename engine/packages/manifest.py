"""bot.toml: the manifest of a package."""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from engine.spsa import BotParameter, Values

FILE = "bot.toml"
WASM = "wasm"  # A module of WebAssembly, whose instructions are counted in place of its time (engine.runner.metering).
PYTHONS = ("python", "python-numpy")
RUNTIMES = (*PYTHONS, "binary", "node", "java", "mono", WASM)
REMOTE = "remote"  # The bot runs on its author's machine, and a league has only this manifest (docs/remote-bots.md).
SEALABLE = (*PYTHONS, "binary", WASM)  # Runtimes that work without threads and without the host's clocks.
# What the league compiles (engine.packages.building), each with the endings of its entry.
BUILDS = {
    "c": (".c",),
    "c++": (".cpp", ".cc", ".cxx"),
    "rust": (".rs", "Cargo.toml"),
    "go": (".go",),
    "java": (".java",),
    "c#": (".cs",),
    "typescript": (".ts", ".mts"),
    "cython": (".py",),
    "pybind11": (".py",),
    "mypyc": (".py",),
}
BUILDS |= {f"{language}-{WASM}": BUILDS[language] for language in ("c", "rust")}
PROGRAM = "program"  # The name of what the league has compiled.
# Builds that leave no binary, each with its runtimes, the usual one first.
NO_BINARY = {"c#": ("mono",), "java": ("java",), "typescript": ("node",)} | dict.fromkeys(
    ("cython", "pybind11", "mypyc"), PYTHONS
)
SUFFIXES = {".py": "python", ".js": "node", ".mjs": "node"}  # For packages that are one source file.
FLAGS = {"deterministic": False, "sealable": True}  # Optional declarations and their defaults.
JSON, LINE = PROTOCOLS = ("json", "line")  # How a bot talks: docs/protocol.md, docs/line-protocol.md.
PARAMETERS = "parameters"  # Numbers that a tuning may change (docs/tuning.md).
FIELDS = ("start", "least", "most", "step")  # What each declares.
KEYS = ("name", "runtime", "build", "entry", "games", "protocol", *FLAGS, PARAMETERS)
FREE_KEYS = ("description", "version", "license", "url")  # Keys that only people read.
UNNAMED = ("bot", "main")  # Names of files that do not say what the bot is called.
MAX_BYTES = 16 * 1024
MAX_NAME = 60  # Most characters of a bot's name.
MAX_SLUG = 40  # Most characters of a bot's name in addresses.
MAX_PARAMETERS = 16
# Unicode categories: control, direction marks, unassigned, ...
INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Characters of other categories that are drawn as nothing: fillers, the empty Braille pattern, variation selectors.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


class PackageRefused(ValueError):
    """The league does not accept this package. The message says what is wrong, why, and what to do."""


@dataclass(frozen=True)
class Manifest:
    """The name shown to people, the runtime, the file to start, and the games it plays (empty: every game)."""

    name: str
    runtime: str
    entry: str
    games: tuple[str, ...] = ()
    deterministic: bool = False  # True if the same lines always get the same answers; audits rely on it.
    sealable: bool = True  # True if the bot needs neither the host's clocks nor threads; see docs/sandbox.md.
    protocol: str = JSON
    build: str = ""  # The language in which the league compiles the entry; "" if the package can start as it is.
    parameters: tuple[BotParameter, ...] = ()

    def toml(self) -> str:
        """Write this manifest as bot.toml."""
        lines = [
            f"{key} = {_string(getattr(self, key))}" for key in ("name", "build" if self.build else "runtime", "entry")
        ]
        lines.append(f"games = {json.dumps(list(self.games))}")
        # Defaults are left out, so that packages that declare nothing keep their hash.
        declared = ["deterministic = true"] * self.deterministic + ["sealable = false"] * (not self.sealable)
        declared += [f"protocol = {json.dumps(self.protocol)}"] * (self.protocol != JSON)
        text = "\n".join([*lines, *declared, ""])
        return text + parameters_toml(self.parameters) if self.parameters else text


def parameters_toml(parameters: Iterable[BotParameter], starts: Values | None = None) -> str:
    """Write the declaration of these parameters, each with its value in `starts`, if there are such."""
    lines = [f"[{PARAMETERS}]"]
    for parameter in parameters:
        numbers = [(starts or {}).get(parameter.name, parameter.start), parameter.least, parameter.most, parameter.step]
        texts = [str(int(number)) if parameter.whole else str(float(number)) for number in numbers]
        fields = ", ".join(f"{field} = {text}" for field, text in zip(FIELDS, texts, strict=True))
        lines.append(f"{parameter.name} = {{ {fields} }}")
    return "\n".join([*lines, ""])


def built_runtimes(build: str) -> tuple[str, ...]:
    """Return the runtimes that what the league compiles for this `build` may have, the usual one first."""
    return (WASM,) if build.endswith(f"-{WASM}") else NO_BINARY.get(build, ("binary",))


def printable(text: str) -> bool:
    """Return True if every character is visible: no control, format or direction characters, fillers, surrogates, unassigned points."""
    return not any(unicodedata.category(c) in INVISIBLE or c in BLANK for c in text)


def composed(name: str) -> str:
    """Return a name with composed letters (NFC), as it is typed: file systems of macOS write letter and accent apart."""
    return unicodedata.normalize("NFC", name)


def parse(data: bytes, files: Collection[str], known_games: Collection[str]) -> Manifest:
    """Parse the bytes of a bot.toml beside these files. Raise PackageRefused."""
    if len(data) > MAX_BYTES:
        raise PackageRefused(f"{FILE} has {len(data)} bytes; keep it under {MAX_BYTES}")
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))  # Editors of Windows put a byte order mark first.
    except UnicodeDecodeError:
        raise PackageRefused(f"{FILE} is not UTF-8 text; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise PackageRefused(f"{FILE} is not valid TOML ({error}); see the example in docs/bot-package.md") from None
    unknown = sorted(set(table) - {*KEYS, *FREE_KEYS})
    if unknown:
        raise PackageRefused(
            f"{FILE} has the unknown key {_quote(unknown[0])}; allowed are {', '.join(KEYS)} and {', '.join(FREE_KEYS)}"
        )
    name = checked_name(_text(table, "name"))
    build = _build(table, files)
    runtime = _text({"runtime": built_runtimes(build)[0], **table} if build else table, "runtime")
    if runtime not in (*RUNTIMES, REMOTE):
        raise PackageRefused(f"{FILE}: unknown runtime {_quote(runtime)}; write one of {', '.join(RUNTIMES)}")
    if runtime == REMOTE and len(files) > 1:
        raise PackageRefused(f"the package of a remote bot is its {FILE} alone; leave out all other files")
    entry = FILE if runtime == REMOTE else _entry(_text(table, "entry"), files)
    if build and not entry.endswith(BUILDS[build]):
        raise PackageRefused(
            f"{FILE}: entry {_quote(entry)} is no source for build = {build}; name a file that ends in {' or '.join(BUILDS[build])}"
        )
    games = table.get("games", [])
    if not isinstance(games, list) or not all(isinstance(game, str) for game in games):
        raise PackageRefused(f'{FILE}: games must be a list of names, such as games = ["partnership"]')
    flags = _flags(table)
    flags["deterministic"] |= runtime == WASM  # By construction.
    return Manifest(
        name,
        runtime,
        entry,
        checked_games(games, known_games),
        **flags,
        protocol=_protocol(table),
        build=build,
        parameters=_parameters(table),
    )


def _build(table: dict[str, Any], files: Collection[str]) -> str:
    """Return the language to compile, or "". Raise PackageRefused if it cannot go with the rest of the package."""
    build = table.get("build", "")
    if build == "":
        return ""
    if build not in BUILDS:
        raise PackageRefused(f"{FILE}: unknown build {_quote(str(build))}; write one of {', '.join(BUILDS)}")
    usual, *others = runtimes = built_runtimes(build)
    if table.get("runtime", usual) not in runtimes:
        remedy = f"leave out runtime or write {others[0]}" if others else "leave out runtime"
        raise PackageRefused(f"{FILE}: with build = {build} {remedy}; what is built has the runtime {usual}")
    if any(name.partition("/")[0].casefold() == PROGRAM for name in files):
        raise PackageRefused(
            f"a package with build may have nothing called {PROGRAM}: the built program gets this name"
        )
    return str(build)


def _entry(entry: str, files: Collection[str]) -> str:
    entry = entry if entry in files else composed(entry)
    if entry not in files or entry == FILE:
        raise PackageRefused(f"{FILE}: entry {_quote(entry)} is not a file of the package; name the file to start")
    return entry


def _flags(table: dict[str, Any]) -> dict[str, bool]:
    flags = {flag: table.get(flag, usual) for flag, usual in FLAGS.items()}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise PackageRefused(f"{FILE}: {flag} must be true or false, not {_quote(str(value))}")
    return flags


def _protocol(table: dict[str, Any]) -> str:
    protocol = table.get("protocol", JSON)
    if protocol not in PROTOCOLS:
        raise PackageRefused(f"{FILE}: unknown protocol {_quote(str(protocol))}; write one of {', '.join(PROTOCOLS)}")
    return str(protocol)


def _parameters(table: dict[str, Any]) -> tuple[BotParameter, ...]:
    """Return the declared parameters, in order. Whole numbers alone declare a parameter that is one."""
    declared = table.get(PARAMETERS, {})
    if not isinstance(declared, dict) or len(declared) > MAX_PARAMETERS:
        raise PackageRefused(f"{FILE}: {PARAMETERS} is a table of at most {MAX_PARAMETERS} numbers; see docs/tuning.md")
    parameters = []
    for name, fields in declared.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name):
            raise PackageRefused(
                f"{FILE}: the parameter {_quote(name)} needs a name of up to 30 of a-z, 0-9 and _, a letter first"
            )
        if (
            not isinstance(fields, dict)
            or set(fields) != set(FIELDS)
            or not all(type(number) in (int, float) for number in fields.values())
        ):
            raise PackageRefused(
                f"{FILE}: the parameter {name} needs exactly these numbers: {', '.join(FIELDS)}; see docs/tuning.md"
            )
        numbers = {field: _float(fields[field]) for field in FIELDS}
        try:
            parameters.append(
                BotParameter(name, **numbers, whole=all(type(number) is int for number in fields.values()))
            )
        except ValueError as error:
            raise PackageRefused(f"{FILE}: the parameter {name} is refused: {error}") from None
    return tuple(parameters)


def _float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:  # A whole number of hundreds of digits.
        return math.inf


def for_file(filename: str, games: Iterable[str], known_games: Collection[str]) -> Manifest:
    """Return the manifest of a package that is one source file: the file's name gives its name and runtime."""
    path = PurePosixPath(filename)
    runtime = SUFFIXES.get(path.suffix.lower())
    if runtime is None:
        raise PackageRefused(
            f"{_quote(filename)} is neither a source file ({', '.join(SUFFIXES)}) nor a zip; send one of those. "
            f"An executable goes into a zip with a {FILE}"
        )
    return Manifest(checked_name(path.stem[:MAX_NAME]), runtime, filename, checked_games(games, known_games))


def checked_name(name: str) -> str:
    """Return the name if it can be displayed, else raise PackageRefused."""
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not printable(name):
        raise PackageRefused(
            f"the name {_quote(name)} cannot be displayed; use 1 to {MAX_NAME} visible characters, without spaces at the ends"
        )
    return name


def slug(name: str) -> str:
    """Return a bot's name as a league writes it in addresses: at most 40 of a-z, 0-9 and inner hyphens; "" if nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-")


def checked_games(games: Iterable[str], known_games: Collection[str]) -> tuple[str, ...]:
    """Return the games sorted and without repeats. Raise PackageRefused with the list of games if one is unknown."""
    names = sorted(set(games))
    for game in names:
        if game not in known_games:
            raise PackageRefused(f"unknown game {_quote(game)}; the games are {', '.join(sorted(known_games))}")
    return tuple(names)


def _string(text: str) -> str:
    """Write a TOML string. A JSON string is one, except for DEL, which no name contains, and the surrogates that escape characters beyond FFFF."""
    return json.dumps(text, ensure_ascii=ord(max(text)) < 1 << 16)


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        example = {"name": "My bot", "runtime": "python", "entry": "bot.py"}[key]
        raise PackageRefused(f'{FILE} needs {key} as text; add a line such as {key} = "{example}"')
    return value


def _quote(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:77] + "...")
