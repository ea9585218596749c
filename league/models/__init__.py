"""Tables of the league, by subject.

Rows hold facts; nothing here decides. Only functions of `league.domain` write, and every change of a status goes through the one
`move()` there, which updates conditionally and appends a `LeagueEvent` in the same transaction.
"""

from __future__ import annotations

from league.models.audits import Audit
from league.models.bots import Bot, BotVersion, Package
from league.models.cases import Case
from league.models.changes import Change
from league.models.consent import Block, EntryRequest
from league.models.drafts import Draft
from league.models.jobs import Job
from league.models.judgements import Consultation, JudgedSum, Judgement
from league.models.ladders import LadderDraw, Rung, VersionTest
from league.models.leases import Leased
from league.models.matches import Board, Check, LogDictionary, Match, MatchLog, Party, Sitting
from league.models.people import ApiToken, Player, Quota, SessionOwner, Subscription, TakenName
from league.models.played import MatchStyle, MeetingSum, PlayedSum
from league.models.pools import Pool
from league.models.puzzles import FoundPuzzle, PuzzleAnswer, PuzzleSearch
from league.models.ratings import BoardSums, BotSums, PlaceOfDay, PoolSums, Rating, RatingPoint, TableOfDay
from league.models.records import IdempotencyKey, LeagueEvent
from league.models.search import SearchWord
from league.models.tables import Table, TableAction, TablePerson, TableSeat
from league.models.tournaments import Circuit, Entry, Event, Guest, Round, Season, Tournament
from league.models.tries import Try
from league.models.workers import Scheduler, StoredSnapshot, Worker

__all__ = [
    "ApiToken",
    "Audit",
    "Block",
    "Board",
    "BoardSums",
    "Bot",
    "BotSums",
    "BotVersion",
    "Case",
    "Change",
    "Check",
    "Circuit",
    "Consultation",
    "Draft",
    "Entry",
    "EntryRequest",
    "Event",
    "FoundPuzzle",
    "Guest",
    "IdempotencyKey",
    "Job",
    "JudgedSum",
    "Judgement",
    "LadderDraw",
    "LeagueEvent",
    "Leased",
    "LogDictionary",
    "Match",
    "MatchLog",
    "MatchStyle",
    "MeetingSum",
    "Package",
    "Party",
    "PlaceOfDay",
    "PlayedSum",
    "Player",
    "Pool",
    "PoolSums",
    "PuzzleAnswer",
    "PuzzleSearch",
    "Quota",
    "Rating",
    "RatingPoint",
    "Round",
    "Rung",
    "Scheduler",
    "SearchWord",
    "Season",
    "SessionOwner",
    "Sitting",
    "StoredSnapshot",
    "Subscription",
    "Table",
    "TableAction",
    "TableOfDay",
    "TablePerson",
    "TableSeat",
    "TakenName",
    "Tournament",
    "Try",
    "VersionTest",
    "Worker",
]
