"""Worked cases of the rules book (schema `tute-cases/2`), answered by the engine.

Each kind sets up the position that a case describes and asks the engine; nothing here knows a rule. A case of a kind that the engine cannot
answer is a failure, not a gap to be passed over.
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
class Result:
    """One case, asked. `problem` is empty where it holds, otherwise a sentence with what was expected and what the engine says."""

    path: str
    game: str
    case: str
    kind: str
    problem: str

    @property
    def holds(self) -> bool:
        """Whether the engine says what the case expects."""
        return not self.problem


def run(path: Path) -> Iterator[Result]:
    """The results of every case of a file, or of every .yaml file of a folder. Raises EngineError for a file that is no case file."""
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files:
        raise EngineError(f"{path}: no .yaml file of worked cases is there")
    for file in files:
        for game, case in read(file):
            yield Result(str(file), game, str(case.get("id")), str(case.get("kind")), problem(game, case))


def read(file: Path) -> Iterator[tuple[str, Case]]:
    """(game, case) for each case of a file."""
    import yaml  # the command line's dependency; the rules themselves need none

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where the package has it: ten times as fast
    try:
        data = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - both are safe
    except OSError as error:
        raise EngineError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise EngineError(f"{file}: is not YAML: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("cases"), list):
        raise EngineError(
            f"{file}: not a file of worked cases: it needs 'schema: {SCHEMA}', 'variant' and a list 'cases'"
        )
    if data.get("variant") not in engine.games():
        raise EngineError(f"{file}: variant {data.get('variant')!r} is no game; games are: {', '.join(engine.games())}")
    if not data["cases"]:
        raise EngineError(f"{file}: holds no case")
    for number, case in enumerate(data["cases"], 1):
        if not isinstance(case, dict) or not case.get("id") or "kind" not in case:
            raise EngineError(f"{file}: case {number} is not a mapping with id, kind, given and expect")
        yield data["variant"], case


def problem(game: str, case: Case) -> str:
    """What is wrong between a case and the engine; empty where every key of `expect` holds."""
    kind = case.get("kind") if isinstance(case, Mapping) else "deal"
    if kind not in ANSWERS:
        return f"the engine has no answer to cases of kind {kind!r}; kinds are: {', '.join(sorted(ANSWERS))}"
    if found := schema.complaint(case):
        return f"cannot be asked: {found}"
    try:
        given, expect = dict(case["given"]), case["expect"]
        table = engine.load(game, players=given["players"], **dict(case.get("options") or {}))
        said = ANSWERS[kind](table, given | {"asked": expect})
    except KeyError as error:
        return f"cannot be asked: {kind} in {game} needs {error}"
    except (EngineError, TypeError, IndexError, ValueError) as error:
        return f"cannot be asked: {error}"
    wrong = [
        f"{name}: expected {_shown(wanted)}, the engine says {_shown(said[name]) if name in said else 'nothing'}"
        for name, wanted in expect.items()
        if name not in said or not _same(said[name], wanted, name)
    ]
    return "; ".join(wrong)


def _same(said: Any, wanted: Any, name: str) -> bool:
    """Equality, where sets have no order. Seats that a mapping by numbers leaves out have nothing; of one by names the others are not asked."""
    if isinstance(wanted, Mapping) and isinstance(said, Mapping):
        by_seat = bool(wanted) and all(type(key) is int for key in wanted)
        said = {key: value for key, value in said.items() if key in wanted or (by_seat and value)}
    return bool(_plain(said, name) == _plain(wanted, name))


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


def _shown(value: Any) -> str:
    return repr(sorted(value, key=str)) if isinstance(value, set) else repr(value)
