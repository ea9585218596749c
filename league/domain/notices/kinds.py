"""The sentences of notices by name, each with its kind, and the default way of each kind."""

from __future__ import annotations

from league.enums import NoticeKind, NoticeWay

# Nobody gets a letter without a confirmed address, and no digest without having chosen how often.
DEFAULTS: dict[NoticeKind, NoticeWay] = {
    NoticeKind.FAILED: NoticeWay.DIGEST,
    NoticeKind.OVERTAKEN: NoticeWay.DIGEST,
    NoticeKind.ASKED: NoticeWay.DIGEST,
    NoticeKind.TABLE: NoticeWay.SITE,
    NoticeKind.EVENT: NoticeWay.DIGEST,
    NoticeKind.ASSIGNMENT: NoticeWay.DIGEST,
    NoticeKind.FOLLOWED: NoticeWay.DIGEST,
    NoticeKind.TALK: NoticeWay.DIGEST,
    NoticeKind.PUZZLE: NoticeWay.NEVER,
}
TEXTS: dict[str, NoticeKind] = {
    "refused": NoticeKind.FAILED,
    "partly_refused": NoticeKind.FAILED,
    "not_rebuilt": NoticeKind.FAILED,
    "faulty": NoticeKind.FAILED,
    "paused": NoticeKind.FAILED,
    "stopped": NoticeKind.FAILED,
    "webhook_off": NoticeKind.FAILED,
    "volunteer_out": NoticeKind.FAILED,
    "overtaken": NoticeKind.OVERTAKEN,
    "requested": NoticeKind.ASKED,
    "invited": NoticeKind.ASKED,
    "offered": NoticeKind.ASKED,
    "challenged": NoticeKind.ASKED,
    "table_challenge": NoticeKind.ASKED,
    "table_waits": NoticeKind.TABLE,
    "starts_soon": NoticeKind.EVENT,
    "arena_soon": NoticeKind.EVENT,
    "arena_placed": NoticeKind.EVENT,
    "started": NoticeKind.EVENT,
    "placed": NoticeKind.EVENT,
    "ended": NoticeKind.EVENT,
    "assignment_due": NoticeKind.ASSIGNMENT,
    "new_version": NoticeKind.FOLLOWED,
    "won": NoticeKind.FOLLOWED,
    "entered": NoticeKind.FOLLOWED,
    "commented_match": NoticeKind.TALK,
    "commented_puzzle": NoticeKind.TALK,
    "commented": NoticeKind.TALK,
    "answered": NoticeKind.TALK,
    "comment_hidden": NoticeKind.TALK,
    "report_hidden": NoticeKind.TALK,
    "report_left": NoticeKind.TALK,
    "request_granted": NoticeKind.TALK,
    "request_refused": NoticeKind.TALK,
    "request_expired": NoticeKind.TALK,
    "puzzle_of_day": NoticeKind.PUZZLE,
}
