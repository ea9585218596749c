"""Tallies: exact integer sufficient statistics of finished boards, from which ratings and standings are computed.

A board is given as two sequences of equal length: the ids of the parties at the table, and their scores on it, summed over all sittings, in the
game's unit (higher is better). Two parties are two sides, three to six are individual seats; `sides` says which parties play together on mixed
sides.

Only integers are kept, in sorted rows, so the order in which boards arrive cannot change a bit of any result: two sets of boards have the same
tallies if and only if `Tallies.dump` gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Board: TypeAlias = tuple[Sequence[int], Sequence[int]]  # Ids of the parties, and their scores.
Sides: TypeAlias = Sequence[Sequence[int]]  # The places at the table (from 0) of each of two sides.

FORMAT = "tallies/1"
COLUMNS = 6  # Columns of `totals`: id, boards, points, half points, meetings, faults.


@dataclass(frozen=True, slots=True)
class PairTally:
    """The boards of two parties (a, b), a < b, from the view of a."""

    wins: int
    draws: int
    losses: int

    @property
    def boards(self) -> int:
        """Return the number of boards."""
        return self.wins + self.draws + self.losses

    @property
    def half_points(self) -> int:
        """Return the half points: 2 for a win, 1 for a draw."""
        return 2 * self.wins + self.draws

    def __add__(self, other: PairTally) -> PairTally:
        return PairTally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


@dataclass(frozen=True, slots=True)
class BotTally:
    """The totals of one party over all its boards."""

    boards: int = 0
    points: int = 0  # Sum of the scores, in the game's unit.
    half_points: int = 0  # Half points against all opponents at the party's tables.
    meetings: int = 0  # Number of pairs (board, opponent).
    faults: int = 0  # Matches in which the party made a fault.


@dataclass(frozen=True, eq=False)
class Tallies:
    """The tallies of a set of boards, as integer matrices whose rows are sorted and unique.

    totals  (N, 6)            id, boards, points, half points, meetings, faults
    sides   {m: (P, 2m + 3)}  two sides of m: members of the first ascending, of the second; boards that the first won, drew, lost
    tables  {k: (M, 2k + 1)}  k individual seats: ids ascending, rank of each (0 = best), how often this occurred
    """

    totals: Ints
    sides: Mapping[int, Ints]
    tables: Mapping[int, Ints]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tallies) and self.dump() == other.dump()

    def __add__(self, other: Tallies) -> Tallies:
        """Add the tallies of two disjoint sets of boards."""
        return Tallies(
            _grouped([self.totals, other.totals], 1, COLUMNS),
            {m: _merged(self.sides, other.sides, m, 2 * m, 2 * m + 3) for m in sorted({*self.sides, *other.sides})},
            {k: _merged(self.tables, other.tables, k, 2 * k, 2 * k + 1) for k in sorted({*self.tables, *other.tables})},
        )

    @property
    def ids(self) -> Ints:
        """Return (N,) ids of all parties, ascending."""
        return self.totals[:, 0]

    def boards_of(self, bots: Ints) -> Tallies:
        """Return the rows in which one of these parties takes part, without totals."""
        nobody = np.zeros((0, COLUMNS), dtype=np.int64)
        rows = {(kind, size): self._with(kind, size, bots) for kind, size in self._columns}
        return Tallies(
            nobody,
            {m: matrix for (kind, m), matrix in rows.items() if kind == "sides"},
            {k: matrix for (kind, k), matrix in rows.items() if kind == "tables"},
        )

    def _with(self, kind: str, size: int, bots: Ints) -> Ints:
        (first, *others) = self._columns[kind, size]
        matrix = (self.sides if kind == "sides" else self.tables)[size]
        if len(bots) > 8:
            matches = np.isin(first, bots)
            for column in others:
                matches |= np.isin(column, bots)
            rows = [np.flatnonzero(matches)]
        else:
            low, high = np.searchsorted(first, bots), np.searchsorted(first, bots, "right")
            rows = [np.arange(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
            rows += [np.flatnonzero(column == bot) for column in others for bot in bots.tolist()]
        rows_of_bots: Ints = matrix[np.unique(np.concatenate(rows))]
        return rows_of_bots

    @cached_property
    def _columns(self) -> dict[tuple[str, int], list[Ints]]:
        """Return the parties of all rows as columns: contiguous memory is searched five times as fast. The first column is ascending."""
        rows_by_key = {("sides", m): (rows, 2 * m) for m, rows in self.sides.items()}
        rows_by_key |= {("tables", k): (rows, k) for k, rows in self.tables.items()}
        return {
            key: [np.ascontiguousarray(rows[:, column]) for column in range(count)]
            for key, (rows, count) in rows_by_key.items()
        }

    def places(self, bots: Ints) -> Ints:
        """Return the places of these parties in `ids`."""
        places: Ints = self._place[bots] if len(self._place) else np.searchsorted(self.ids, bots)
        return places

    @cached_property
    def _place(self) -> Ints:
        """Return places indexed by id; empty if the ids are too sparse for such an array."""
        if not len(self.totals) or self.ids[0] < 0 or self.ids[-1] > 64 * len(self.totals) + 1000:
            return np.zeros(0, dtype=np.int64)
        place = np.zeros(int(self.ids[-1]) + 1, dtype=np.int64)
        place[self.ids] = np.arange(len(self.totals))
        return place

    # ---- as objects for pages and tests

    @cached_property
    def bots(self) -> dict[int, BotTally]:
        """Return the totals of each party."""
        return {row[0]: BotTally(*row[1:]) for row in self.totals.tolist()}

    @cached_property
    def pairs(self) -> dict[tuple[int, int], PairTally]:
        """Return all meetings of two parties that did not play together, at tables of any size."""
        met: defaultdict[tuple[int, int], PairTally] = defaultdict(lambda: PairTally(0, 0, 0))
        for m, rows in self.sides.items():
            for row in rows.tolist():
                result = PairTally(*row[2 * m :])
                for a in row[:m]:
                    for b in row[m : 2 * m]:
                        turned = PairTally(result.losses, result.draws, result.wins)
                        met[min(a, b), max(a, b)] += result if a < b else turned
        for k, rows in self.tables.items():
            for row in rows.tolist():
                for i, j in combinations(range(k), 2):
                    better = row[k + j] - row[k + i]
                    met[row[i], row[j]] += PairTally(
                        *(row[-1] * (sign == (better > 0) - (better < 0)) for sign in (1, 0, -1))
                    )
        return dict(sorted(met.items()))

    def met(self) -> NDArray[np.bool_]:
        """Return (N, N) whether two parties, by their places in `ids`, were opponents."""
        matrix = np.zeros((len(self.totals), len(self.totals)), dtype=bool)
        a, b = self.met_pairs()
        matrix[a, b] = matrix[b, a] = True
        return matrix

    def met_pairs(self) -> tuple[Ints, Ints]:
        """Return two columns: the pairs of opponents by their places in `ids`, the smaller one first, each once."""
        across = [(rows, a, b) for m, rows in self.sides.items() for a in range(m) for b in range(m, 2 * m)]
        across += [(rows, a, b) for k, rows in self.tables.items() for a, b in combinations(range(k), 2)]
        if len(across) == 1:  # If both sides have one party, the rows are the pairs.
            rows, a, b = across[0]
            return self.places(rows[:, a]), self.places(rows[:, b])
        count = len(self.totals)
        keys = [np.zeros(0, dtype=np.int64)]
        for rows, a, b in across:
            lower, upper = self.places(rows[:, a]), self.places(rows[:, b])
            keys.append(np.minimum(lower, upper) * count + np.maximum(lower, upper))
        met = np.unique(np.concatenate(keys))
        return met // max(count, 1), met % max(count, 1)

    # ---- as bytes

    def dump(self) -> bytes:
        """Return the canonical bytes: a line of JSON with the shapes, then the matrices as little-endian 64-bit integers."""
        groups = [("totals", 0, self.totals)]
        groups += [("sides", m, rows) for m, rows in sorted(self.sides.items())]
        groups += [("tables", k, rows) for k, rows in sorted(self.tables.items())]
        head = {"format": FORMAT, "rows": [[name, size, len(rows)] for name, size, rows in groups]}
        body = b"".join(np.ascontiguousarray(rows, dtype="<i8").tobytes() for _, _, rows in groups)
        return json.dumps(head, separators=(",", ":")).encode() + b"\n" + body

    @property
    def digest(self) -> str:
        """Return the SHA-256 of `dump` in hexadecimal."""
        return hashlib.sha256(self.dump()).hexdigest()


def around(parts: Sequence[Tallies], bots: Iterable[int]) -> Tallies:
    """Return the rows of all `parts` in which these parties take part, with the complete totals of everybody in these rows."""
    ids = np.array(sorted(set(bots)), dtype=np.int64)
    rows = Tallies(np.zeros((0, COLUMNS), dtype=np.int64), {}, {})
    for part in parts:
        rows += part.boards_of(ids)
    members = [matrix[:, : 2 * m].reshape(-1) for m, matrix in rows.sides.items()]
    members += [matrix[:, :k].reshape(-1) for k, matrix in rows.tables.items()]
    members_ids = np.unique(np.concatenate([ids, *members]))
    totals = []
    for part in parts:
        place = np.minimum(np.searchsorted(part.ids, members_ids), max(len(part.ids) - 1, 0))
        totals.append(part.totals[place[part.ids[place] == members_ids]] if len(part.ids) else part.totals)
    return Tallies(_grouped(totals, 1, COLUMNS), rows.sides, rows.tables)


def load(data: bytes) -> Tallies:
    """Read tallies written by `dump`. Raise ValueError for anything else."""
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    if head.get("format") != FORMAT:
        raise ValueError(f"cannot read tallies in format {head.get('format')!r}; expected {FORMAT!r}")
    numbers = np.frombuffer(body, dtype="<i8").astype(np.int64)
    groups: dict[str, dict[int, Ints]] = {"totals": {}, "sides": {}, "tables": {}}
    for name, size, count in head["rows"]:
        width = {"totals": COLUMNS, "sides": 2 * size + 3, "tables": 2 * size + 1}[name]
        groups[name][size], numbers = numbers[: count * width].reshape(count, width), numbers[count * width :]
    if len(numbers):
        raise ValueError(f"{len(numbers)} excess numbers after the tallies")
    return Tallies(groups["totals"][0], groups["sides"], groups["tables"])


def board_rows(tallies: Tallies) -> Iterator[tuple[str, int, int, int]]:
    """Yield the outcomes of boards, each a key with three counts: boards won, drawn and lost by the first side.

    Keys are "sides 1 12 57" (members) or "tables 3 ..." (ids, then ranks). Tables use only the first count.
    """
    for m, rows in sorted(tallies.sides.items()):
        for row in rows.tolist():
            yield " ".join(map(str, ["sides", m, *row[: 2 * m]])), row[-3], row[-2], row[-1]
    for k, rows in sorted(tallies.tables.items()):
        for row in rows.tolist():
            yield " ".join(map(str, ["tables", k, *row[: 2 * k]])), row[-1], 0, 0


def from_rows(totals: Sequence[Sequence[int]], boards: Iterable[tuple[str, int, int, int]]) -> Tallies:
    """Build tallies from their `totals` and `board_rows`, in any order. Raise ValueError for an invalid key."""
    rows_by_kind: dict[str, defaultdict[int, list[list[int]]]] = {
        "sides": defaultdict(list),
        "tables": defaultdict(list),
    }
    for key, wins, draws, losses in boards:
        kind, size, *numbers = key.split(" ")
        counts = [wins, draws, losses] if kind == "sides" else [wins]
        rows_by_kind[kind][int(size)].append([*map(int, numbers), *counts])
    return Tallies(
        _grouped([np.array(totals, dtype=np.int64)], 1, COLUMNS),
        {
            m: _grouped([np.array(rows, dtype=np.int64)], 2 * m, 2 * m + 3)
            for m, rows in sorted(rows_by_kind["sides"].items())
        },
        {
            k: _grouped([np.array(rows, dtype=np.int64)], 2 * k, 2 * k + 1)
            for k, rows in sorted(rows_by_kind["tables"].items())
        },
    )


NOTHING = Tallies(np.zeros((0, COLUMNS), dtype=np.int64), {}, {})


def tally(boards: Iterable[Board], sides: Sides | None = None, faults: Mapping[int, int] | None = None) -> Tallies:
    """Tally `boards`. `sides`: which parties play together, on every board; `faults`: matches with a fault, by party.

    Raise ValueError for fewer than two parties, a party twice at the table, or different lengths.
    """
    by_size: defaultdict[int, list[Board]] = defaultdict(list)
    for board in boards:
        by_size[len(board[0])].append(board)
    tallies = NOTHING
    for size in sorted(by_size):
        parties = [ids for ids, _ in by_size[size]]
        scores = [board_scores for _, board_scores in by_size[size]]
        if set(map(len, scores)) != {size}:
            wrong, got = next(board for board in by_size[size] if len(board[1]) != size)
            raise ValueError(f"{size} parties {list(wrong)} have {len(got)} scores {list(got)}")
        seated = _matrix(parties, size)
        line = np.sort(seated, axis=1)
        twice = (line[:, 1:] == line[:, :-1]).any(axis=1)
        if size < 2 or twice.any():
            wrong = parties[int(twice.argmax()) if len(twice) else 0]
            raise ValueError(f"a board needs two or more different parties, not {list(wrong)}")
        tallies += tally_arrays(seated, _matrix(scores, size), sides)
    if faults:
        columns = [[bot, 0, 0, 0, 0, times] for bot, times in faults.items()]
        tallies += Tallies(np.array(columns, dtype=np.int64), {}, {})
    return tallies


def _matrix(rows: Sequence[Sequence[int]], width: int) -> Ints:
    """Build a matrix from rows of equal width, in a fifth of the time that numpy alone takes."""
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=len(rows) * width).reshape(len(rows), width)


def tally_arrays(parties: Ints, scores: Ints, sides: Sides | None = None) -> Tallies:
    """Tally boards with equally many parties: (B, k) ids and (B, k) scores. Two parties, or `sides`, are two sides; else there are k seats."""
    count = parties.shape[1]
    if sides is None and count > 2:
        return _of_seats(parties, scores)
    return _of_sides(parties, scores, ((0,), (1,)) if sides is None else sides)


def _of_sides(parties: Ints, scores: Ints, sides: Sides) -> Tallies:
    ids, places = _places(parties)
    first, second = (np.sort(places[:, list(side)], axis=1) for side in sides)
    got = np.sign(scores[:, sides[0][0]] - scores[:, sides[1][0]])  # All members of a side have the side's score.
    turned = first[:, 0] > second[:, 0]
    result = np.where(turned, -got, got)
    size = len(sides[0])
    rows = np.empty((len(parties), 2 * size + 3), dtype=np.int64)
    rows[:, :size] = np.where(turned[:, None], second, first)
    rows[:, size : 2 * size] = np.where(turned[:, None], first, second)
    for column, kind in ((-3, 1), (-2, 0), (-1, -1)):
        rows[:, column] = result == kind
    half = np.empty_like(scores)
    half[:, list(sides[0])], half[:, list(sides[1])] = (size * (1 + got))[:, None], (size * (1 - got))[:, None]
    outcomes = _grouped([rows], 2 * size, 2 * size + 3)
    outcomes[:, : 2 * size] = ids[outcomes[:, : 2 * size]]
    return Tallies(_totals(ids, places, scores, half, size), {size: outcomes}, {})


def _of_seats(parties: Ints, scores: Ints) -> Tallies:
    boards, size = parties.shape
    ids, places = _places(parties)
    order = np.argsort(places, axis=1)
    seated, got = np.take_along_axis(places, order, 1), np.take_along_axis(scores, order, 1)
    ranked = np.sort(got, axis=1)[:, ::-1]
    new = np.ones((boards, size), dtype=bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    rows, half = np.ones((boards, 2 * size + 1), dtype=np.int64), np.zeros_like(got)
    rows[:, :size] = seated
    for seat in range(size):
        rows[:, size + seat] = (new & (ranked > got[:, [seat]])).sum(axis=1)
        half[:, seat] = np.sign(got[:, [seat]] - got).sum(axis=1) + size - 1
    outcomes = _grouped([rows], 2 * size, 2 * size + 1)
    outcomes[:, :size] = ids[outcomes[:, :size]]
    return Tallies(_totals(ids, seated, got, half, size - 1), {}, {size: outcomes})


def _places(parties: Ints) -> tuple[Ints, Ints]:
    """Return the ids, ascending, and the place of each party among them."""
    if parties.min() < 0 or parties.max() > 8 * parties.size:  # The ids are too sparse for an array of all ids.
        ids, places = np.unique(parties, return_inverse=True)
        return ids, places.reshape(parties.shape)
    present = np.bincount(parties.reshape(-1)) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[parties]


def _totals(ids: Ints, places: Ints, scores: Ints, half: Ints, opponents: int) -> Ints:
    totals = np.zeros((len(ids), COLUMNS), dtype=np.int64)
    flat = places.reshape(-1)
    totals[:, 0] = ids
    totals[:, 1] = np.bincount(flat, minlength=len(ids))
    totals[:, 2] = _summed(flat, scores.reshape(-1), len(ids))
    totals[:, 3] = _summed(flat, half.reshape(-1), len(ids))
    totals[:, 4] = totals[:, 1] * opponents
    return totals


def _summed(place: Ints, values: Ints, count: int) -> Ints:
    """Sum integers by place. Exact, although numpy adds doubles, which hold every integer below 2^53 exactly."""
    if len(values) and float(np.abs(values).max()) * len(values) >= 2**53:
        exact = np.zeros(count, dtype=np.int64)
        np.add.at(exact, place, values)
        return exact
    return np.bincount(place, values, count).astype(np.int64)


def _merged(first: Mapping[int, Ints], second: Mapping[int, Ints], size: int, keys: int, width: int) -> Ints:
    return _grouped([groups[size] for groups in (first, second) if size in groups], keys, width)


def _grouped(parts: Sequence[Ints], keys: int, width: int) -> Ints:
    """Merge the rows of all parts, sorted by their first `keys` columns; rows with equal keys become one, with the other columns summed."""
    rows = np.concatenate([part.reshape(-1, width) for part in parts])
    if len(rows) < 2:
        return rows
    words = _packed(rows[:, :keys])
    if len(words) == 1 and words[0].max() < 4 * len(rows):
        return _counted(rows, words[0], keys)
    order = np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")
    rows = rows[order]
    fresh = np.zeros(len(rows), dtype=bool)
    fresh[0] = True
    for word in words:
        fresh[1:] |= word[order][1:] != word[order][:-1]
    starts = np.flatnonzero(fresh)
    merged: Ints = rows[starts]
    merged[:, keys:] = np.add.reduceat(rows[:, keys:], starts, axis=0)
    return merged


def _counted(rows: Ints, word: Ints, keys: int) -> Ints:
    """Merge like `_grouped`, without sorting: there are few distinct keys, and `word` numbers the key of each row."""
    size = int(word.max()) + 1
    last_row = np.full(size, -1, dtype=np.int64)
    last_row[word] = np.arange(len(rows))
    present = np.flatnonzero(last_row >= 0)
    merged: Ints = rows[last_row[present]]
    for column in range(keys, rows.shape[1]):
        merged[:, column] = _summed(word, rows[:, column], size)[present]
    return merged


def _packed(keys: Ints) -> list[Ints]:
    """Pack non-negative columns into as few 64-bit words as possible, so that comparing the words compares the columns."""
    words: list[Ints] = []
    room = 0  # Bits left in the last word.
    for column in keys.T:
        bits = max(1, int(column.max()).bit_length())
        if bits > room:
            words.append(column.astype(np.int64))
            room = 63 - bits
        else:
            words[-1] = words[-1] << bits | column
            room -= bits
    return words
