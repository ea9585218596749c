"""All the small faults that can be put into a source text, found in its syntax tree and made in the text itself."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
SWAPPED_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNSEEN = ("strict", "maxsize", "source")  # keywords: a check of ours, room for memory, words for people
SILENT = ("log", "logger", "warnings")  # Messages for people are not behaviour


@dataclass(frozen=True)
class Mutant:
    """One fault: in `path`, the bytes from `start` to `end` are replaced by `text`."""

    path: str
    line: int  # First line of the statement, for the map of what tests reach
    where: str  # name of the function or class, with those around it
    kind: str
    start: int
    end: int
    text: str
    before: str  # the lines it touches, stripped and joined: with `where` they outlive a shift of lines
    after: str
    imported: bool  # it works when the module is imported, not when a function runs
    turn: int = 0  # Its place among equal ones in the same function

    @property
    def key(self) -> str:
        """Return a key of the mutant without its path and line, so that moved code keeps its mutants."""
        text = "\0".join((self.where, self.kind, self.before, self.after, str(self.turn)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def of_source(path: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file, in the order of the text."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    numbered: list[Mutant] = []
    turns: dict[tuple[str, ...], int] = {}
    for mutant in sorted(finder.mutants, key=lambda mutant: (mutant.start, mutant.end, mutant.text)):
        same = (mutant.where, mutant.kind, mutant.before, mutant.after)
        turns[same] = turns.get(same, -1) + 1
        numbered.append(Mutant(**{**mutant.__dict__, "turn": turns[same]}))
    return numbered


def runs(mutant: Mutant, source: bytes) -> bool:
    """Return True if the source with the fault parses and is another program."""
    try:
        return ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


class _Finder(ast.NodeVisitor):
    """Goes through the tree and notes what can be broken."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.mutants: list[Mutant] = []
        self.names: list[str] = []
        self.functions = 0
        self.statement = 1
        self.starts = [0]
        for line in source.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    # --- places ------------------------------------------------------------------------------------------------------------

    def _start(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def _text(self, node: ast.AST) -> str:
        return self.source[self._start(node) : self._end(node)].decode()

    def _lines(self, source: bytes, start: int, end: int) -> str:
        first = source.rfind(b"\n", 0, start) + 1
        last = source.find(b"\n", end)
        lines = source[first : last if last >= 0 else len(source)].decode().splitlines()
        return " ".join(line.strip() for line in lines)

    def _note(self, kind: str, start: int, end: int, text: str) -> None:
        changed = self.source[:start] + text.encode() + self.source[end:]
        before = self._lines(self.source, start, end)
        after = self._lines(changed, start, start + len(text.encode()))
        where = ".".join(self.names) or "module"
        imported = self.functions == 0
        self.mutants.append(Mutant(self.path, self.statement, where, kind, start, end, text, before, after, imported))

    def _operator(self, kind: str, left_side: ast.AST, right: ast.AST, pattern: str, text: str) -> None:
        """Replace the operator between two operands."""
        start, end = self._end(left_side), self._start(right)
        between = self.source[start:end].decode()
        if match := re.search(pattern, between):
            at = start + len(between[: match.start()].encode())
            self._note(kind, at, at + len(match.group().encode()), text)

    # --- where we are ------------------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.statement = node.lineno
        super().visit(node)

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name in ("__repr__", "__str__"):
            return
        self.names.append(node.name)
        self.functions += 1
        self.statement = node.body[0].lineno
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self._body(node.body)
        self.functions -= 1
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)  # not its decorators, not its types

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        self._body(node.body)
        self.names.pop()

    def visit_Module(self, node: ast.Module) -> None:
        self._body(node.body)

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip assertions: each is a check of ours already."""

    def visit_Import(self, node: ast.Import) -> None:
        """Nothing to break."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Nothing to break."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip f-strings: Python 3.11 does not know the positions of their parts."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    # --- statements --------------------------------------------------------------------------------------------------------

    def _test(self, test: ast.expr) -> None:
        """Negate a condition, unless an operator of it is inverted anyway."""
        if not isinstance(test, ast.Compare | ast.UnaryOp | ast.Constant):
            self._note("negate", self._start(test), self._end(test), f"not ({self._text(test)})")

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name | ast.Attribute) and "TYPE_CHECKING" in self._text(node.test):
            return
        self._test(node.test)
        self.visit(node.test)
        self._body(node.body)
        self._body(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self._test(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._test(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._test(test)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and self._text(call.func).split(".")[0] in SILENT:
            return
        if isinstance(call, ast.Call):
            self._note("drop", self._start(node), self._end(node), "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self._note("drop", self._start(node), self._end(node), "pass")
        if self._text(node.targets[0]) not in ("__all__", "__slots__"):
            self.visit(node.value)
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    self.visit(target.slice)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._note("drop", self._start(node), self._end(node), "pass")
        if type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            self._operator("arithmetic", node.target, node.value, re.escape(old + "="), new + "=")
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._note("drop", self._start(node), self._end(node), "pass")  # its words are for people

    def visit_Continue(self, node: ast.Continue) -> None:
        self._note("loop", self._start(node), self._end(node), "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._note("loop", self._start(node), self._end(node), "continue")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not (
            isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool | None)
        ):  # bool: has its opposite
            self._note("return", self._start(node.value), self._end(node.value), "None")
        self.visit(node.value)

    # --- expressions -------------------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left_side, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            old, others = COMPARISONS[type(operator)]
            pattern = rf"\b{old}\b" if old[0].isalpha() else re.escape(old)
            for new in others:
                self._operator("compare", left_side, right, pattern, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left_side, right in zip(node.values, node.values[1:], strict=False):
            self._operator("logic", left_side, right, rf"\b{old}\b", new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        length = 3 if isinstance(node.op, ast.Not) else 1
        self._note("negate", self._start(node), self._start(node) + length, "")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = any(
            isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in (node.left, node.right)
        )
        if type(node.op) in ARITHMETIC and not words:
            old, new = ARITHMETIC[type(node.op)]
            self._operator("arithmetic", node.left, node.right, re.escape(old), new)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._note("constant", self._start(node), self._end(node), str(not value))
        elif isinstance(value, int):
            self._note("constant", self._start(node), self._end(node), str(value + 1))
            if value > 0:
                self._note("constant", self._start(node), self._end(node), str(value - 1))
        elif isinstance(value, float):
            self._note("constant", self._start(node), self._end(node), repr(value * 2 + 1))

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None:
                self._note("slice", self._start(bound), self._end(bound), "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._text(node.func)
        if name in ("cast", "TypeVar", "_", "gettext", "gettext_lazy"):
            return
        if name in SWAPPED_CALLS:
            self._note("call", self._start(node.func), self._end(node.func), SWAPPED_CALLS[name])
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in UNSEEN:
                start, end = self._start(keyword), self._end(keyword)
                if comma := re.match(rb"\s*,", self.source[end:]):
                    end += comma.end()
                self._note("keyword", start, end, "")
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        statement = self.statement
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.AST):
                    if isinstance(item, ast.expr):
                        self.statement = statement
                    self.visit(item)
