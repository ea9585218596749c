"""The map from statements to the tests that reach them, made once for a tree, and the choice of tests for a mutant."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.mutate.areas import area_of
from tests.mutate.mutants import Mutant
from tests.mutate.probes import Blocks
from tests.mutate.tree import Tree

NOTHING_LEFT = 5  # pytest's code where no test was asked: an earlier run has asked them all


class Reach:
    """The blocks that every passing test reaches, and its seconds."""

    def __init__(self, origin: Path, folder: Path, areas: dict[str, tuple[str, ...]]) -> None:
        self.folder = folder
        self.blocks = Blocks()
        self.tree = Tree(origin, folder / "map")
        self.sources: dict[str, bytes] = {}
        for file in sorted(self.tree.top.rglob("*.py")):
            path = str(file.relative_to(self.tree.top))
            if area_of(path, areas):
                self.sources[path] = file.read_bytes()
                file.write_text(self.blocks.instrument(path, file.read_text()))
        self.seconds: dict[str, float] = {}
        self.reaching: dict[int, set[str]] = defaultdict(set)
        self.failed: list[str] = []
        self.importers: dict[str, list[str]] = {}
        self.files: dict[str, str] = {}  # Path of a test file -> hash of its content

    def make(self, parts: list[str], left_out: list[str], jobs: int) -> None:
        """Run the tests in the copied tree with its probes; then read what they wrote.

        A run that was stopped goes on; where tests have changed, only their files are run again.
        """
        key = hashlib.sha256(repr(sorted(self.sources.items())).encode()).hexdigest()[:16]
        out, children = self.folder / f"map-{key}.jsonl", self.folder / f"children-{key}.txt"
        self.files = files = {
            str(file.relative_to(self.tree.top)): hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            for file in sorted(self.tree.top.rglob("tests/**/test_*.py"))
        }
        finished = [line["test"] for line in self._lines(out)]
        orders = self.folder / "map-orders.json"
        orders.write_text(json.dumps({"done": finished, "out": str(out), "files": files}))
        complete = self.folder / f"map-{key}.complete"
        request = json.dumps([files, parts, left_out])
        if not complete.exists() or complete.read_text() != request:
            self.tree.empty_temporary()
            children.touch()
            children.chmod(0o666)
            words = ["-q", "-p", "no:cacheprovider", "-p", "tests.mutate.plugin", "--tb=line", *parts]
            words += ["-n", str(jobs), "--dist", "loadfile"]
            words += [f"--ignore={name}" for name in left_out]
            environment = self.tree.environment("map") | {
                "MUTATE_ORDERS": str(orders),
                "REACHED_FILE": str(children),
            }
            with (self.folder / "map.log").open("a") as log:
                code = subprocess.run(
                    [sys.executable, "-m", "pytest", *words],
                    cwd=self.tree.top,
                    env=environment,
                    stdout=log,
                    stderr=log,
                ).returncode
            if code not in (0, 1) and not (code == NOTHING_LEFT and finished):
                raise SystemExit(f"the tests could not be run for the map: see {self.folder / 'map.log'}")
            complete.write_text(request)
        shutil.rmtree(self.tree.top)
        self._read(out, children)

    def _lines(self, path: Path) -> list[dict[str, Any]]:
        """Return the records of an earlier run, for tests that have not changed."""
        if not path.exists():
            return []
        whole = path.read_text().rpartition("\n")[0]  # a killed run may have left half a line
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if line.get("of") in (None, self.files.get(line["test"].partition("::")[0]))]

    def _read(self, out: Path, children: Path) -> None:
        imports: dict[str, list[int]] = {}
        for line in self._lines(out):
            name = line["test"]
            if name.startswith("import "):
                imports[name.removeprefix("import ")] = line["reached"]
            elif line["passed"]:
                self.seconds[name] = line["seconds"]
                for block in line["reached"]:
                    self.reaching[block].add(name)
            else:
                self.failed.append(name)
        for line in children.read_text().splitlines():
            name, _, block = line.partition("\t")
            if name in self.seconds:
                self.reaching[int(block)].add(name)
        tests = defaultdict(list)
        for name in self.seconds:
            tests[name.partition("::")[0]].append(name)
        self.by_import: dict[int, set[str]] = defaultdict(set)
        for path, blocks in imports.items():
            for block in blocks:
                self.by_import[block].update(tests[path])

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant, those of its own file first; then those that only load what it has made."""
        block = self.blocks.of_line[mutant.path].get(mutant.line, -1)
        direct = self.reaching.get(block, set())
        if mutant.imported or block in self.blocks.imported:
            by_name = self._tests_named_after(mutant.path)
            around = self._of_files([mutant.path]) or self._of_files(self._importers(mutant.path))
        else:
            by_name, around = set(), self.by_import.get(block, set())
        own = {test for test in direct | around if test.partition("::")[0].endswith(f"/test_{_stem(mutant.path)}.py")}
        groups = (own & direct, direct - own, by_name - direct - own, own - direct, around - direct - by_name - own)
        return [test for group in groups for test in self._soonest(group)]

    def _tests_named_after(self, path: str) -> set[str]:
        """Return the tests with a case that is named after the file, as each game has its own."""
        return {test for test in self.seconds if _stem(path) in re.split(r"[\[\]-]", test.partition("[")[2])}

    def at_import(self, mutant: Mutant) -> bool:
        """Return True if the mutant takes effect when modules are loaded: too late for this process, which has loaded them."""
        block = self.blocks.of_line[mutant.path].get(mutant.line, -1)
        return mutant.imported or block in self.blocks.imported or block in self.by_import

    def _of_files(self, paths: list[str]) -> set[str]:
        blocks = {block for path in paths for block in self.blocks.of_line[path].values()} - self.blocks.imported
        return set().union(*(self.reaching.get(block, set()) for block in blocks))

    def _importers(self, path: str) -> list[str]:
        if path in self.importers:
            return self.importers[path]
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        importers = []
        for other, source in self.sources.items():
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                    if ".".join(parts) in names:
                        importers.append(other)
                        break
        self.importers[path] = importers
        return importers

    def _soonest(self, tests: set[str]) -> list[str]:
        """Quick tests first, but of each test function one case before the second of any: cases resemble each other."""
        ranked = []
        function = lambda name: name.partition("[")[0]  # noqa: E731 - a key used twice
        for _, cases in groupby(sorted(tests, key=lambda name: (function(name), self.seconds[name], name)), function):
            ranked += [(rank, self.seconds[name], name) for rank, name in enumerate(cases)]
        return [name for *_, name in sorted(ranked)]


def _stem(path: str) -> str:
    """Return a file's name without the parts that all have."""
    return path.rpartition("/")[2].removesuffix(".py")
