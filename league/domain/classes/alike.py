"""Similar code among what the students of a class handed in. Only the teachers of the class see it; it is never a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.conf import settings

from league.domain.bots import languages, packages
from league.models import Assignment, BotVersion, HandIn
from league.pure import alike

MOST_PAIRS = 12
MOST_PASSAGES = 3
MOST_LINES = 14  # The most lines of a passage.
MOST_TEXT = 64 * 1024  # Characters of one student that are compared.
ENDINGS = (".py", ".mjs", ".js", ".mts", ".ts", ".c", ".h", ".cpp", ".cc", ".cxx", ".hpp", ".rs", ".go", ".java")
BOTS = settings.BASE_DIR / "bots"


@dataclass(frozen=True)
class Passage:
    """A passage that two students share: the first line in each text, and the text."""

    first_line: int
    first_text: str
    other_line: int
    other_text: str


@dataclass(frozen=True)
class AlikeStudents:
    """Two students whose code is alike. percent: of the shorter code, without the template."""

    first: HandIn
    other: HandIn
    percent: int
    passages: list[Passage]

    @property
    def versions(self) -> tuple[BotVersion, BotVersion]:
        """Return the versions of the two."""
        return self.first.version, self.other.version


def pairs(task: Assignment) -> list[AlikeStudents]:
    """Return the pairs of students whose latest versions are most alike. Three queries, and one for each version.

    What two students have from the same published version, which both name as their origin, does not count.
    """
    latest: dict[int, HandIn] = {}
    origin = ("version__origin__bot", "version__origin__package", "version__origin__source")
    versions = ("version__bot", "version__package", "version__source", *origin)
    rows = HandIn.objects.filter(assignment=task).select_related("member__player", *versions)
    for row in rows.order_by("attempt"):
        latest[row.member_id] = row
    texts = {str(pk): _text(row.version) for pk, row in latest.items()}
    origins = {str(pk): _text(row.version.origin) for pk, row in latest.items() if row.version.origin}
    rows_alike = alike.compare(texts, _templates(), origins)[:MOST_PAIRS]
    return [
        AlikeStudents(
            latest[int(pair.first)],
            latest[int(pair.other)],
            round(100 * pair.share),
            [_passage(texts[pair.first], texts[pair.other], *spans) for spans in pair.passages[:MOST_PASSAGES]],
        )
        for pair in rows_alike
    ]


def _text(version: BotVersion) -> str:
    """Return the code of a version in one text, without what the league puts beside it."""
    sdk_files = {path.rpartition("/")[2] for language in languages.LANGUAGES.values() for path in language.beside}
    files = packages.files(version)
    texts = [
        data.decode("utf-8", "replace")
        for name, data in sorted(files.items())
        if name.endswith(ENDINGS) and name.rpartition("/")[2] not in sdk_files
    ]
    return "\n".join(texts)[:MOST_TEXT]


def _passage(first: str, other: str, first_span: tuple[int, int], other_span: tuple[int, int]) -> Passage:
    return Passage(first_span[0], _lines(first, first_span), other_span[0], _lines(other, other_span))


def _lines(text: str, span: tuple[int, int]) -> str:
    start, end = span
    return "\n".join(text.splitlines()[start - 1 : min(end + 1, start - 1 + MOST_LINES)])


@cache
def _templates() -> tuple[str, ...]:
    """Return the texts from which authors start: the templates of the editor and of the command line, and the language kits."""
    folders = (BOTS / "sdk" / "template", BOTS / "sdk" / "templates", BOTS / "kits")
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in ENDINGS]
    return tuple(path.read_text(encoding="utf-8", errors="replace") for path in paths)
