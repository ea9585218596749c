"""Swiss: every round, entries with equal scores meet, and nobody meets the same opponent twice while that can be avoided.

Score: match points. A match gives 1 point for each opponent that was beaten in it by board points, 1/2 for each one tied with; a bye
counts as a win, at tables of more than two as a draw. Order: match points, Buchholz Cut-1, Buchholz, Sonneborn-Berger, board points, seed.

Pairing at tables of two: a perfect matching of least cost. In this order of weight: no second meeting; no second bye; the smallest sum of
squared score differences, a bye counting as a meeting with the last score; within a score group the upper half against the lower half,
as in the Dutch system. First seats are no advantage here, since every board plays all seatings, so the colour rules of chess have
nothing to do. At tables of more, the line is cut into tables, which then exchange entries with the tables next to them as long as that makes fewer
second meetings or brings equals together. Mixed pairs: tables of four are
filled so, then parted so that as few as can be are partners again, the first with the last where that leaves a choice; both partners get
the point of their match.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
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
AGAIN = 10**12  # cost of a second meeting
FLOAT = 10**6  # cost of a score difference of half a point, squared
NEAR = 3  # tables that a table of more than two exchanges entries with
LOT = 2**20  # a lot below every other cost makes the best matching the only one, whatever finds it


def play(field: Field, sheet: Sheet) -> Outcome:
    """Round after round: the next one is paired when the last one is over."""
    drawn = _drawn(field, sheet)
    record: dict[int, list[CardLine]] = {entry: [] for entry in range(field.entries)}
    wins: Counter[int] = Counter()  # half points on boards

    def rank() -> Ranking:
        return _ranking(field, record, wins)

    for number in range(1, rounds(field) + 1):
        if number in drawn:
            played = [(table.entries, sheet.stand(table)) for table in drawn[number]]
            byes = sorted(set(record).difference(*(entries for entries, _ in played)))
        else:
            tables, byes = _pair(field, sheet, number, record)
            played = [(entries, sheet.seat(number, entries, field.boards)) for entries in tables]
        for entries, boards in played:
            if boards is not None:
                _note(field, record, wins, number, entries, boards)
        for entry in byes:
            record[entry] += [CardLine(number, None, Fraction(1 if field.individual else 2, 2))] * _opponents(field)
        if sheet.waiting:
            return Outcome(False, rank)
    return Outcome(True, rank)


def _drawn(field: Field, sheet: Sheet) -> dict[int, list[Pairing]]:
    """By number, the rounds of which every table exists. They stand though a result before them has been struck out since.

    So a round is paired once: that takes seconds for a hundred entries, half a minute for 256.
    """
    found: dict[int, list[Pairing]] = defaultdict(list)
    for table in sheet.drawn:
        found[table.round].append(table)
    return {number: tables for number, tables in found.items() if len(tables) == field.entries // field.table}


def rounds(field: Field) -> int:
    """As the owner says; else ceil(log2 n) + 2, but at tables of two half the (even) field at most.

    So long a pairing without a second meeting always exists: everybody has at least half of the field left to meet (Dirac 1952).
    """
    usual = ceil(log2(field.entries)) + 2
    safe = usual if field.individual else (field.entries + 1) // 2
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
    """Take a match into the record. One that was struck out is a draw between all."""
    for i, j in combinations(range(len(table)), 2):
        if field.mixed and i % 2 == j % 2:
            continue  # partners
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
    shown = {**breaks, "progressive": tiebreaks.progressive(record)}
    line = sorted(record, key=lambda entry: ([-value[entry] for value in breaks.values()], seed[entry]))
    values = {entry: {name: float(value[entry]) for name, value in shown.items()} for entry in line}
    return Ranking([[entry] for entry in line], values)


def _pair(
    field: Field, sheet: Sheet, number: int, record: dict[int, list[CardLine]]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """The tables of a round and who has no table."""
    scores = tiebreaks.points(record)
    seed = {entry: place for place, entry in enumerate(field.order)}
    line = sorted(record, key=lambda entry: (-scores[entry], seed[entry]))
    met = sheet.shared_tables()
    rested = Counter(entry for entry, row in record.items() for m in row if m.opponent is None)
    if not field.individual:
        seed_of_lots = f"swiss\n{field.lot}\n{number}"
        found, without = _match(
            tuple(line), tuple(scores[entry] for entry in line), _sorted(met), _sorted(rested), seed_of_lots
        )
        return list(found), list(without)
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
    """The matching of least cost. Node -1 is the bye.

    Remembered, since it takes seconds for a hundred entries, and a round whose tables do not all exist yet is asked for again.
    """
    import networkx  # here, since it takes long to load and few processes pair

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
    """Who finds no place at a full table: the last of those who rested least."""
    found: list[int] = []
    for _ in range(len(line) % seats):
        there = [entry for entry in line if entry not in found]
        least = min(rested[entry] for entry in there)
        found.append([entry for entry in there if rested[entry] == least][-1])
    return found


def _cut(line: Sequence[int], met: Counter[tuple[int, int]], seats: int) -> list[tuple[int, ...]]:
    """Tables of neighbours in the line, after all exchanges with near tables that lower the cost of both; each keeps the order of the line."""
    place = {entry: i for i, entry in enumerate(line)}
    tables = [list(line[i : i + seats]) for i in range(0, len(line), seats)]

    def cost(table: Sequence[int]) -> int:
        """Second meetings, squared; among equals how far the line lies apart."""
        pairs = [(min(a, b), max(a, b)) for a, b in combinations(table, 2)]
        return sum(4 * seats**2 * met[pair] ** 2 + abs(place[pair[0]] - place[pair[1]]) for pair in pairs)

    def exchange(one: list[int], two: list[int]) -> bool:
        before = cost(one) + cost(two)
        for i, j in product(range(seats), repeat=2):
            one[i], two[j] = two[j], one[i]
            if cost(one) + cost(two) < before:
                return True
            one[i], two[j] = two[j], one[i]
        return False

    near = [(a, b) for a in range(len(tables)) for b in range(a + 1, min(len(tables), a + 1 + NEAR))]
    while sum(exchange(tables[a], tables[b]) for a, b in near):
        pass  # the cost falls with every exchange, so this ends
    return [tuple(sorted(table, key=place.__getitem__)) for table in tables]


def _from_the_top(line: Sequence[int], met: Counter[tuple[int, int]], seats: int) -> list[tuple[int, ...]]:
    """As the first revision seats: each table takes those who have met least, a second meeting weighing as much as one table further down."""
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
    """Four entries, best first, as a table of mixed pairs: the fewest who were partners already, then the first with the last."""
    a, b, c, d = table
    return min(
        ((a, b, d, c), (a, b, c, d), (a, c, b, d)), key=lambda seated: sum(together[p] for p in partners(seated))
    )


def size(field: Field) -> Size:
    """Rounds x floor(n / entries of a table)."""
    matches = rounds(field) * (field.entries // field.table)
    return Size((matches, matches), (matches * field.boards, matches * field.boards))


FORMAT = Format(
    key="swiss",
    place=2,
    title=translatable("Swiss"),
    sentence=translatable(
        "In every round entries with equal scores meet, and no two meet twice: it ranks a large field in few rounds."
    ),
    play=play,
    size=size,
    stands=True,
    parameters=(
        Parameter(
            name="rounds",
            default=0,
            low=0,
            high=50,
            help=translatable(
                "How many rounds. 0: log2 of the number of entries and two more, at most half that number."
            ),
        ),
    ),
)
