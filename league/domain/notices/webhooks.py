"""Webhooks: the events of a player's bots, posted to an address of the player.

The scheduler reads the journal and stores a delivery for each webhook and event. Its key follows from both, so an event is stored once, whoever is
killed. A delivery is claimed, sent, and marked; if the process dies in between, it is sent again with the same key. So it arrives at least once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Min, Q

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.notices import notifying
from league.domain.people import players
from league.enums import MatchKind
from league.models import BotVersion, Delivery, Entry, LeagueEvent, Match, Party, Player, Tournament, Webhook
from league.service import posting

log = logging.getLogger("league.webhooks")
VERSION, MATCH, TOURNAMENT, TEST = "version.accepted", "match.finished", "tournament.finished", "test"
EVENTS = (VERSION, MATCH, TOURNAMENT)
# Kind and new status of the lines of the journal, with their events.
LINES = {
    ("version.moved", "accepted"): VERSION,
    ("match.moved", "finished"): MATCH,
    ("tournament.moved", "finished"): TOURNAMENT,
}
MOST = 5  # Webhooks of a player.
TESTS = 10  # Test deliveries of a webhook in an hour.
BATCH = 1000  # Lines of one pass.
SETTLED = timedelta(seconds=60)  # Younger lines are read again, because an older one may still be committed.
AT_ONCE = 16  # Requests at a time, one for each player.
PASS_S = 60.0  # A pass begins no request after this time.
CLAIM = timedelta(minutes=2)  # A delivery whose sender died is due again after this time.
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480, 960))
MOST_FAILURES = 30  # After this many in a row a webhook is switched off.
KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class JournalledEvent:
    """An event of the journal, with the players whose bots it is about, and what its body says."""

    line: LeagueEvent
    name: str
    owners: Collection[int]
    body: dict[str, Any]


def create(player: Player, url: str, events: Collection[str], *, now: datetime | None = None) -> Webhook:
    """Create a webhook. Raise Refused for a wrong address or event, or too many webhooks."""
    now = clock.now_or(now)
    url = url.strip()
    try:
        posting.check_url(url)
    except ValueError:
        raise Refused(
            "a webhook needs an address such as https://example.org/tute, without a name and password"
        ) from None
    if not events or not set(events) <= set(EVENTS):
        raise Refused("choose one or more of these events: {events}", events=", ".join(EVENTS))
    with transaction.atomic():
        players.lock(player.pk)
        if player.webhooks.count() >= MOST:
            raise Refused("you have {most} webhooks; delete one first", most=MOST)
        row = {"url": url, "events": sorted(set(events)), "secret": secrets.token_hex(32)}
        return Webhook.objects.create(player=player, created=now, seen=_last_line(), **row)


def _last_line() -> int:
    return LeagueEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def switch_on(webhook: Webhook, *, now: datetime | None = None) -> None:
    """Switch a webhook on again, from now on: nothing is sent of what happened in between. Repeatable."""
    with transaction.atomic():
        if Webhook.objects.filter(pk=webhook.pk, off__isnull=False).update(off=None, failures=0, seen=_last_line()):
            webhook.deliveries.filter(due__isnull=False).update(due=None)


def send_test(webhook: Webhook, *, now: datetime | None = None) -> None:
    """Store a delivery that only says that the webhook works. Raise Refused if it is off, or had TESTS in an hour."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Webhook.objects.select_for_update().get(pk=webhook.pk)
        if row.off is not None:
            raise Refused("this webhook is off; switch it on first")
        if row.deliveries.filter(event=TEST, created__gt=now - timedelta(hours=1)).count() >= TESTS:
            raise Refused("a webhook can be tested {most} times an hour; try later", most=TESTS)
        Delivery.objects.create(**_delivery(row, TEST, secrets.token_hex(16), {}, now, now))


def signature(secret: str, at: int, body: str) -> str:
    """Return the header that proves the sender: time and HMAC-SHA256 over time, full stop and body."""
    return f"t={at},v1={hmac.new(secret.encode(), f'{at}.{body}'.encode(), hashlib.sha256).hexdigest()}"


def run(*, now: datetime | None = None) -> int:
    """Store the deliveries of new lines, and send what is due; return the number of those that arrived. Repeatable.

    One query if nobody has a webhook.
    """
    fixed, now = now, clock.now_or(now)
    if not Webhook.objects.exists():
        return 0
    _collect(now)
    Delivery.objects.filter(created__lt=now - KEPT).delete()
    return _send(fixed)


def _send(now: datetime | None) -> int:
    """Send what is due; return the number of deliveries that arrived.

    Players take turns, and each has one request at a time, so that slow listeners delay only their own player.
    """
    arrived, until = 0, time.monotonic() + PASS_S
    running: dict[Future[tuple[int | None, str]], Delivery] = {}
    served: set[int] = set()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="webhook") as pool:
        while True:
            busy = {row.webhook.player_id for row in running.values()}
            room = AT_ONCE - len(running) if time.monotonic() < until else 0
            rows = _claim(clock.now_or(now), busy | served, room)
            if len(rows) < room:  # All others had a turn.
                served = set()
                busy |= {row.webhook.player_id for row in rows}
                rows += _claim(clock.now_or(now), busy, room - len(rows))
            for row in rows:
                running[pool.submit(_post, row)] = row
                served.add(row.webhook.player_id)
            if not running:
                return arrived
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                arrived += _note(running.pop(future), *future.result(), clock.now_or(now))


def _collect(now: datetime) -> None:
    # Those of banned players read on, too: otherwise all would wait later until they have caught up.
    everybody = list(Webhook.objects.filter(off=None).select_related("player__user"))
    hooks = [hook for hook in everybody if hook.player.user.is_active]
    if not everybody:
        return
    chosen = Q()
    for kind, to in LINES:
        chosen |= Q(kind=kind, data__to=to)
    start = min(hook.seen for hook in everybody)
    lines = list(LeagueEvent.objects.filter(chosen, pk__gt=start).order_by("pk")[:BATCH])
    settled = (
        LeagueEvent.objects.filter(at__lte=now - SETTLED).order_by("-pk").values_list("pk", flat=True).first() or 0
    )
    read = min(settled, lines[-1].pk) if len(lines) == BATCH else settled
    deliveries = []
    for event in _events(lines, {hook.player for hook in hooks}):
        for hook in hooks:
            if event.line.pk > hook.seen and event.name in hook.events and hook.player_id in event.owners:
                key = hashlib.sha256(f"{hook.secret}:{event.line.pk}:{event.line.at}".encode()).hexdigest()[:32]
                deliveries.append(Delivery(**_delivery(hook, event.name, key, event.body, event.line.at, now)))
    with transaction.atomic():
        Delivery.objects.bulk_create(deliveries, ignore_conflicts=True)
        Webhook.objects.filter(pk__in=[hook.pk for hook in everybody], seen__lt=read).update(seen=read)


def _delivery(hook: Webhook, event: str, key: str, body: dict[str, Any], at: datetime, now: datetime) -> dict[str, Any]:
    text = json.dumps({"id": key, "event": event, "at": at.isoformat(), **body}, separators=(",", ":"))
    return {"webhook": hook, "key": key, "event": event, "body": text, "created": now, "due": now}


def _events(lines: Sequence[LeagueEvent], owners: Collection[Player]) -> Iterable[JournalledEvent]:
    """Yield the events of these lines that concern one of these players, and that this player may see."""
    names: dict[str, list[str]] = {event: [] for event in EVENTS}
    for line in lines:
        names[LINES[line.kind, line.data["to"]]].append(line.subject.partition(":")[2])
    subjects: dict[tuple[str, str], tuple[set[int], dict[str, Any]]] = {}

    def add(event: str, name: str, owner: int, **body: Any) -> None:
        subjects.setdefault((event, name), (set(), body))[0].add(owner)

    for version in BotVersion.objects.filter(pk__in=names[VERSION], bot__owner__in=owners).select_related("bot"):
        words = {"bot": version.bot.slug, "version": version.number}
        add(VERSION, str(version.pk), version.bot.owner_id, **words, url=f"/api/v1/versions/{version.pk}")
    parties = Party.objects.filter(match__public_id__in=names[MATCH], version__bot__owner__in=owners)
    played = set(parties.values_list("version__bot__owner", flat=True))
    for player in owners if names[TOURNAMENT] else [owner for owner in owners if owner.pk in played]:
        own = Party.objects.filter(version__bot__owner=player).values("match")
        # A validation is one event, that of its version, and not one for each game.
        rows = Match.objects.exclude(kind=MatchKind.VALIDATION).filter(public_id__in=names[MATCH], pk__in=own)
        for match in sight.matches(rows, player.user).values_list("public_id", flat=True):
            add(MATCH, match, player.pk, match=match, url=f"/api/v1/matches/{match}")
        entered = Q(owner=player) | Q(pk__in=Entry.objects.filter(version__bot__owner=player).values("tournament"))
        cups = sight.tournaments(Tournament.objects.filter(entered, slug__in=names[TOURNAMENT]), player.user)
        for slug in cups.values_list("slug", flat=True):
            add(TOURNAMENT, slug, player.pk, tournament=slug, url=f"/api/v1/tournaments/{slug}")
    for line in lines:
        event = LINES[line.kind, line.data["to"]]
        if (event, line.subject.partition(":")[2]) in subjects:
            yield JournalledEvent(line, event, *subjects[event, line.subject.partition(":")[2]])


def _claim(now: datetime, without: Collection[int], most: int) -> list[Delivery]:
    """Claim the first due delivery of each player who is not in `without`, `most` at most."""
    due = Delivery.objects.filter(due__lte=now, webhook__off=None, webhook__player__user__is_active=True)
    waiting = due.exclude(webhook__player__in=without).values("webhook__player").annotate(first=Min("pk"))
    rows = Delivery.objects.filter(pk__in=[row["first"] for row in waiting.order_by("first")[:most]])
    return [
        row
        for row in rows.select_related("webhook__player").order_by("pk")
        if Delivery.objects.filter(pk=row.pk, due=row.due).update(due=now + CLAIM, tries=F("tries") + 1)
    ]


def _post(row: Delivery) -> tuple[int | None, str]:
    """Send a delivery; return the status of the answer, or None, and what went wrong. It reads no database.

    It is signed with the present time, because a pass with slow receivers takes minutes, and receivers refuse old times.
    """
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Tute-League",
        "Tute-Event": row.event,
        "Tute-Delivery": row.key,
        "Tute-Signature": signature(row.webhook.secret, int(time.time()), row.body),
    }
    try:
        return posting.post(row.webhook.url, row.body.encode(), headers), ""
    except posting.PostFailed as error:
        return None, str(error)[:200]
    except Exception as error:  # Other players' deliveries go on.
        log.exception("%s could not be sent", row)
        return None, f"a fault of the league: {type(error).__name__}"


def _note(row: Delivery, status: int | None, problem: str, now: datetime) -> bool:
    """Store how a delivery went; return True if it arrived."""
    hook, arrived = row.webhook, status is not None and 200 <= status < 300
    with transaction.atomic():
        if arrived:
            Delivery.objects.filter(pk=row.pk).update(due=None, status=status, problem="", delivered=now)
            Webhook.objects.filter(pk=hook.pk, failures__gt=0).update(failures=0)
            return True
        due = now + PAUSES[row.tries] if row.tries < len(PAUSES) else None
        Delivery.objects.filter(pk=row.pk).update(due=due, status=status, problem=problem)
        Webhook.objects.filter(pk=hook.pk).update(failures=F("failures") + 1)
        if Webhook.objects.filter(pk=hook.pk, failures__gte=MOST_FAILURES, off=None).update(off=now):
            log.info("%s was switched off after %d failures", hook, MOST_FAILURES)
            about = f"webhook:{hook.pk}:{now:%Y%m%d%H%M%S}"
            notifying.notify([hook.player], "webhook_off", about, now=now, url=hook.url[:100])
    return False
