"""Swiss: in every round entries with equal scores meet, and nobody meets the same opponent twice if that can be avoided.

Score: match points. A match gives 1 point for each opponent beaten by board points, 1/2 for each tie; a bye counts as a win, at tables of more than
two as a draw. Order: match points, Buchholz Cut-1, Buchholz, Sonneborn-Berger, board points, seed.

Pairing at tables of two: a perfect matching of least cost. The costs, the highest first: a second meeting; a second bye; squared score differences
(a bye counts as a meeting with the lowest score); distance from the Dutch system's pairs (within a score group the upper half meets the lower
half). The colour rules of chess have no counterpart, because every board is played in all seatings.

For larger tables the order is cut into tables. Then near tables exchange entries while that avoids second meetings or brings entries with equal
scores together. For mixed pairs, tables of four are filled in this way and split so that as few entries as possible are partners again; if there is
a choice, the best plays with the last. Both partners get the points of their match.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import ceil, log2
from typing import TypeVar

from league.pure.formats import tiebreaks
from league.pure.formats.base import Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.sheet import Field, Pairing, Scores, Sheet, partners
from league.pure.formats.tiebreaks import CardLine
from league.pure.refusal import translatable

Counted = TypeVar("Counted", int, tuple[int, int])
AGAIN = 10**12  # Cost of a second meeting.
FLOAT = 10**6  # Cost of a score difference of half a point, squared.
NEAR = 3  # Tables that a table of more than two exchanges entries with.
# Upper limit of a random cost, below all others, which makes the best matching unique, whatever algorithm finds it.
LOT = 2**20


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play round after round. A round is paired when the previous one is finished."""
    drawn = _drawn(field, sheet)
    record: dict[int, list[CardLine]] = {entry: [] for entry in range(field.entries)}
    wins: Counter[int] = Counter()  # Half points on boards.

    def rank() -> Ranking:
        return _ranking(field, record, wins)

    for number in range(1, rounds(field) + 1):
        missing = {entry for entry, first in field.since.items() if first > number}
        if number in drawn:
            played = [(table.entries, sheet.stand(table)) for table in drawn[number]]
            byes = sorted(set(record).difference(missing, *(entries for entries, _ in played)))
        else:
            tables, byes = _pair(field, sheet, number, record, missing)
            played = [(entries, sheet.seat(number, entries, field.boards)) for entries in tables]
        for entries, boards in played:
            if boards is not None:
                _note(field, record, wins, number, entries, boards)
        for entry in missing:
            record[entry] += [CardLine(number, None, Fraction(0))] * _opponents(field)
        for entry in byes:
            record[entry] += [CardLine(number, None, Fraction(1 if field.individual else 2, 2))] * _opponents(field)
        if sheet.waiting:
            return Outcome(False, rank)
    return Outcome(True, rank)


def _drawn(field: Field, sheet: Sheet) -> dict[int, list[Pairing]]:
    """Return by number the rounds whose tables all exist. They stay, even if an earlier result has been voided since.

    So a round is paired only once: pairing takes seconds for a hundred entries, half a minute for 256.
    """
    rounds_drawn: dict[int, list[Pairing]] = defaultdict(list)
    for table in sheet.drawn:
        rounds_drawn[table.round].append(table)
    return {
        number: tables for number, tables in rounds_drawn.items() if len(tables) == field.present(number) // field.table
    }


def rounds(field: Field) -> int:
    """Return the chosen number of rounds; by default ceil(log2 n) + 2, but at tables of two at most half of the (even) field at the start.

    Up to this number a pairing without a second meeting always exists, because everybody has at least half of the field left to meet (Dirac 1952).
    """
    entries = max(2, field.present(1))
    usual = ceil(log2(entries)) + 2
    safe = usual if field.individual else (entries + 1) // 2
    return field.number("rounds") or min(usual, safe)


def _opponents(field: Field) -> int:
    return 2 if field.mixed else field.seats - 1


def _note(
    field: Field,
    record: dict[int, list[CardLine]],
    wins: Counter[int],
    number: int,
    table: Sequence[int],
    boards: Sequence[Scores],
) -> None:
    """Add a match to the record. A void match counts as a draw between all."""
    for i, j in combinations(range(len(table)), 2):
        if field.mixed and i % 2 == j % 2:
            continue  # Partners are not opponents.
        ahead = sum((b[i] > b[j]) - (b[i] < b[j]) for b in boards)
        share = Fraction(1 + (ahead > 0) - (ahead < 0), 2)
        record[table[i]].append(CardLine(number, table[j], share))
        record[table[j]].append(CardLine(number, table[i], 1 - share))
        half = sum(1 + (b[i] > b[j]) - (b[i] < b[j]) for b in boards)
        wins[table[i]] += half
        wins[table[j]] += 2 * len(boards) - half


def _ranking(field: Field, record: dict[int, list[CardLine]], wins: Counter[int]) -> Ranking:
    seed = {entry: place for place, entry in enumerate(field.order)}
    breaks = {
        "match_points": tiebreaks.points(record),
        "buchholz_cut1": tiebreaks.buchholz(record, cut=1),
        "buchholz": tiebreaks.buchholz(record),
        "sonneborn_berger": tiebreaks.sonneborn_berger(record),
        "board_points": {entry: Fraction(wins[entry], 2) for entry in record},
    }
    all_breaks = {**breaks, "progressive": tiebreaks.progressive(record)}
    line = sorted(record, key=lambda entry: ([-value[entry] for value in breaks.values()], seed[entry]))
    values = {entry: {name: float(value[entry]) for name, value in all_breaks.items()} for entry in line}
    return Ranking([[entry] for entry in line], values)


def _pair(
    field: Field, sheet: Sheet, number: int, record: dict[int, list[CardLine]], missing: Collection[int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the tables of a round, and the resting entries."""
    scores = tiebreaks.points(record)
    seed = {entry: place for place, entry in enumerate(field.order)}
    line = sorted(set(record).difference(missing), key=lambda entry: (-scores[entry], seed[entry]))
    met = sheet.shared_tables()
    rested = Counter(entry for entry, row in record.items() for m in row if m.opponent is None)
    if not field.individual:
        seed_of_lots = f"swiss\n{field.lot}\n{number}"
        matched, without = _match(
            tuple(line), tuple(scores[entry] for entry in line), _sorted(met), _sorted(rested), seed_of_lots
        )
        return list(matched), list(without)
    byes = _resting(line, rested, field.table)
    playing = [entry for entry in line if entry not in byes]
    tables = (_cut if field.revision > 1 else _from_the_top)(playing, met, field.table)
    if field.mixed:
        together = sheet.partnerships()
        tables = [parted(table, together) for table in tables]
    return tables, byes


def _sorted(counted: Counter[Counted]) -> tuple[tuple[Counted, int], ...]:
    return tuple(sorted(counted.items()))


@lru_cache(maxsize=512)
def _match(
    line: tuple[int, ...],
    scores_of_line: tuple[Fraction, ...],
    meetings: tuple[tuple[tuple[int, int], int], ...],
    rests: tuple[tuple[int, int], ...],
    lots: str,
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Return the matching of least cost. Node -1 is the bye.

    Cached, because it takes seconds for a hundred entries, and is requested again until all tables of the round exist.
    """
    import networkx  # Imported late, because it takes long to load and few processes pair.

    scores, met, rested = dict(zip(line, scores_of_line, strict=True)), Counter(dict(meetings)), Counter(dict(rests))
    rng = random.Random(lots)
    place = {entry: i for i, entry in enumerate(line)}
    group = Counter(scores[entry] for entry in line)
    graph: networkx.Graph[int] = networkx.Graph()
    for i, a in enumerate(line):
        for b in line[i + 1 :]:
            cost = AGAIN * met[min(a, b), max(a, b)] + FLOAT * int((2 * (scores[a] - scores[b])) ** 2)
            fold = group[scores[a]] // 2 if scores[a] == scores[b] else 1
            cost += (place[b] - place[a] - fold) ** 2
            graph.add_edge(a, b, weight=-(cost * LOT + int(rng.random() * LOT)))
        if len(line) % 2:
            cost = AGAIN * rested[a] + FLOAT * int((2 * (scores[a] - scores[line[-1]])) ** 2) + (len(line) - i) ** 2
            graph.add_edge(a, -1, weight=-(cost * LOT + int(rng.random() * LOT)))
    pairs = [sorted(pair, key=lambda e: place.get(e, len(line))) for pair in networkx.max_weight_matching(graph, True)]
    pairs.sort(key=lambda pair: place[pair[0]])
    return tuple((a, b) for a, b in pairs if b >= 0), tuple(a for a, b in pairs if b < 0)


def _resting(line: Sequence[int], rested: Counter[int], seats: int) -> list[int]:
    """Return the resting entries: among those who rested least, the last."""
    resting: list[int] = []
    for _ in range(len(line) % seats):
        others = [entry for entry in line if entry not in resting]
        least = min(rested[entry] for entry in others)
        resting.append([entry for entry in others if rested[entry] == least][-1])
    return resting


def _cut(line: Sequence[int], met: Counter[tuple[int, int]], seats: int) -> list[tuple[int, ...]]:
    """Cut the order into tables, then exchange entries between near tables while that lowers the cost of both; each table keeps the order."""
    place = {entry: i for i, entry in enumerate(line)}
    tables = [list(line[i : i + seats]) for i in range(0, len(line), seats)]

    def cost(table: Sequence[int]) -> int:
        """Return the squared cost of second meetings; distance in the order decides between equal costs."""
        pairs = [(min(a, b), max(a, b)) for a, b in combinations(table, 2)]
        return sum(4 * seats**2 * met[pair] ** 2 + abs(place[pair[0]] - place[pair[1]]) for pair in pairs)

    def exchange(left_table: list[int], right_table: list[int]) -> bool:
        before = cost(left_table) + cost(right_table)
        for i, j in product(range(seats), repeat=2):
            left_table[i], right_table[j] = right_table[j], left_table[i]
            if cost(left_table) + cost(right_table) < before:
                return True
            left_table[i], right_table[j] = right_table[j], left_table[i]
        return False

    near = [(a, b) for a in range(len(tables)) for b in range(a + 1, min(len(tables), a + 1 + NEAR))]
    while sum(exchange(tables[a], tables[b]) for a, b in near):
        pass  # The cost falls with every exchange, so the loop ends.
    return [tuple(sorted(table, key=place.__getitem__)) for table in tables]


def _from_the_top(line: Sequence[int], met: Counter[tuple[int, int]], seats: int) -> list[tuple[int, ...]]:
    """Seat as in the first schedule revision: each table takes the entries that have met least.

    A second meeting costs as much as a place one table further down.
    """
    waiting = list(line)
    tables = []
    while waiting:
        table = [waiting.pop(0)]
        while len(table) < seats:
            again = {i: sum(met[min(e, o), max(e, o)] for o in table) for i, e in enumerate(waiting)}
            table.append(waiting.pop(min(again, key=lambda i: (again[i] * seats + i, i))))
        tables.append(tuple(table))
    return tables


def parted(table: Sequence[int], together: Counter[tuple[int, int]]) -> tuple[int, ...]:
    """Split four entries, best first, into a table of mixed pairs: the fewest repeated partners, then the first with the last."""
    a, b, c, d = table
    return min(
        ((a, b, d, c), (a, b, c, d), (a, c, b, d)), key=lambda seated: sum(together[p] for p in partners(seated))
    )


def size(field: Field) -> Size:
    """Return rounds x floor(n / entries of a table), with the entries of each round."""
    matches = sum(field.present(number) // field.table for number in range(1, rounds(field) + 1))
    return Size((matches, matches), (matches * field.boards, matches * field.boards))


FORMAT = Format(
    key="swiss",
    place=2,
    title=translatable("Swiss"),
    sentence=translatable(
        "In every round entries with equal scores meet, and no two meet twice. It ranks a large field in few rounds."
    ),
    play=play,
    size=size,
    stands=True,
    late=lambda field: min(field.number("late"), rounds(field)),
    parameters=(
        Parameter(
            name="rounds",
            default=0,
            low=0,
            high=50,
            help=translatable("How many rounds. 0: log2 of the number of entries plus two, at most half that number."),
        ),
        Parameter(
            name="late",
            default=0,
            low=0,
            high=50,
            help=translatable(
                "Bots may still enter until this round is drawn. Rounds that they miss count 0 points. 0: nobody enters after the start."
            ),
        ),
    ),
)
