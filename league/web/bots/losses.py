"""The last match that a bot lost, with the decisions that cost it most there, for its owner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.rules.terms import GAME_SCORE
from league.domain.core.errors import Refused
from league.domain.judgements import bodies, reading
from league.domain.ladders import climbs
from league.domain.matches import replays
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Bot, Judgement, Match, Party
from league.web.common.words import action_name, format_number

MOST = 3  # The number of costliest decisions.
MOST_OF_MATCH = 50  # The most decisions of a match among which those of one sitting are looked for.


@dataclass(frozen=True)
class CostlyDecision:
    """A costly decision: its place on the page of the match, the action, the best actions, and the loss in words."""

    board: int
    sitting: int
    anchor: str
    action: str
    best: str
    lost: str


@dataclass(frozen=True)
class Loss:
    """A lost match: the winner, the lead in boards, and the costliest decisions. `judged`: the match has an analysis."""

    match: Match
    rivals: str
    boards: str
    judged: bool = False
    mistakes: list[CostlyDecision] = field(default_factory=list)


def last_loss(bot: Bot, matches: Iterable[Match]) -> Loss | None:
    """Return the latest loss among these matches (newest first, with parties), preferably an analysed one. At most three queries."""
    lost = [match for match in matches if _is_lost(bot, match)]
    if not lost:
        return None
    rows = Judgement.objects.filter(match__in=lost, status=JudgementStatus.DONE).defer("body").order_by("kind")
    # "fair" is preferred to "open", because it knows only what the bot knew.
    by_match = {row.match_id: row for row in sorted(rows, key=lambda row: row.kind != JudgementKind.OPEN)}
    match = next((match for match in lost if match.pk in by_match), lost[0])
    own, others = _parties(bot, match)
    row = by_match.get(match.pk)
    return Loss(
        match,
        ", ".join(party.version.bot.slug for party in others),
        f"{own.wins}–{own.draws}–{own.losses}",
        row is not None,
        _mistakes(row, {party.number for party in match.parties.all() if party.version.bot_id == bot.pk})
        if row
        else [],
    )


@dataclass(frozen=True)
class CostlySitting:
    """A board that a boss won, with the decision that cost most there; an empty `anchor`: the match was not analysed."""

    board: climbs.CostlyBoard
    anchor: str = ""


def costly_sittings(boards: Sequence[climbs.CostlyBoard]) -> list[CostlySitting]:
    """Add the costliest decisions to the boards of a test against a boss, from analyses that exist. One query."""
    rows = Judgement.objects.filter(match__in={board.match.pk for board in boards}, status=JudgementStatus.DONE)
    anchors: dict[tuple[int, int, int], str] = {}
    for row in sorted(rows, key=lambda row: row.kind != JudgementKind.FAIR):  # "fair" knows only what the bot knew.
        for mistake in _mistakes(row, {0}, MOST_OF_MATCH):
            anchors.setdefault((row.match_id, mistake.board, mistake.sitting), mistake.anchor)
    return [CostlySitting(board, anchors.get((board.match.pk, board.number, board.sitting), "")) for board in boards]


def _is_lost(bot: Bot, match: Match) -> bool:
    if match.status != MatchStatus.FINISHED or replays.reason_closed(match):
        return False
    own, others = _parties(bot, match)
    return bool(others) and own.wins is not None and own.losses is not None and own.wins < own.losses


def _parties(bot: Bot, match: Match) -> tuple[Party, list[Party]]:
    parties = list(match.parties.all())
    own = next(party for party in parties if party.version.bot_id == bot.pk)
    return own, [party for party in parties if party.version.bot_id != bot.pk]


def _mistakes(row: Judgement, own: set[int], most: int = MOST) -> list[CostlyDecision]:
    try:
        body = bodies.unpack(bytes(row.body))
    except Refused:  # The page of the match says that the analysis is damaged.
        return []
    rows = [placed for placed in reading.placed(body, reading.seatings(row)) if placed.party in own]
    size = GAME_SCORE if body.unit == "games" else 1
    return [
        CostlyDecision(
            placed.board,
            placed.sitting,
            f"d{placed.verdict.deal}p{placed.verdict.ply}",
            action_name(placed.verdict.action),
            ", ".join(map(action_name, placed.verdict.best)),
            format_number((placed.verdict.lost or 0.0) / size, ".0f" if size == 1 else ".2f"),
        )
        for placed in reading.costliest(rows, body.unit, most)
    ]
