"""The log of a match as bytes: the replays of all its sittings in two compressed frames.

magic, SHA-256 of the dictionary (zeros: none), length of the first frame | the play | the report

The play is enough to replay the match: header, deal seeds, actions. The report has what only the referee knows: faults, notes, times. So if the
second frame is damaged, the games can still be replayed. Both frames are zstd with a checksum.

* A value shared by all sittings, or by all sittings of a board or a pass, is written once.
* Events, end and scores are left out if the rules derive them from the actions, which `pack` checks first. Their hash is stored: a later
  release either derives exactly the same, or refuses the log.
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

Place = tuple[int, int]  # Board, sitting
Record = dict[str, Any]
MAGIC = b"tute-log/1\n"
START = struct.Struct(f">{len(MAGIC)}s32sI")
LEVEL = 19  # Logs are 3 % smaller than with level 12, for another 2 ms a match
MOST = 1 << 26  # The most bytes of an unpacked frame; the longest match with all its notes has half of that
PLAYED = {"format", "engine", "game", "revision", "options", "players", "deals", "suits", "seed", "actions", "pass"}
META = "meta."
DERIVED = ("events", "over", "scores")  # The rules derive these from the deal and the actions
HASH = "derived_sha256"


class BrokenLog(ValueError):
    """The error for bytes that are not a complete log."""


class OtherRules(ValueError):
    """The error for a record whose events the rules of this release do not derive. revision: of the rules by which it was played."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"the events follow from revision {revision} of the rules, and not from those of this release")
        self.revision = revision


def pack(log: Mapping[Place, Record], dictionary: bytes = b"") -> bytes:
    """Serialise the records of a match by board and sitting. Leaves out events that the rules derive, and sums up times."""
    zstd = zstandard.ZstdCompressor(level=LEVEL, dict_data=_zstd_dictionary(dictionary), write_checksum=True)
    frames = [zstd.compress(text) for text in texts(log)]
    name = hashlib.sha256(dictionary).digest() if dictionary else bytes(32)
    return START.pack(MAGIC, name, len(frames[0])) + b"".join(frames)


def texts(log: Mapping[Place, Record]) -> tuple[bytes, bytes]:
    """Return the texts of the two frames, from which a dictionary is trained."""
    places = sorted(log)
    rows = [_flat(_short(log[place])) for place in places]
    played = [{name: value for name, value in row.items() if _is_played(name)} for row in rows]
    report = [{name: value for name, value in row.items() if not _is_played(name)} for row in rows]
    return canonical({"places": places} | _fold(played, places)), canonical({"places": places} | _fold(report, places))


def dictionary_of(data: bytes) -> str:
    """Return the SHA-256 of the dictionary of a log; "" if it has none. Raise Broken."""
    name, _, _ = _parts(data)
    return name.hex() if any(name) else ""


class Opened:
    """An unpacked log. Raise Broken if the play cannot be read; `whole` is False if the report cannot."""

    def __init__(self, data: bytes, dictionary: bytes = b"") -> None:
        _, played, report = _parts(data)
        zstd = zstandard.ZstdDecompressor(dict_data=_zstd_dictionary(dictionary))
        self.records = _unfold(_read(zstd, played))
        try:
            for place, row in _unfold(_read(zstd, report)).items():
                self.records[place] |= row
            self.whole = True
        except (BrokenLog, KeyError):
            self.whole = False

    def places(self) -> list[Place]:
        """Return the boards and sittings of the log, in order."""
        return list(self.records)

    def match(self) -> object:
        """Return the public id of the match, as the log has it."""
        return next((row.get(META + "match") for row in self.records.values()), None)

    def played(self, place: Place) -> Record:
        """Return the part of a record that is needed to replay the sitting. Raise KeyError."""
        return _nested({name: value for name, value in self.records[place].items() if _is_played(name)})

    def record(self, place: Place) -> Record:
        """Return one replay with its events; times are sums. Raise KeyError or OtherRules."""
        record = _nested(self.records[place])
        if HASH in record:
            stored_hash, derived = record.pop(HASH), derive(record)
            if derived is None or _hash(derived) != stored_hash:
                raise OtherRules(record["revision"])
            record |= json.loads(derived)
        return record


def derive(record: Record) -> bytes | None:
    """Derive events, end and scores from deal and actions by the rules of this release, as canonical JSON; None if the rules forbid the actions.

    The revision of the record does not matter: it is enough that these rules derive the same events.
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
    """Return a record as it is read back from a log: complete, with times as sums if it names the limits of its pass."""
    record = dict(json.loads(canonical(record)))
    if "limits" in record.get("pass", {}) and "timings" in record:
        move_s = record["pass"]["limits"]["move_s"]
        record["timings"] = summed(record["timings"], players=record["players"], move_s=move_s)
    return record


def _short(record: Record) -> Record:
    """Return a record as it is stored, without the values that the rules derive."""
    record = kept(record)
    if not all(name in record for name in DERIVED):
        return record
    derived = canonical({name: record[name] for name in DERIVED})
    if derive(record) != derived:
        return record
    return {name: value for name, value in record.items() if name not in DERIVED} | {HASH: _hash(derived)}


def _hash(derived: bytes) -> str:
    """Return the first quarter of a SHA-256: enough to detect other rules; the digest of the whole log protects against tampering."""
    return hashlib.sha256(derived).hexdigest()[:16]


def canonical(value: Any) -> bytes:
    """Serialise plain data as JSON; the same data gives the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _zstd_dictionary(dictionary: bytes) -> zstandard.ZstdCompressionDict | None:
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
    """Group columns by the sittings that share a value.

    A value is under `all`, or in a list by `board` or `pass`; otherwise `each` has one for every sitting, or `some` for those with one.
    """
    groups = {"board": _numbered(board for board, _ in places), "pass": _numbered(sitting for _, sitting in places)}
    columns: dict[str, dict[str, Any]] = {"all": {}, "board": {}, "pass": {}, "each": {}, "some": {}}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [(at, row[name]) for at, row in enumerate(rows) if name in row]
        if len(cells) < len(rows):
            columns["some"][name] = cells
            continue
        texts = [canonical(value) for _, value in cells]
        if len(set(texts)) == 1:
            columns["all"][name] = cells[0][1]
            continue
        for kind, numbers in groups.items():
            if len(set(zip(numbers, texts, strict=True))) == max(numbers) + 1 < len(rows):
                columns[kind][name] = [cells[numbers.index(number)][1] for number in range(max(numbers) + 1)]
                break
        else:
            columns["each"][name] = [value for _, value in cells]
    return {kind: by_name for kind, by_name in columns.items() if by_name}


def _numbered(values: Iterable[int]) -> list[int]:
    """Number each value by its first appearance, from 0."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _unfold(columns: Any) -> dict[Place, Record]:
    try:
        places = [(board, sitting) for board, sitting in columns["places"]]
        boards, passes = _numbered(board for board, _ in places), _numbered(sitting for _, sitting in places)
        rows: list[Record] = [dict(columns.get("all", {})) for _ in places]
        for name, at, value in _cells(columns, boards, passes):
            rows[at][name] = value
        return dict(zip(places, rows, strict=True))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise BrokenLog(f"this is no log: {error!r}") from None


def _cells(columns: Any, boards: Sequence[int], passes: Sequence[int]) -> Iterator[tuple[str, int, Any]]:
    for kind, numbers in (("board", boards), ("pass", passes), ("each", range(len(boards)))):
        for name, column in columns.get(kind, {}).items():
            for at, number in enumerate(numbers):
                yield name, at, column[number]
    for name, cells in columns.get("some", {}).items():
        for at, value in cells:
            yield name, at, value


# ---- bytes


def _parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    try:
        magic, name, length = START.unpack_from(data)
    except struct.error:
        raise BrokenLog("the log is cut short") from None
    if magic != MAGIC or len(data) <= START.size + length:
        raise BrokenLog("this is no log")
    return name, data[START.size : START.size + length], data[START.size + length :]


def _read(zstd: zstandard.ZstdDecompressor, frame: bytes) -> Any:
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= MOST:
            raise BrokenLog("the log is too large")
        return json.loads(zstd.decompress(frame, max_output_size=MOST, allow_extra_data=False))
    except (zstandard.ZstdError, ValueError) as error:
        raise BrokenLog(f"the log is damaged: {error}") from None
