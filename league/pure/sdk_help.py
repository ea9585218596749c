"""The names of the SDK for authors, each with its signature and one line of help, read from its source.

The attributes of a view are documented in the docstring of `View`, by subject: "Deal: `board`, `out` (seats not in this deal), ...".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

SUBJECT = re.compile(r"^(\w[\w ]*): ", re.MULTILINE)
METHOD = re.compile(r"((?:^  // .*\n)+)^  (\w+)\((.*?)\) \{$", re.MULTILINE)
FUNCTION = re.compile(r"((?:^// .*\n)+)^export (?:async )?function (\w+)\((.*?)\) \{$", re.MULTILINE)
KNOWLEDGE = re.compile(r"((?:^// .*\n)+)^export class View ", re.MULTILINE)
# What an author needs first; the rest keeps the order of its file.
FIRST = (
    "hand",
    "table",
    "trump",
    "led",
    "legal",
    "would_win",
    "beats",
    "value",
    "strength",
    "plays",
    "is_safe",
    "is_void",
    "partners",
    "announce",
)
NAMED = re.compile(r"`(\w+)`|[(\[{]|[)\]}]")


@dataclass(frozen=True)
class Member:
    """A name that an author may write: after `view.`, after `self.` of a bot, or by itself (`owner` is empty)."""

    owner: str
    name: str
    signature: str  # Such as "(card)"; empty for a value.
    help: str


def members(bot_source: str, sense_source: str = "") -> list[Member]:
    """Return the names of the SDK (tute_bot.py) and the rules of thumb (tute_sense.py): first those of `FIRST`."""
    module = ast.parse(bot_source)
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    view, bot = classes["View"], classes["Bot"]
    questions = list(_functions(view.body, "view"))
    question_names = {member.name for member in questions}
    listed = [Member("view", name, "", text) for name, text in _values(view).items() if name not in question_names]
    listed += questions
    listed += _functions(bot.body, "self")
    listed += _functions(module.body, "")
    return _ordered(listed + list(_functions(ast.parse(sense_source).body, "")))


def members_of_javascript(source: str) -> list[Member]:
    """Return the names of the JavaScript kit (tute.mjs): those of `FIRST`, those listed in the comment on `View`, the functions."""
    methods = {name: (f"({arguments})", _first_sentence(text)) for text, name, arguments in METHOD.findall(source)}
    knowledge = KNOWLEDGE.search(source)
    listed = []
    for name, text in _named(_comment(knowledge[1])) if knowledge else ():
        signature, comment = methods.get(name, ("", text))
        listed.append(Member("view", name, signature, comment))
    functions = [Member("", name, f"({rest})", _first_sentence(text)) for text, name, rest in FUNCTION.findall(source)]
    return _ordered(listed + functions)


def _ordered(listed: list[Member]) -> list[Member]:
    plain = [replace(member, help=member.help.replace("`", "")) for member in listed]
    return sorted(plain, key=lambda member: FIRST.index(member.name) if member.name in FIRST else len(FIRST))


def _comment(text: str) -> str:
    return " ".join(line.strip().removeprefix("//").strip() for line in text.splitlines())


def _first_sentence(text: str) -> str:
    return _comment(text).partition(". ")[0].removesuffix(".") + "."


def _functions(body: list[ast.stmt], owner: str) -> Iterator[Member]:
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            is_value = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            yield Member(owner, node.name, "" if is_value else f"({', '.join(names)})", _first_line(node))


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> str:
    return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())


def _values(view: ast.ClassDef) -> dict[str, str]:
    """Return the attributes of a view with their help."""
    texts: dict[str, str] = {}
    for paragraph in (ast.get_docstring(view) or "").split("\n\n"):
        if subject := SUBJECT.match(paragraph):
            texts |= _named(paragraph[subject.end() :])
    return texts


def _named(paragraph: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a list with the words after it; a name within brackets belongs to those words."""
    names, depth = [], 0
    for match in NAMED.finditer(paragraph):
        if match[1] is None:
            depth += 1 if match[0] in "([{" else -1
        elif depth == 0:
            names.append(match)
    ends = [match.start() for match in names[1:]] + [len(paragraph)]
    for match, end in zip(names, ends, strict=True):
        text = " ".join(paragraph[match.end() : end].split()).strip(" ,.;:")
        yield match[1], text[1:-1] if text.startswith("(") and text.endswith(")") else text
