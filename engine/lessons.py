"""The lessons of "Tute in 3 minutes": small positions of Tute in pairs. The engine says what each answer is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from engine.cases import playing
from engine.game import Game, load

GAME = "partnership"
ME, PARTNER = 3, 1  # The reader plays last: seats 0, 1 and 2 have played before.


@dataclass(frozen=True)
class LessonAnswer:
    """A card to play or a pair to sing, and what it is worth to the side of the reader.

    best: True if no legal answer brings more. points: what the trick and the songs bring our side; None if the answer is not legal. winner: the seat
    that takes the trick, None if no trick is completed.
    """

    text: str
    legal: bool
    points: int | None = None
    winner: int | None = None
    best: bool = False


@dataclass(frozen=True)
class Lesson:
    """A position: the cards on the table in the order of play, the reader's hand, and every answer."""

    key: str
    trump: str
    table: tuple[tuple[int, str], ...]
    hand: tuple[str, ...]
    answers: tuple[LessonAnswer, ...]


@dataclass(frozen=True)
class _Position:
    key: str
    hand: tuple[str, ...]
    table: tuple[str, ...] = ()
    # The hands of seats 0, 1 and 2, in a position that is played to the end of the deal.
    others: tuple[tuple[str, ...], ...] = ()


TRUMP = "o"
POSITIONS = (
    _Position("take", ("1c", "Rc", "Cc"), ("7c", "4c", "Sc")),
    _Position("follow", ("Re", "7e", "1b", "4o"), ("6e", "Ce", "2e")),
    _Position("ruff", ("2o", "Rc", "3e"), ("1b", "5b", "6b")),
    _Position("load", ("3e", "7e", "5e"), ("Re", "1e", "4e")),
    _Position("sing", ("Ro", "Co", "Rc", "Cc", "7b")),
    _Position("last", ("7o", "1b"), (), (("6o", "4c"), ("5b", "2c"), ("6b", "7c"))),
)


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return the lessons in their order."""
    game = load(GAME)
    return tuple(_lesson(game, position) for position in POSITIONS)


def _lesson(game: Game, position: _Position) -> Lesson:
    if position.table:
        answers = [_follow(game, position, card) for card in position.hand]
    elif position.others:
        hands = {**dict(enumerate(position.others)), ME: position.hand}
        answers = [LessonAnswer(f"play {card}", legal=True, points=_lead(game, hands, card)) for card in position.hand]
    else:
        answers = _announce(game, position)
    most = max(answer.points for answer in answers if answer.points is not None)
    return Lesson(
        position.key,
        TRUMP,
        tuple(enumerate(position.table)),
        position.hand,
        tuple(LessonAnswer(a.text, a.legal, a.points, a.winner, a.points == most) for a in answers),
    )


def _follow(game: Game, position: _Position, card: str) -> LessonAnswer:
    table = [f"{seat}:{played}" for seat, played in enumerate(position.table)]
    if card not in _legal(game, ME, table, position.hand):
        return LessonAnswer(f"play {card}", legal=False)
    winner, points = _won(game, [*table, f"{ME}:{card}"])
    ours = points if winner in (ME, PARTNER) else 0
    return LessonAnswer(f"play {card}", legal=True, points=ours, winner=winner)


def _announce(game: Game, position: _Position) -> list[LessonAnswer]:
    """Return the songs after a trick that the reader has won, and the choice to sing nothing."""
    case = {"players": 4, "seat": ME, "trump": TRUMP, "trick_winner": ME, "hand": list(position.hand)}
    songs = [str(song) for song in playing.declaration(game, case)["legal"]]
    answers = [LessonAnswer(f"sing {song[2:] or TRUMP}", legal=True, points=int(song[:2])) for song in songs]
    return [*answers, LessonAnswer("pass", legal=True, points=0)]


def _lead(game: Game, hands: dict[int, tuple[str, ...]], card: str) -> int:
    """Return the points that our side is sure of in the last tricks, if the reader leads this card first."""
    return _rest(game, hands, [f"{ME}:{card}"])


def _rest(game: Game, hands: dict[int, tuple[str, ...]], trick: list[str]) -> int:
    """Return our points from here to the end of the deal: we play our best, the others their best against us."""
    rest = {seat: tuple(card for card in hand if f"{seat}:{card}" not in trick) for seat, hand in hands.items()}
    if len(trick) == len(hands):
        winner, points = _won(game, trick)
        ours = points if winner in (ME, PARTNER) else 0
        if any(rest.values()):
            return ours + _best(game, rest, [], winner)
        return ours + (game.rules.last_trick_bonus if winner in (ME, PARTNER) else 0)
    return _best(game, rest, trick, (int(trick[-1][0]) + 1) % len(hands))


def _best(game: Game, rest: dict[int, tuple[str, ...]], trick: list[str], seat: int) -> int:
    legal = _legal(game, seat, trick, rest[seat]) if trick else rest[seat]
    hands = {other: hand + tuple(play[2:] for play in trick if int(play[0]) == other) for other, hand in rest.items()}
    values = [_rest(game, hands, [*trick, f"{seat}:{card}"]) for card in legal]
    return max(values) if seat in (ME, PARTNER) else min(values)


def _legal(game: Game, seat: int, trick: list[str], hand: tuple[str, ...]) -> list[str]:
    case = {"players": 4, "seat": seat, "trump": TRUMP, "stock": 0, "trick": trick, "hand": list(hand)}
    return [str(card) for card in playing.legal_move(game, case | {"mano": int(trick[0][0])})["legal"]]


def _won(game: Game, trick: list[str]) -> tuple[int, int]:
    answer = playing.trick_winner(game, {"players": 4, "trump": TRUMP, "trick": trick, "mano": int(trick[0][0])})
    return int(answer["winner"]), int(answer["points"])
