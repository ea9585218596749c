"""The rules of prose and names that a program can check: `make style` runs them over every file that git tracks.

    python -m tests.support.words [FILE...]

Each finding is a line `path:line: rule: text`. The rules: a docstring begins with an imperative verb or a noun; a comment is a sentence or a noun
phrase; no sentence has a headless clause ("Who plays ...") as its subject; no name is a bare participle or preposition; no phrase of PHRASES; a
document has at most 300 lines and 2,500 words, a paragraph 700 characters.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST_WORDS = {
    *("what", "who", "whom", "whose", "whether", "of", "where", "how", "as", "so", "such", "with"),
    *("from", "for", "by", "in", "on", "before", "beside", "when", "which"),
}
BARE_NAMES = {
    *("found", "told", "made", "held", "kept", "given", "asked", "seen", "there", "mine", "wanted", "shown"),
    *("known", "named", "said", "done", "left", "put", "lent", "anew", "besides", "of", "by", "one"),
    "whose",
}
PHRASES = {
    "anew": r"\banew\b",
    "told": r"\b(?:is|are|was|were|be|been) told\b|\btells? of\b|\btold of\b",
    "let go": r"\blet go\b",
    "who looks": r"\bwho (?:looks|reads|asks|is asked|has (?:it|them))\b",
    "what waits": r"\b(?:what|all that) (?:waits|is played|is made|is left|it holds)\b",
    "at the door": r"\bat the door\b",
    "of the house": r"\bbots? of the house\b",
    "so long": r"\bso (?:soon|long|many|rarely)\b(?! as\b)",
    "at this moment": r"\bat this moment\b",
    "none any more": r"\bnone any more\b|\bno more than so\b",
}
HEADLESS = re.compile(r"(?:^|[.:;] )((?:Who|Whoever|What|All that|Whose)\b[^.?!]*[.!])")
MOST_LINES, MOST_WORDS, MOST_CHARACTERS = 300, 2500, 700
NORMATIVE = ("docs/rules/", "docs/games.md")  # The rules book keeps its wording, and the list of games is generated.
# Names that other programs read: fields of the API, a field of the dump's list, a variable of a template.
FIXED_NAMES = {
    "league/api/bots/serializers.py": {"mine"},
    "league/api/matches/serializers.py": {"asked"},
    "league/domain/judgements/summing.py": {"mine"},
    "league/domain/upkeep/dumping.py": {"held"},
}
ELSEWHERE = ("/migrations/", "/vendor/", "/locale/")
CLEAN = ROOT / "var" / "test" / "words"  # Digests of the files that broke no rule in the last run over all
TOOLS = ("noqa", "type:", "pragma", "mypy", "pylint", "ruff", "fmt:")  # comments that a tool reads


@dataclass(frozen=True, order=True)
class Finding:
    """A place that breaks a rule."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        """Return the line that is printed."""
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def check(path: str, text: str) -> list[Finding]:
    """Return what breaks the rules in a file, in the order of its lines."""
    places = _python(text) if path.endswith(".py") else _prose(path, text)
    fixed = FIXED_NAMES.get(path, ())
    return sorted(Finding(path, line, rule, part.strip()[:110]) for line, rule, part in places if part not in fixed)


def tracked() -> list[str]:
    """Return the files that the rules hold for."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    return [
        path
        for path in listed
        if path.endswith((".py", ".md", ".html", ".js")) and not any(part in "/" + path for part in ELSEWHERE)
    ]


Place = tuple[int, str, str]  # line, rule, text


def _python(source: str) -> Iterator[Place]:
    nodes = list(_walk(ast.parse(source)))
    columns = set(_columns(nodes))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstring(node)
        if isinstance(node, ast.Name):
            name = node.id if isinstance(node.ctx, ast.Store) and node not in columns else ""
        else:
            name = node.arg if isinstance(node, ast.arg) else ""
        if name.strip("_") in BARE_NAMES:
            yield node.lineno, "bare participle or preposition as a name", name  # type: ignore[attr-defined]
    after_signs = (line[match.end() :] for line in source.splitlines() for match in re.finditer("#", line))
    if not any(place for text in after_signs for place in _comment(0, text)):
        return  # Reading the tokens is dear, and a sign in a string that breaks a rule is rare
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from _comment(token.start[0], token.string)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node, as `ast.walk` does in three times the time; not those that only say whether a name is read or stored."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for value in node.__dict__.values():
            if isinstance(value, list):
                todo += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                todo.append(value)


def _columns(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """Yield the names of database columns and API fields, which other programs rely on."""
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Name() as name],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="models" | "serializers"))),
            ):
                yield name


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Place]:
    text = ast.get_docstring(node) or ""
    line = node.body[0].lineno if node.body else 1
    if _first_word(text) in FIRST_WORDS:
        yield line, "docstring begins with", text.splitlines()[0]
    yield from _phrases(line, text)


def _comment(line: int, text: str) -> Iterator[Place]:
    text = text.lstrip("#! ")
    if text.startswith(TOOLS):
        return
    if _first_word(text) in FIRST_WORDS and text[:1].islower():
        yield line, "comment is a torn-off clause", text
    yield from _phrases(line, text)


def _prose(path: str, text: str) -> Iterator[Place]:
    if path.startswith(NORMATIVE):
        return
    yield from _phrases(1, text)
    if not path.endswith(".md"):
        return
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        yield 1, f"document has more than {MOST_LINES} lines", str(len(lines))
    if (words := len(text.split())) > MOST_WORDS:
        yield 1, f"document has more than {MOST_WORDS} words", str(words)
    for line, paragraph in _paragraphs(lines):
        if len(paragraph) > MOST_CHARACTERS:
            yield line, f"paragraph has more than {MOST_CHARACTERS} characters", paragraph
        for match in HEADLESS.finditer(paragraph):
            yield line, "headless clause as a subject", match[1]


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each paragraph of a document with its first line; not lists, tables, headings and code."""
    first, paragraph, fenced = 0, "", False
    for number, line in enumerate([*lines, ""], 1):
        fenced ^= line.startswith("```")
        if fenced or not line.strip() or line.lstrip().startswith(("#", "|", "*", "-", ">", "```", "    ")):
            if paragraph:
                yield first, paragraph
            paragraph = ""
        else:
            first = first if paragraph else number
            paragraph = f"{paragraph} {line.strip()}".strip()


def _phrases(line: int, text: str) -> Iterator[Place]:
    for name, pattern in PHRASES.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            part = text[max(0, match.start() - 30) : match.end() + 30].replace("\n", " ")
            yield line + text.count("\n", 0, match.start()), f"phrase {name!r}", part


def _first_word(text: str) -> str:
    match = re.match(r"[`'\"(]*([A-Za-z]+)", text.strip())
    return match[1].lower() if match else ""


def main(paths: list[str]) -> int:
    """Print every finding; skip files that have not changed since they had none. Return 1 if there is one."""
    clean = set(CLEAN.read_text().split()) if CLEAN.exists() else set()
    rules, digests, findings = Path(__file__).read_bytes(), [], []
    for path in paths or tracked():
        content = (ROOT / path).read_bytes()
        digest = hashlib.sha256(b"\0".join((rules, path.encode(), content))).hexdigest()
        new = [] if digest in clean else check(path, content.decode())
        findings += new
        digests += [] if new else [digest]
    for finding in findings:
        print(finding)
    if not paths:
        CLEAN.parent.mkdir(parents=True, exist_ok=True)
        CLEAN.write_text("\n".join(digests))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
