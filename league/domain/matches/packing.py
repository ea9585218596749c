"""The log of a match as bytes: the replays of all its sittings in two compressed frames.

    magic, SHA-256 of the dictionary (zeros: none), length of the first frame | what was played | what was told of it

The first frame has what is needed to play the match again: header, deal seeds, actions. The second one has what only the referee can tell:
faults, notes, times. So damage of the second costs no game. Both are zstd with a checksum.

* A value that all sittings share, or all of a board or of a pass, is written once.
* Events, end and scores are not stored where the rules derive them from the actions, which is proved before they are left out. Their hash
  is stored: what a later release derives is either exactly what was played, or refused.
* Times are sums (engine.runner.timings).
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import zstandard

import engine
from engine.replay import ReplayError
from engine.runner.timings import summed

Place = tuple[int, int]  # board, sitting
Record = dict[str, Any]
MAGIC = b"tute-log/1\n"
START = struct.Struct(f">{len(MAGIC)}s32sI")
LEVEL = 19  # 3 % less than 12, for another 2 ms a match
MOST = 1 << 26  # bytes of an unpacked frame; the longest match with all its notes has half of it
PLAYED = {"format", "engine", "game", "revision", "options", "players", "deals", "suits", "seed", "actions", "pass"}
META = "meta."
DERIVED = ("events", "over", "scores")  # what the rules make of deal and actions
HASH = "derived_sha256"


class Broken(ValueError):
    """Bytes that are not a log, or not whole."""


class OtherRules(ValueError):
    """The rules of this release do not make the events that were played. `revision`: that of the rules by which it was."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"the events follow from revision {revision} of the rules, and not from those of this release")
        self.revision = revision


def pack(log: Mapping[Place, Record], dictionary: bytes = b"") -> bytes:
    """The records of a match by board and sitting, as bytes. Events that the rules derive are left out, times are summed up."""
    zstd = zstandard.ZstdCompressor(level=LEVEL, dict_data=_of(dictionary), write_checksum=True)
    frames = [zstd.compress(text) for text in texts(log)]
    name = hashlib.sha256(dictionary).digest() if dictionary else bytes(32)
    return START.pack(MAGIC, name, len(frames[0])) + b"".join(frames)


def texts(log: Mapping[Place, Record]) -> tuple[bytes, bytes]:
    """What the two frames hold: what a dictionary is trained with."""
    places = sorted(log)
    rows = [_flat(_short(log[place])) for place in places]
    played = [{name: value for name, value in row.items() if _is_played(name)} for row in rows]
    told = [{name: value for name, value in row.items() if not _is_played(name)} for row in rows]
    return canonical({"places": places} | _fold(played, places)), canonical({"places": places} | _fold(told, places))


def dictionary_of(data: bytes) -> str:
    """The SHA-256 of the dictionary that a log names, "" for none. Raises Broken."""
    name, _, _ = _parts(data)
    return name.hex() if any(name) else ""


class Opened:
    """An unpacked log. Raises Broken where what was played cannot be read; `whole` says whether the rest can."""

    def __init__(self, data: bytes, dictionary: bytes = b"") -> None:
        _, played, told = _parts(data)
        zstd = zstandard.ZstdDecompressor(dict_data=_of(dictionary))
        self.records = _unfold(_read(zstd, played))
        try:
            for place, row in _unfold(_read(zstd, told)).items():
                self.records[place] |= row
            self.whole = True
        except (Broken, KeyError):
            self.whole = False

    def places(self) -> list[Place]:
        """Boards and sittings that it has, in order."""
        return list(self.records)

    def match(self) -> object:
        """The public id of the match that it says it is of."""
        return next((row.get(META + "match") for row in self.records.values()), None)

    def played(self, place: Place) -> Record:
        """What is needed to play one sitting again, and nothing else. Raises KeyError."""
        return _nested({name: value for name, value in self.records[place].items() if _is_played(name)})

    def record(self, place: Place) -> Record:
        """One replay, with its events, times as sums. Raises KeyError, OtherRules."""
        record = _nested(self.records[place])
        if HASH in record:
            wanted, made = record.pop(HASH), derive(record)
            if made is None or _hash(made) != wanted:
                raise OtherRules(record["revision"])
            record |= json.loads(made)
        return record


def derive(record: Record) -> bytes | None:
    """Events, end and scores that the rules of this release make of deal and actions, as canonical JSON; None where they allow them not.

    Whatever revision the record is of: where another one makes the same of this game, that is proof enough.
    """
    try:
        game = engine.load(record["game"], players=record["players"], **record["options"])
        state = engine.replay.restore(record | {"revision": game.revision, "events": []})
    except (ReplayError, KeyError, TypeError, ValueError, engine.EngineError):
        return None
    events = list(state.events)
    if events and events[0]["e"] == "match":
        events[0] = events[0] | {"revision": record["revision"]}
    return canonical({"events": events, "over": state.is_over, "scores": state.scores()})


def kept(record: Record) -> Record:
    """What comes back of a record: all of it, times as sums where it says by which limits they were meant."""
    record = dict(json.loads(canonical(record)))
    if "limits" in record.get("pass", {}) and "timings" in record:
        move_s = record["pass"]["limits"]["move_s"]
        record["timings"] = summed(record["timings"], players=record["players"], move_s=move_s)
    return record


def _short(record: Record) -> Record:
    """What is stored of a record: without what the rules derive."""
    record = kept(record)
    if not all(name in record for name in DERIVED):
        return record
    told = canonical({name: record[name] for name in DERIVED})
    if derive(record) != told:
        return record
    return {name: value for name, value in record.items() if name not in DERIVED} | {HASH: _hash(told)}


def _hash(derived: bytes) -> str:
    """A quarter of a SHA-256: it finds rules that differ; the digest of the whole log holds off people."""
    return hashlib.sha256(derived).hexdigest()[:16]


def canonical(value: Any) -> bytes:
    """Plain data as JSON, the same bytes for the same data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _of(dictionary: bytes) -> zstandard.ZstdCompressionDict | None:
    return zstandard.ZstdCompressionDict(dictionary) if dictionary else None


def _is_played(name: str) -> bool:
    return name in PLAYED or name.startswith(META)


def _flat(record: Record) -> Record:
    row = {name: value for name, value in record.items() if name != "meta"}
    return row | {META + name: value for name, value in record.get("meta", {}).items()}


def _nested(row: Record) -> Record:
    record: Record = {name: value for name, value in row.items() if not name.startswith(META)}
    return record | {"meta": {name.removeprefix(META): row[name] for name in row if name.startswith(META)}}


# ---- each value once


def _fold(rows: Sequence[Record], places: Sequence[Place]) -> dict[str, Any]:
    """Columns by what they hang on: `all` sittings share the value, those of a `board` or of a `pass` do, `each` has one, `some` have."""
    groups = {"board": _numbered(board for board, _ in places), "pass": _numbered(sitting for _, sitting in places)}
    found: dict[str, dict[str, Any]] = {"all": {}, "board": {}, "pass": {}, "each": {}, "some": {}}
    for name in dict.fromkeys(name for row in rows for name in row):
        there = [(at, row[name]) for at, row in enumerate(rows) if name in row]
        if len(there) < len(rows):
            found["some"][name] = there
            continue
        texts = [canonical(value) for _, value in there]
        if len(set(texts)) == 1:
            found["all"][name] = there[0][1]
            continue
        for kind, numbers in groups.items():
            if len(set(zip(numbers, texts, strict=True))) == max(numbers) + 1 < len(rows):
                found[kind][name] = [there[numbers.index(number)][1] for number in range(max(numbers) + 1)]
                break
        else:
            found["each"][name] = [value for _, value in there]
    return {kind: columns for kind, columns in found.items() if columns}


def _numbered(values: Iterable[int]) -> list[int]:
    """Each value by the order in which it came up first, from 0."""
    seen: dict[int, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values]


def _unfold(told: Any) -> dict[Place, Record]:
    try:
        places = [(board, sitting) for board, sitting in told["places"]]
        boards, passes = _numbered(board for board, _ in places), _numbered(sitting for _, sitting in places)
        rows: list[Record] = [dict(told.get("all", {})) for _ in places]
        for name, at, value in _cells(told, boards, passes):
            rows[at][name] = value
        return dict(zip(places, rows, strict=True))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise Broken(f"this is no log: {error!r}") from None


def _cells(told: Any, boards: Sequence[int], passes: Sequence[int]) -> Iterator[tuple[str, int, Any]]:
    for kind, numbers in (("board", boards), ("pass", passes), ("each", range(len(boards)))):
        for name, column in told.get(kind, {}).items():
            for at, number in enumerate(numbers):
                yield name, at, column[number]
    for name, there in told.get("some", {}).items():
        for at, value in there:
            yield name, at, value


# ---- bytes


def _parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    try:
        magic, name, length = START.unpack_from(data)
    except struct.error:
        raise Broken("the log is cut short") from None
    if magic != MAGIC or len(data) <= START.size + length:
        raise Broken("this is no log")
    return name, data[START.size : START.size + length], data[START.size + length :]


def _read(zstd: zstandard.ZstdDecompressor, frame: bytes) -> Any:
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= MOST:
            raise Broken("the log is too large")
        return json.loads(zstd.decompress(frame, max_output_size=MOST, allow_extra_data=False))
    except (zstandard.ZstdError, ValueError) as error:
        raise Broken(f"the log is damaged: {error}") from None
