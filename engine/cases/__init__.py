"""Run the worked cases of the rules book (schema `tute-cases/2`) against the engine.

Each kind sets up the position that a case describes and asks the engine; no rule is written here. A case of a kind that the engine cannot
answer fails; it is never skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine
from engine.cases import dealing, observing, playing, schema, scoring
from engine.cases.positions import Answer, Case
from engine.errors import EngineError

SCHEMA = "tute-cases/2"
ANSWERS: dict[str, Callable[[engine.Game, Case], Answer]] = {
    answer.__name__: answer for answer in (*dealing.ANSWERS, *playing.ANSWERS, *observing.ANSWERS, *scoring.ANSWERS)
}


@dataclass(frozen=True)
class CaseResult:
    """The result of one case. `problem` is empty if it passes, else it states the expected and the actual answer."""

    path: str
    game: str
    case: str
    kind: str
    problem: str

    @property
    def holds(self) -> bool:
        """True if the engine's answer is the expected one."""
        return not self.problem


def run(path: Path) -> Iterator[CaseResult]:
    """Yield the results of every case in a file, or in every .yaml file of a folder. Raise EngineError for an invalid case file."""
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files:
        raise EngineError(f"{path}: this folder has no .yaml file of worked cases")
    for file in files:
        for game, case in read(file):
            yield CaseResult(str(file), game, str(case.get("id")), str(case.get("kind")), problem(game, case))


def read(file: Path) -> Iterator[tuple[str, Case]]:
    """Yield (game, case) for each case of a file. Raise EngineError."""
    import yaml  # A dependency of the command line only; the rules need none.

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # The C loader, if installed, is ten times as fast.
    try:
        data = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - both are safe
    except OSError as error:
        raise EngineError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise EngineError(f"{file}: is not YAML: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("cases"), list):
        raise EngineError(
            f"{file}: not a file of worked cases; it needs 'schema: {SCHEMA}', 'variant' and a list 'cases'"
        )
    if data.get("variant") not in engine.games():
        raise EngineError(
            f"{file}: variant {data.get('variant')!r} is not a game; games are: {', '.join(engine.games())}"
        )
    if not data["cases"]:
        raise EngineError(f"{file}: contains no case")
    for number, case in enumerate(data["cases"], 1):
        if not isinstance(case, dict) or not case.get("id") or "kind" not in case:
            raise EngineError(f"{file}: case {number} is not a mapping with id, kind, given and expect")
        yield data["variant"], case


def problem(game: str, case: Case) -> str:
    """Compare the engine's answer with a case. Return an empty text if every key of `expect` matches, else what differs."""
    kind = case.get("kind") if isinstance(case, Mapping) else "deal"
    if kind not in ANSWERS:
        return f"the engine does not know cases of kind {kind!r}; kinds are: {', '.join(sorted(ANSWERS))}"
    if complaint := schema.complaint(case):
        return f"this case cannot run: {complaint}"
    try:
        position, expect = dict(case["given"]), case["expect"]
        table = engine.load(game, players=position["players"], **dict(case.get("options") or {}))
        answer = ANSWERS[kind](table, position | {"asked": expect})
    except KeyError as error:
        return f"this case cannot run: {kind} in {game} needs {error}"
    except (EngineError, TypeError, IndexError, ValueError) as error:
        return f"this case cannot run: {error}"
    wrong = [
        f"{name}: expected {_format_value(expected)}, the engine says {_format_value(answer[name]) if name in answer else 'nothing'}"
        for name, expected in expect.items()
        if name not in answer or not _same(answer[name], expected, name)
    ]
    return "; ".join(wrong)


def _same(actual: Any, expected: Any, name: str) -> bool:
    """Compare. In a set the order is ignored; in a mapping by seat, missing seats have nothing; in one by name, extra names are ignored."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        by_seat = bool(expected) and all(type(key) is int for key in expected)
        actual = {key: value for key, value in actual.items() if key in expected or (by_seat and value)}
    return bool(_plain(actual, name) == _plain(expected, name))


def _plain(value: Any, name: str) -> Any:
    if name in ("legal", "hand", "losers", "winners", "eliminated", "active", "match_losers") and isinstance(
        value, (list, tuple)
    ):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, "") for inner in value]
    return value


def _format_value(value: Any) -> str:
    return repr(sorted(value, key=str)) if isinstance(value, set) else repr(value)
