"""Every message that a person can meet, with its place: `python -m tests.support.messages [KIND ...]` prints them all.

Kinds: `catalogue` (texts of pages, forms and refusals, which have translations), `error` (sentences in exceptions), `help` (options of commands,
fields of the API and of its document), `table` (texts in tables: tiers of the sandbox, the document of the API).
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("engine", "league", "bots/sdk")
# Exceptions not for people: mistakes in our own code, or control flow.
INTERNAL = frozenset(
    {"AssertionError", "NotImplementedError", "StopIteration", "KeyError", "IndexError", "AttributeError", "NotCovered"}
)
HELP = frozenset({"help", "help_text", "label", "description", "summary", "epilog", "detail"})
CLASS_TEXTS = frozenset({"help", "example"})
# Names, assigned or as keywords, whose strings are messages if they contain a space.
TABLES = frozenset({"SPECTACULAR_SETTINGS", "remedies", "held_by", "needs", "leaves_open"})


@dataclass(frozen=True, order=True)
class Message:
    """One message: its place, and its text with braces in place of values."""

    path: str
    line: int
    kind: str
    text: str


def messages() -> list[Message]:
    """Return every message of the code and of the templates, with its place."""
    by_place = {(message.path, message.text): message for folder in FOLDERS for message in _code(ROOT / folder)}
    by_place |= {(message.path, message.text): message for message in _catalogue()}
    return sorted(by_place.values())


def _catalogue() -> Iterator[Message]:
    from league.service.texts import extract_texts

    for message in extract_texts():
        for text in message.id if isinstance(message.id, tuple | list) else [message.id]:
            yield from (Message(path, line, "catalogue", text) for path, line in message.locations)


def _code(folder: Path) -> Iterator[Message]:
    for path in sorted(folder.glob("**/*.py")):
        if "migrations" not in path.parts:
            name = str(path.relative_to(ROOT))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for kind, line, text in _texts(node):
                    yield Message(name, line, kind, text)


def _texts(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _callee(node.exc) not in INTERNAL:
        for statement in [*node.exc.args, *(keyword.value for keyword in node.exc.keywords)]:
            yield from (("error", line, text) for line, text in _sentences(statement))
    elif isinstance(node, ast.keyword) and node.arg in HELP | TABLES:
        yield from ((("help" if node.arg in HELP else "table"), *sentence) for sentence in _sentences(node.value))
    elif isinstance(node, ast.ClassDef):
        for statement in node.body:
            if isinstance(statement, ast.Assign) and _target(statement) in CLASS_TEXTS:
                yield from (("help", *sentence) for sentence in _sentences(statement.value))
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _target(node) in TABLES:
        yield from (("table", *sentence) for sentence in _sentences(node.value))


def _callee(call: ast.Call) -> str:
    callee = call.func
    return callee.id if isinstance(callee, ast.Name) else callee.attr if isinstance(callee, ast.Attribute) else ""


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else ""


def _sentences(node: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string below a node that contains several words; an f-string counts as one."""
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else _gap(part) for part in node.values]
        yield node.lineno, "".join(parts)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and re.search(r"\w\W*\s\W*\w", node.value):
            yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _sentences(child)
            elif isinstance(child, ast.keyword):
                yield from _sentences(child.value)
            elif isinstance(child, ast.comprehension):
                yield from _sentences(child.iter)


def _gap(node: ast.expr) -> str:
    return "{" + ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node) + "}"


def main(kinds: list[str]) -> None:
    """Print the messages, one a line."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    django.setup()
    for message in messages():
        if not kinds or message.kind in kinds:
            print(f"{message.path}:{message.line}: {message.kind}: {message.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
