"""The languages of the editor, and how a text in one of them becomes a package.

The text is the entry point of its package. A text in JavaScript gets a copy of the league's tute.mjs beside it; the runtime of Python already has
its SDK.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

from engine.packages import archive, manifest
from league.domain.bots import packages
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import workers
from league.models import BotVersion

KITS = settings.BASE_DIR / "bots" / "kits"


@dataclass(frozen=True)
class Language:
    """A language of the editor.

    title: its name for people; file: the name of a text in its package and in its tracebacks; beside: files of the kit that are packed with it.
    """

    key: str
    title: str
    runtime: str
    file: str
    beside: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """Return the ending of its files, such as ".py"."""
        return Path(self.file).suffix


PYTHON = Language("python", "Python", "python", "bot.py")
JAVASCRIPT = Language("javascript", "JavaScript", "node", "bot.mjs", ("javascript/tute.mjs",))
LANGUAGES = {language.key: language for language in (PYTHON, JAVASCRIPT)}


def find(key: str) -> Language:
    """Return the language with this key, or raise Refused."""
    if key not in LANGUAGES:
        raise Refused(
            "the editor has no language {language!r}; choose one of {languages}",
            language=key,
            languages=", ".join(LANGUAGES),
        )
    return LANGUAGES[key]


def _names(language: Language) -> dict[str, Path]:
    """Return the files that are packed beside a text, by their names in the package."""
    return {Path(name).name: KITS / name for name in language.beside}


def package(text: bytes, language: Language, games: Iterable[str] | None = None) -> archive.BotPackage:
    """Pack a text; games: those that it plays (None: every game). Raise PackageRefused."""
    alone = packages.inspect(text, language.file, games)
    files = {**alone.files, **{name: path.read_bytes() for name, path in _names(language).items()}}
    return archive.BotPackage(alone.manifest, dict(sorted(files.items())))


def language_of(version: BotVersion) -> Language | None:
    """Return the language in which the editor can open a version: one text, alone or with what `package` puts beside it. Reads no package."""
    language = next((candidate for candidate in LANGUAGES.values() if candidate.runtime == version.runtime), None)
    if language is None or not version.entry.endswith(language.ending):
        return None
    spare = version.package.files - packages.FILES_OF_TEXT
    return language if spare == 0 or (spare == len(language.beside) and version.entry == language.file) else None


def text_of(version: BotVersion) -> str | None:
    """Return the text of a version that the editor can open, else None. Reads the package."""
    language = language_of(version)
    if language is None:
        return None
    files = packages.files(version)
    if not {manifest.FILE, version.entry, *_names(language)} >= files.keys():
        return None
    try:
        return files[version.entry].decode()
    except UnicodeDecodeError:
        return None


def replaced(version: BotVersion) -> list[str]:
    """Return the files of a version that differ from those which `package` puts beside its text. Reads the package of a text in JavaScript."""
    language = language_of(version)
    beside = _names(language) if language else {}
    if not beside or version.package.files == packages.FILES_OF_TEXT:
        return []
    files = packages.files(version)
    return [name for name, path in beside.items() if name in files and files[name] != path.read_bytes()]


def playable(*, now: datetime | None = None) -> list[Language]:
    """Return the languages whose runtime some worker has; all of them if no worker runs. One query."""
    reports = list(workers.living(clock.now_or(now)).exclude(tier="").values_list("runtimes", flat=True))
    anywhere = not all(reports)  # Nobody runs, or a worker of an older release, which does not report runtimes.
    has = {runtime for runtimes in reports for runtime in runtimes}
    return [language for language in LANGUAGES.values() if anywhere or not reports or language.runtime in has]
