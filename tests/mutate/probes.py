"""The map of statements and the tests that reach them: the code is copied with a probe at the start of every block, and the tests run on the copy.

A probe is a look into a dictionary, so it costs little and works in every process that the tests start.
"""

from __future__ import annotations

import ast

MODULE = "reached_probes"  # lies at the top of the copied tree

HEADER = f"""
try:
    from {MODULE} import reached as _reached
except ImportError:  # inside the sandbox there is no such module
    _reached = type("Unheard", (dict,), {{"__missing__": lambda self, block: None}})()
"""

# The module that the probes look into. The process of the tests reads `reached` after each test; a process that a test has
# started writes each block down when it comes there first, so that nothing is lost when it is killed.
SOURCE = """
import os


class Reached(dict):
    def __missing__(self, block):
        self[block] = None
        if os.getpid() != int(os.environ.get("REACHED_MAIN", 0)) and "REACHED_FILE" in os.environ:
            try:
                with open(os.environ["REACHED_FILE"], "a") as lines:
                    lines.write(f"{os.environ.get('REACHED_TEST', '')}\\t{block}\\n")
            except OSError:
                pass


reached = Reached()
"""


class Blocks:
    """The blocks of a tree's files, by number, and which one a line belongs to."""

    def __init__(self) -> None:
        self.count = 0
        self.of_line: dict[str, dict[int, int]] = {}  # path, first line of a statement: block
        self.imported: set[int] = set()  # run by the import of their module

    def instrument(self, path: str, source: str) -> str:
        """Return the source of a file with its probes."""
        lines = self.of_line[path] = {}
        tree = ast.parse(source)
        self._probe(tree, lines, in_function=False)
        place = 0
        for statement in tree.body:
            documentary = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if documentary or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
                place += 1
            else:
                break
        probes = [node for node in tree.body[:place] if getattr(node, "is_probe", False)]
        assert not probes, path
        tree.body[place:place] = ast.parse(HEADER).body
        return ast.unparse(ast.fix_missing_locations(tree))

    def _probe(self, node: ast.AST, lines: dict[int, int], *, in_function: bool) -> None:
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                setattr(node, field, self._probed(body, lines, in_function))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self._probe(part, lines, in_function=in_function)

    def _probed(self, body: list[ast.stmt], lines: dict[int, int], in_function: bool) -> list[ast.stmt]:
        probed: list[ast.stmt] = []
        block = None
        for place, statement in enumerate(body):
            first = place == 0
            words = first and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if not words and not future:
                if block is None:
                    block = self.count
                    self.count += 1
                    if not in_function:
                        self.imported.add(block)
                    probed.append(ast.parse(f"_reached[{block}]").body[0])
                lines.setdefault(statement.lineno, block)
            compound = hasattr(statement, "body") or hasattr(statement, "cases")
            if compound:
                function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
                self._probe(statement, lines, in_function=in_function or function)
                block = None  # Statements after it may not be reached
            probed.append(statement)
        return probed
