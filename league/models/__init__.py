"""Tables of the league, by subject.

Rows hold facts; nothing here decides. Only functions of `league.domain` write, and every change of a status goes through the one
`move()` there, which updates conditionally and appends a `LeagueEvent` in the same transaction.
"""

from __future__ import annotations

from league.models.arenas import Arena, ArenaEntry, ArenaSide
from league.models.audits import Audit
from league.models.bots import Bot, BotVersion, Build, Fetch, GitLink, Package
from league.models.cases import Case
from league.models.changes import Change
from league.models.classes import Assignment, ClassMember, HandIn, SchoolClass
from league.models.consent import Block, EntryRequest
from league.models.data import DataFile, DataPart
from league.models.drafts import Draft
from league.models.jobs import Job
from league.models.judgements import Consultation, JudgedSum, Judgement
from league.models.ladders import Boss, BossTest, LadderDraw, Rung, SequentialTest, VersionTest
from league.models.leases import Leased
from league.models.matches import Board, Check, LogDictionary, Match, MatchLog, Party, Sitting
from league.models.notices import Follow, Notice, NoticeChoice, NoticeSource
from league.models.people import ApiToken, Passkey, Player, Quota, SessionOwner, Subscription, TakenName
from league.models.played import ChoiceSum, MatchChoices, MatchStyle, MeetingSum, PlayedSum
from league.models.pools import Pool
from league.models.puzzles import FoundPuzzle, Mistake, MistakeSearch, PuzzleAnswer, PuzzleRating, PuzzleSearch, Solver
from league.models.ratings import BoardSums, BotSums, PlaceOfDay, PoolSums, Rating, RatingPoint, TableOfDay
from league.models.records import IdempotencyKey, LeagueEvent
from league.models.remote import RemoteLine, RemoteLink
from league.models.search import SearchWord
from league.models.studies import Study, StudyPart
from league.models.tables import Table, TableAction, TableChallenge, TablePerson, TableSeat
from league.models.talk import Comment, Report
from league.models.teams import BotOffer, CoOwner, Team, TeamMember
from league.models.tournaments import Circuit, Entry, Event, Guest, Round, Season, Tournament
from league.models.tries import Try
from league.models.tunings import Tuning, TuningStep
from league.models.volunteers import Volunteer, VolunteerTask
from league.models.webhooks import Delivery, Webhook
from league.models.workers import Scheduler, StoredSnapshot, Worker

__all__ = [
    "ApiToken",
    "Arena",
    "ArenaEntry",
    "ArenaSide",
    "Assignment",
    "Audit",
    "Block",
    "Board",
    "BoardSums",
    "Boss",
    "BossTest",
    "Bot",
    "BotOffer",
    "BotSums",
    "BotVersion",
    "Build",
    "Case",
    "Change",
    "Check",
    "ChoiceSum",
    "Circuit",
    "ClassMember",
    "CoOwner",
    "Comment",
    "Consultation",
    "DataFile",
    "DataPart",
    "Delivery",
    "Draft",
    "Entry",
    "EntryRequest",
    "Event",
    "Fetch",
    "Follow",
    "FoundPuzzle",
    "GitLink",
    "Guest",
    "HandIn",
    "IdempotencyKey",
    "Job",
    "JudgedSum",
    "Judgement",
    "LadderDraw",
    "LeagueEvent",
    "Leased",
    "LogDictionary",
    "Match",
    "MatchChoices",
    "MatchLog",
    "MatchStyle",
    "MeetingSum",
    "Mistake",
    "MistakeSearch",
    "Notice",
    "NoticeChoice",
    "NoticeSource",
    "Package",
    "Party",
    "Passkey",
    "PlaceOfDay",
    "PlayedSum",
    "Player",
    "Pool",
    "PoolSums",
    "PuzzleAnswer",
    "PuzzleRating",
    "PuzzleSearch",
    "Quota",
    "Rating",
    "RatingPoint",
    "RemoteLine",
    "RemoteLink",
    "Report",
    "Round",
    "Rung",
    "Scheduler",
    "SchoolClass",
    "SearchWord",
    "Season",
    "SequentialTest",
    "SessionOwner",
    "Sitting",
    "Solver",
    "StoredSnapshot",
    "Study",
    "StudyPart",
    "Subscription",
    "Table",
    "TableAction",
    "TableChallenge",
    "TableOfDay",
    "TablePerson",
    "TableSeat",
    "TakenName",
    "Team",
    "TeamMember",
    "Tournament",
    "Try",
    "Tuning",
    "TuningStep",
    "VersionTest",
    "Volunteer",
    "VolunteerTask",
    "Webhook",
    "Worker",
]
