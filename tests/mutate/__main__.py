"""`python -m tests.mutate`: break a sample of places, one at a time, and list those that no test notices. See docs/testing.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from tests.mutate import mutants
from tests.mutate.areas import AREAS, LEFT_OUT, Equivalents, area_of
from tests.mutate.mutants import Mutant
from tests.mutate.reach import Reach
from tests.mutate.tree import Tests, Tree

FIRST_TESTS, FIRST_SECONDS = 12, 6.0  # a first handful, which most mutants do not survive; then the rest
CONTROLS = 6  # runs without any fault: were one "caught", the tests themselves would be at fault


def main() -> int:
    """Run the sample; return 1 if a control failed or fewer were caught than --least says."""
    options = arguments()
    areas = dict(AREAS)
    if options.define:
        areas = {
            name: tuple(globs.split(","))
            for name, _, globs in (definition.partition("=") for definition in options.define)
        }
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    reach = Reach(options.tree.resolve(), folder, areas)
    print(f"{len(reach.sources)} files; which tests reach what: see {folder / 'map.log'}", flush=True)
    reach.make(options.tests, [*LEFT_OUT, *options.ignore], options.jobs)
    print(f"{len(reach.seconds)} tests pass, {len(reach.failed)} do not and are not asked", flush=True)
    drawn = [
        list(sample(reach, areas, name, options)) for name in options.area or areas
    ]  # the map is of all areas in any case
    chosen = [
        draw for turn in zip_longest(*drawn) for draw in turn if draw
    ]  # Take them in turn, so that a run that is stopped has some of each
    run = Run(reach, options, chosen)
    run.all(options.jobs)
    return report(run, options.json, options.least)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("--sample", type=int, default=320, help="mutants in all, the same number in each area")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another sample")
    parser.add_argument("--only", default="", help="only mutants whose file and function this expression finds")
    parser.add_argument("--area", action="append", choices=list(AREAS), help="only this area (may be repeated)")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at the same time")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests that a mutant has to survive")
    parser.add_argument("--least", type=float, default=0, help="fail if fewer per cent are caught")
    parser.add_argument("--json", type=Path, help="where the results go")
    parser.add_argument("--tree", type=Path, default=Path(), help="the checkout to break (a copy of it)")
    parser.add_argument(
        "--folder", type=Path, default=Path("var/mutate"), help="for copies and for what is kept between runs"
    )
    parser.add_argument("--define", action="append", help="another set of areas: NAME=GLOB,GLOB")
    parser.add_argument(
        "--ignore", action="append", default=[], help="tests that are not asked, beside those of areas.py"
    )
    parser.add_argument("tests", nargs="*", default=["tests"], help="the tests that may notice")
    return parser.parse_args()


def sample(
    reach: Reach, areas: dict[str, tuple[str, ...]], area: str, options: argparse.Namespace
) -> Iterator[tuple[str, Mutant]]:
    """Draw an area's share of the sample. A mutant's place in the draw follows from its text, so other changes do not move it."""
    share = -(-options.sample // len(options.area or areas))
    paths = [path for path in reach.sources if area_of(path, areas) == area]
    candidates = [mutant for path in paths for mutant in mutants.of_source(path, reach.sources[path])]
    candidates = [mutant for mutant in candidates if re.search(options.only, f"{mutant.path} {mutant.where}")]
    drawn = sorted(candidates, key=lambda mutant: hashlib.sha256(f"{options.seed}{mutant.key}".encode()).digest())
    print(f"{area}: {len(candidates)} mutants in {len(paths)} files, {min(share, len(candidates))} drawn", flush=True)
    whole = (mutant for mutant in drawn if mutants.runs(mutant, reach.sources[mutant.path]))
    yield from ((area, mutant) for mutant in islice(whole, share))


class Run:
    """Tries the mutants of a sample, going on where a killed run has stopped. Where tests have changed, survivors are tried again."""

    def __init__(self, reach: Reach, options: argparse.Namespace, chosen: list[tuple[str, Mutant]]) -> None:
        self.reach, self.origin, self.budget = reach, options.tree.resolve(), options.budget
        self.folder = folder = options.folder.resolve()
        self.parts, self.left_out = options.tests, [*LEFT_OUT, *options.ignore]
        self.equivalents = Equivalents()
        key = hashlib.sha256(repr((sorted(reach.sources.items()), self.budget)).encode()).hexdigest()[:16]
        self.results_file = folder / f"results-{key}.jsonl"
        self.chosen = chosen
        self.results = self._earlier()
        self.waiting = [(area, mutant) for area, mutant in chosen if mutant.key not in self.results]
        self.controls: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def _earlier(self) -> dict[str, dict[str, Any]]:
        if not self.results_file.exists():
            return {}
        whole = self.results_file.read_text().rpartition("\n")[0]
        results = {result["key"]: result for result in map(json.loads, whole.splitlines())}
        as_now = {mutant.key: self._asked_of(mutant) for _, mutant in self.chosen}
        return {
            key: result
            for key, result in results.items()
            if result["state"] == "caught" or result["asked"] == as_now.get(key)
        }

    def _asked_of(self, mutant: Mutant) -> str:
        """Return a hash of a survivor's tests and its note; a survivor is tried again when it changes."""
        first, rest, _ = self._choose(mutant)
        tests = [(test, self.reach.files.get(test.partition("::")[0])) for test in first + rest]
        return hashlib.sha256(repr((tests, self.equivalents.reason(mutant))).encode()).hexdigest()[:16]

    def all(self, jobs: int) -> None:
        """Try every mutant that waits."""
        workers = [threading.Thread(target=self._work, args=(number,)) for number in range(jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _work(self, number: int) -> None:
        tree = Tree(self.origin, self.folder / f"try-{number}")
        tree.compile()
        tests = Tests(tree, self.parts, self.left_out)
        try:
            if number == 0:
                self._control(tests)
            while True:
                with self.lock:
                    if not self.waiting:
                        return
                    area, mutant = self.waiting.pop(0)
                self._note(area, mutant, self._try(mutant, tree, tests))
        finally:
            tests.close()

    def _control(self, tests: Tests) -> None:
        """Run the tests of some mutants without the fault, both ways."""
        reached = [mutant for _, mutant in self.chosen if self.reach.tests(mutant)]
        for place, mutant in enumerate(reached[:: max(1, len(reached) // CONTROLS)][:CONTROLS]):
            first, rest, _ = self._choose(mutant)
            source = self.reach.sources[mutant.path]
            some = first + rest[:40]
            outcome = (
                tests.in_fork(mutant.path, source, source, some, 300) if place % 3 else tests.in_new_process(some, 300)
            )
            if outcome["state"] != "passed":
                self.controls.append(outcome)

    def _choose(self, mutant: Mutant) -> tuple[list[str], list[str], int]:
        """Return the first handful, the rest as far as the budget goes, and how many there are in all."""
        tests = self.reach.tests(mutant)
        first, rest, seconds = [], [], 0.0
        for test in tests:
            cost = self.reach.seconds[test]
            if len(first) < FIRST_TESTS and (not first or seconds + cost <= FIRST_SECONDS):
                first.append(test)
            elif seconds + cost <= self.budget:
                rest.append(test)
            else:
                continue
            seconds += cost
        return first, rest, len(tests)

    def _try(self, mutant: Mutant, tree: Tree, tests: Tests) -> dict[str, Any]:
        if reason := self.equivalents.reason(mutant):
            return {"state": "equivalent", "why": reason}
        first, rest, reaching = self._choose(mutant)
        source = self.reach.sources[mutant.path]
        changed = mutant.applied(source)
        began, ran, outcome = time.monotonic(), 0, {"state": "unreached"}
        tree.put(mutant.path, changed)
        try:
            for some in filter(None, (first, rest)):
                limit = 8 + 1.5 * sum(self.reach.seconds[test] for test in some)
                outcome = {"state": "unpatched"}
                if not mutant.imported:
                    outcome = tests.in_fork(mutant.path, source, changed, some, limit)
                if outcome["state"] == "unpatched" or (outcome["state"] == "passed" and self.reach.at_import(mutant)):
                    outcome = tests.in_new_process(some, limit)
                ran += outcome["ran"]
                if outcome["state"] != "passed":
                    break
        finally:
            tree.put(mutant.path, source)
        state = {"passed": "survived", "failed": "caught", "crash": "caught"}.get(outcome["state"], outcome["state"])
        seconds = round(time.monotonic() - began, 1)
        return {**outcome, "state": state, "ran": ran, "reaching": reaching, "seconds": seconds}

    def _note(self, area: str, mutant: Mutant, outcome: dict[str, Any]) -> None:
        fields = {name: getattr(mutant, name) for name in ("key", "path", "line", "where", "kind", "before", "after")}
        result = {"area": area, **fields, **outcome, "asked": self._asked_of(mutant)}
        with self.lock, self.results_file.open("a") as lines:
            self.results[mutant.key] = result
            lines.write(json.dumps(result) + "\n")
            tried = len(self.chosen) - len(self.waiting)
            print(
                f"{tried:4}/{len(self.chosen)} {result['state']:10} {mutant.path}:{mutant.line} {mutant.kind}",
                flush=True,
            )


def report(run: Run, path: Path | None, least: float) -> int:
    """Print the survivors and the figures of each area."""
    results = [run.results[mutant.key] for _, mutant in run.chosen]
    for result in results:
        if result["state"] in ("survived", "unreached"):
            tests = (
                "no test reaches it"
                if result["state"] == "unreached"
                else f"{result['ran']} of {result['reaching']} tests"
            )
            print(f"\n{result['path']}:{result['line']} {result['where']} ({tests})")
            print(f"  - {result['before']}\n  + {result['after']}")
    print(f"\n{'area':8} {'mutants':>8} {'caught':>7} {'by time':>8} {'survived':>9} {'equivalent':>11} {'share':>7}")
    for area in (*dict.fromkeys(result["area"] for result in results), "all"):
        states = Counter(result["state"] for result in results if area in (result["area"], "all"))
        caught, lived = states["caught"] + states["time"], states["survived"] + states["unreached"]
        share = 100 * caught / max(1, caught + lived)
        row = f"{area:8} {states.total():8} {states['caught']:7} {states['time']:8} {lived:9} {states['equivalent']:11}"
        print(f"{row} {share:6.1f}%")
    for control in run.controls:
        print(f"\nA CONTROL FAILED: {control}: what is caught may be caught by chance")
    if path:
        path.write_text(json.dumps({"results": results, "controls": run.controls}, indent=1))
    return int(bool(run.controls) or share < least)


if __name__ == "__main__":
    sys.exit(main())
