"""Open bots: who may read the source of a version, when it is published, and which bots come from it.

An owner publishes the source of an accepted version under a licence: at once, on a date, or when a tournament or event has finished. Until then the
plan can be dropped. What is published stays published, because others may already use it under its licence. Retirement, a ban and a closed account
change nothing about that; only while an operator suspends the bot is its source withheld. The plans of a banned owner wait for the end of the ban,
and a closed account has none.

A text names its origin in a line ("Fork of rufo/3") that the fork button writes. It stays in drafts, tries and files, and each upload is read for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from engine.packages import archive, manifest
from league.domain.bots import packages
from league.domain.bots.languages import PYTHON
from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import Licence, TournamentStatus, VersionStatus
from league.models import Bot, BotVersion, Event, HandIn, Player, Tournament

PROGRAMS = ("binary", "java", "mono", "wasm")  # The runtimes of packages without source.
FARTHEST = timedelta(days=366)  # How far ahead a date may be.
MOST_AT_ONCE = 500
NAMED_WITHIN = 2048  # Bytes of a file that are searched for its origin.
ORIGIN = re.compile(rb"\bFork of ([a-z0-9][a-z0-9-]{0,39})/([1-9]\d{0,8})\b")
ORIGIN_LINE = re.compile(rb"^(#|//) Fork of .*\n", re.MULTILINE)
ENDABLE = (TournamentStatus.OPEN, TournamentStatus.RUNNING)
OCCASIONS: dict[str, type[Tournament | Event]] = {"tournament": Tournament, "event": Event}


def is_public() -> Q:
    """Return the condition that everybody may read the source of a version. No query."""
    return Q(opened__isnull=False, bot__stopped=None)


def is_readable(viewer: Player | None) -> Q:
    """Return the condition that `viewer` (None: an anonymous client) may read the source of a version. No query."""
    return ownership.owned(viewer, BotAct.CODE, "bot__") | is_public()


def find(viewer: Player | None, slug: str, number: int) -> BotVersion | None:
    """Return a version whose source the viewer may read, with its package; None if there is none. One query."""
    rows = BotVersion.objects.select_related("bot__owner", "package", "source", "origin__bot")
    return rows.filter(is_readable(viewer), bot__slug=slug, number=number).first()


def list_readable(bot: Bot, viewer: Player | None) -> list[BotVersion]:
    """Return the versions of a bot whose source the viewer may read, newest first. One query."""
    return list(bot.versions.filter(is_readable(viewer)).order_by("-number"))


def choices(version: BotVersion) -> list[tuple[str, str]]:
    """Return the tournaments and events of this version that have not finished, as names of occasions and their titles. Two queries."""
    tournaments = Tournament.objects.filter(entries__version=version, status__in=ENDABLE).order_by("name")
    events = Event.objects.filter(tournaments__entries__version=version, status__in=ENDABLE).order_by("name").distinct()
    rows = [(f"event:{slug}", name) for slug, name in events.values_list("slug", "name")]
    alone = tournaments.filter(event=None).values_list("slug", "name")
    return rows + [(f"tournament:{slug}", name) for slug, name in alone]


def publish(
    version: BotVersion,
    licence: str,
    *,
    at: datetime | None = None,
    after: str = "",
    actor: str,
    now: datetime | None = None,
) -> None:
    """Publish the source of a version: now, at a time, or after "tournament:SLUG" or "event:SLUG" has finished. Repeatable. Raise Refused."""
    now = clock.now_or(now)
    if licence not in Licence.values:
        raise Refused("choose a licence from {licences}, not {licence!r}", licences=", ".join(Licence), licence=licence)
    if at is not None and after:
        raise Refused("choose either a date or an event after which the source is published")
    if at is not None and not now < at <= now + FARTHEST:
        raise Refused("choose a date within the next {days} days", days=FARTHEST.days)
    if after and after not in dict(choices(version)):
        raise Refused("choose a tournament or event of this version that has not finished, not {after!r}", after=after)
    with transaction.atomic():
        bot = Bot.objects.select_for_update(no_key=True).get(pk=version.bot_id)
        version.refresh_from_db()
        if version.opened is not None:
            if version.licence != licence:
                raise Refused(
                    "{version} is published under {licence}, and stays so", version=version, licence=version.licence
                )
            return
        _check(version, bot)
        if at is None and not after:
            if _waits_for_class(BotVersion.objects.filter(pk=version.pk), now).exists():
                raise Refused(
                    "{bot!r} is handed in for an assignment that is not over; choose a later date", bot=bot.slug
                )
            BotVersion.objects.filter(pk=version.pk).update(licence=licence)
            _open(version, actor=actor, now=now)
        else:
            BotVersion.objects.filter(pk=version.pk).update(opens=at, opens_after=after, licence=licence)
            journal.append("version.opening_planned", f"bot:{bot.slug}", now=now, actor=actor, version=version.number)
    version.refresh_from_db()


def _check(version: BotVersion, bot: Bot) -> None:
    """Raise Refused if the source of this version cannot be published."""
    if version.status != VersionStatus.ACCEPTED:
        raise Refused("{version} is not accepted; only an accepted version is published", version=version)
    if version.runtime in PROGRAMS and version.source_id is None:
        raise Refused("{version} is a program in machine code, so there is no source to read", version=version)
    if bot.in_class:
        raise Refused(
            "only your class sees {bot!r}; show it to everybody first, in the settings of the bot", bot=bot.slug
        )
    if bot.stopped is not None or bot.owner_banned:
        raise Refused("{bot!r} is suspended, so its source cannot be published", bot=bot.slug)


def _waits_for_class(rows: QuerySet[BotVersion], now: datetime) -> QuerySet[BotVersion]:
    """Select those of these versions whose bot is handed in for an assignment to which others may still hand in."""
    is_running = Q(assignment__due__gt=now) | Q(assignment__late_percent__gt=0)
    work = HandIn.objects.filter(is_running, version__bot=OuterRef("bot"), assignment__school_class__archived=None)
    return rows.filter(Exists(work))


def _open(version: BotVersion, *, actor: str, now: datetime) -> bool:
    """Publish a source within a transaction. Return False if it already is, or its plan was dropped in the meantime."""
    rows = BotVersion.objects.filter(pk=version.pk, opened=None).exclude(licence="")
    if not rows.update(opened=now, opens=None, opens_after=""):
        return False
    journal.append("version.opened", f"bot:{version.bot.slug}", now=now, actor=actor, version=version.number)
    return True


def drop_plan(version: BotVersion, *, actor: str, now: datetime | None = None) -> None:
    """Drop the plan to publish a source. Repeatable. Raise Refused if it is published."""
    with transaction.atomic():
        if _planned(BotVersion.objects.filter(pk=version.pk)).update(opens=None, opens_after="", licence=""):
            journal.append(
                "version.opening_dropped",
                f"bot:{version.bot.slug}",
                now=clock.now_or(now),
                actor=actor,
                version=version.number,
            )
    version.refresh_from_db()
    if version.opened is not None:
        raise Refused(
            "{version} is published, and stays so: others may use it under its licence already", version=version
        )


def drop_plans(owner: Player) -> None:
    """Drop all plans of an owner whose account is closed."""
    _planned(BotVersion.objects.filter(bot__owner=owner)).update(opens=None, opens_after="", licence="")


def _planned(rows: QuerySet[BotVersion]) -> QuerySet[BotVersion]:
    return rows.filter(Q(opens__isnull=False) | ~Q(opens_after=""), opened=None)


def publish_due(*, now: datetime | None = None) -> int:
    """Publish the sources whose date has come, or whose tournament or event has finished; return their number. One query if none is planned."""
    now = clock.now_or(now)
    rows = _planned(BotVersion.objects.filter(bot__owner_banned=False, bot__stopped=None)).select_related("bot")
    rows = rows.filter(Q(opens__lte=now) | ~Q(opens_after=""))
    versions = list(rows.order_by("pk"))
    if not versions:
        return 0
    occasions = _finished({version.opens_after for version in versions} - {""})
    due = {version.pk: version for version in versions if version.opens or version.opens_after in occasions}
    work = set(_waits_for_class(BotVersion.objects.filter(pk__in=list(due)), now).values_list("pk", flat=True))
    count = 0
    for version in [version for pk, version in due.items() if pk not in work][:MOST_AT_ONCE]:
        with transaction.atomic():
            count += _open(version, actor="", now=now)
    return count


def _finished(names: Iterable[str]) -> set[str]:
    """Return those of these occasions that have finished; a cancelled one never does. Two queries at most."""
    occasions = set()
    for kind, model in OCCASIONS.items():
        slugs = [name.partition(":")[2] for name in names if name.startswith(f"{kind}:")]
        rows = model._default_manager.filter(slug__in=slugs, status=TournamentStatus.FINISHED) if slugs else None
        occasions |= {f"{kind}:{slug}" for slug in rows.values_list("slug", flat=True)} if rows is not None else set()
    return occasions


def origin_of(content: archive.BotPackage, slug: str) -> BotVersion | None:
    """Return the published version that the files of an upload to the bot `slug` name as their origin; None if there is none.

    One query at most. Raise Refused if nothing but that line differs: two bots with equal files would be one competitor under two names.
    """
    texts = (content.files.get(name, b"")[:NAMED_WITHIN] for name in (content.manifest.entry, manifest.FILE))
    name = next((match for text in texts if (match := ORIGIN.search(text))), None)
    if name is None or name[1].decode() == slug:
        return None
    rows = BotVersion.objects.select_related("bot", "package", "source")
    version = rows.filter(is_public(), bot__slug=name[1].decode(), number=int(name[2])).first()
    if version is not None and _program(content.files) == _program(packages.files(version)):
        raise Refused(
            "nothing but the name differs from {version}; change something that makes the bot your own", version=version
        )
    return version


def _program(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files beside the manifest, without lines that name an origin."""
    return {name: ORIGIN_LINE.sub(b"", data) for name, data in files.items() if name != manifest.FILE}


def origins(bot: Bot) -> list[BotVersion]:
    """Return the versions of other bots from which versions of this bot come, in the order of their names. One query."""
    return list(
        BotVersion.objects.filter(forks__bot=bot).select_related("bot").distinct().order_by("bot__slug", "number")
    )


def forks(bot: Bot, viewer: User | None) -> QuerySet[Bot]:
    """Select the bots that come from a version of this one, as far as the viewer may know of them. No query."""
    from_here = BotVersion.objects.filter(bot=OuterRef("pk"), origin__bot=bot)
    return sight.bots(Bot.objects.filter(Exists(from_here)), viewer).order_by("slug")


def forked_text(version: BotVersion, text: str) -> str:
    """Return the text of a fork: that of the version below a comment that names it."""
    return _with_origin(version, text, "#" if version.runtime == PYTHON.runtime else "//")


def forked_package(version: BotVersion) -> bytes:
    """Return the package of a fork: that of the version, whose manifest names it."""
    content = archive.read_stored(packages.uploaded(version))
    text = _with_origin(version, content.files[manifest.FILE].decode("utf-8-sig"), "#").encode()
    return replace(content, files={**content.files, manifest.FILE: text}).zip()


def _with_origin(version: BotVersion, text: str, comment: str) -> str:
    line = f"{comment} Fork of {version.bot.slug}/{version.number} by {version.bot.owner.name} ({version.licence})\n"
    first, end, rest = text.removeprefix("\ufeff").partition("\n")
    return f"{first}{end}{line}{rest}" if first.startswith("#!") and end else f"{line}{first}{end}{rest}"
