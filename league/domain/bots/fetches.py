"""Fetches: versions from tags of public Git repositories, at the request of a player or of a forge that reports a push.

1. `ask` queues a job. A worker with Git that the operator lets out reads the tag and fills in the row `Fetch` (`jobs.handlers.fetches`).
2. `settle`, in the scheduler, uploads what came like any zip, with its checks and limits. The version keeps its commit, whatever happens to the tag.

A league without GIT_HOSTS and GIT_PRIVATE_HOSTS fetches nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from engine.packages import fetching, git_http
from engine.packages.git_http import HTTPS_PORT, RepositoryAddress
from engine.packages.manifest import PackageRefused
from engine.sandbox import SandboxError, why_no_builds
from league.domain.bots import bots
from league.domain.core import clock, journal, queue
from league.domain.core.errors import Refused
from league.domain.people import bans, ownership
from league.domain.people.ownership import BotAct
from league.models import Bot, Fetch, GitLink, Player

JOB = "fetch"  # The kind of the jobs.
PATIENCE = timedelta(hours=1)  # A fetch that no worker has finished fails.
FORGOTTEN = timedelta(days=30)  # A failed fetch is removed.
MOST_FOLDER = 120
_TAGS = "refs/tags/"
_OBJECT = re.compile(r"(?!0+$)[0-9a-f]{40}([0-9a-f]{24})?")


def hosts() -> list[str]:
    """Return the hosts from which this league fetches; none: it fetches nothing. "*" means any public one."""
    return [*settings.GIT_HOSTS, *settings.GIT_PRIVATE_HOSTS]


def is_private(address: RepositoryAddress) -> bool:
    """Return True if the operator lets this host have an address that is not public."""
    return address.site in settings.GIT_PRIVATE_HOSTS


def check(url: str, folder: str) -> tuple[str, str]:
    """Return the address of a repository and a folder in it in their normal form. Raise Refused."""
    if not hosts():
        raise Refused("this league fetches nothing from Git; upload a zip instead")
    try:
        address = git_http.parse(url.strip())
    except ValueError:
        raise Refused(
            "the address of a repository is like https://host/owner/name, without user name and query"
        ) from None
    if address.site not in hosts() and ("*" not in settings.GIT_HOSTS or address.port != HTTPS_PORT):
        raise Refused("this league fetches from {hosts} only; upload a zip instead", hosts=", ".join(hosts()))
    parts = [part for part in folder.strip().split("/") if part]
    path = "/".join(parts)
    if len(path.encode()) > MOST_FOLDER or {".", ".."} & set(parts) or not path.isprintable():
        raise Refused(
            "the folder is a path inside the repository, such as bots/rufo; leave it empty for the whole of it"
        )
    return address.url, path


def ask(
    player: Player,
    bot_name: str,
    url: str,
    tag: str,
    folder: str = "",
    *,
    pushed: str = "",
    now: datetime | None = None,
) -> Fetch:
    """Queue the fetch of a version of the player's bot `bot_name`, which the upload creates if it is new. Raise Refused or TooMany.

    pushed: the id that a forge reported for the tag. The same report again changes nothing.
    """
    now = clock.now_or(now)
    url, folder = check(url, folder)
    if not git_http.is_tag(tag):
        raise Refused("the name of a tag has letters, digits and . _ / + - only, such as v1.2")
    same = Fetch.objects.filter(bot_name=bot_name, url=url, folder=folder, tag=tag, pushed=pushed).exclude(pushed="")
    with transaction.atomic():
        if not same.exists():  # The same delivery again costs nothing of a limit.
            bot_name = bots.check_upload(player, bot_name, now=now)
        if (delivered := same.first()) is not None:  # Perhaps while this one waited for the lock.
            return delivered
        row = Fetch.objects.create(
            player=player, bot_name=bot_name, url=url, folder=folder, tag=tag, pushed=pushed, created=now
        )
        queue.add(JOB, now=now, owner=player, position=queue.turn_of(JOB, player), fetch=row)
    return row


# ---- the link of a bot


def link(bot: Bot, url: str, folder: str, *, player: Player, now: datetime | None = None) -> GitLink:
    """Link a bot with a repository, from which `player` uploads its versions. The webhook of another repository or player ends. Raise Refused."""
    now = clock.now_or(now)
    url, folder = check(url, folder)
    columns = {"player": player, "url": url, "folder": folder, "created": now}
    with transaction.atomic():
        GitLink.objects.filter(bot=bot).exclude(player=player, url=url).update(salt="")
        row, _ = GitLink.objects.update_or_create(bot=bot, defaults=columns)
        journal.append("bot.linked", f"bot:{bot.slug}", now=now, actor=player.name, url=url, folder=folder)
    return row


def unlink(bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """End the link of a bot, and its webhook. Repeatable."""
    with transaction.atomic():
        if GitLink.objects.filter(bot=bot).delete()[0]:
            journal.append("bot.unlinked", f"bot:{bot.slug}", now=clock.now_or(now), actor=player.name)


def new_secret(row: GitLink, *, player: Player) -> str:
    """Return a new secret for the webhook of a link; the former one is no longer valid. The database cannot show it again.

    From now on `player` uploads its versions, so that nobody can do so in the name of somebody else.
    """
    row.salt, row.player = secrets.token_hex(16), player
    GitLink.objects.filter(pk=row.pk).update(salt=row.salt, player=player)
    return _secret(row.salt)


def _secret(salt: str) -> str:
    return salted_hmac("league.git", salt, algorithm="sha256").hexdigest()


def find_link(slug: str, body: bytes, headers: Mapping[str, str]) -> GitLink | None:
    """Return the link whose secret a delivery shows, by signature (GitHub, Gitea, Forgejo) or by token (GitLab); None without a valid one."""
    row = GitLink.objects.select_related("bot__owner", "player__user").filter(bot__slug=slug).exclude(salt="").first()
    secret = _secret(row.salt if row else "")
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    is_signed = constant_time_compare(headers.get("X-Hub-Signature-256", ""), signature)
    is_named = constant_time_compare(headers.get("X-Gitlab-Token", ""), secret)
    if row is None or not (is_signed or is_named) or row.player.banned:
        return None
    return row if ownership.may(row.player, row.bot, BotAct.UPLOAD) else None


def push(row: GitLink, body: bytes, *, now: datetime | None = None) -> Fetch | None:
    """Queue the fetch of a pushed tag. Return None if the delivery reports something else. Raise Refused or TooMany."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused("the delivery is not JSON; choose application/json in the settings of the webhook") from None
    ref, pushed = (event.get("ref"), event.get("after")) if isinstance(event, dict) else (None, None)
    if (
        not isinstance(ref, str)
        or not ref.startswith(_TAGS)
        or not isinstance(pushed, str)
        or not _OBJECT.fullmatch(pushed)
    ):
        return None
    return ask(row.player, row.bot.slug, row.url, ref.removeprefix(_TAGS), row.folder, pushed=pushed, now=now)


# ---- what a worker and the scheduler do


@cache
def is_possible_here() -> bool:
    """Return True if this machine may fetch, has Git, and a sandbox that is strong enough."""
    try:
        return bool(hosts()) and not fetching.why_not() and not why_no_builds(settings.STATE_DIR / "sandbox")
    except SandboxError:
        return False


def settle(*, now: datetime | None = None) -> int:
    """Upload what workers have fetched; end fetches that wait too long; remove failed ones. Return the number of the first two."""
    now = clock.now_or(now)
    waiting = Fetch.objects.filter(version=None)
    late = list(waiting.filter(finished=None, created__lt=now - PATIENCE).values_list("pk", flat=True)[: queue.MOST])
    for pk in late:
        with transaction.atomic():
            queue.withdraw(JOB, fetch=pk)
            Fetch.objects.filter(pk=pk, finished=None).update(
                finished=now, why="no worker of this league could fetch it within an hour; ask an operator"
            )
    arrived = list(waiting.exclude(result=None).order_by("pk").values_list("pk", flat=True)[: queue.MOST])
    for pk in arrived:
        _upload(pk, now)
    waiting.filter(created__lt=now - FORGOTTEN, finished__isnull=False, result=None).delete()
    return len(late) + len(arrived)


def _upload(pk: int, now: datetime) -> None:
    row = Fetch.objects.select_related("player__user").filter(pk=pk, version=None).exclude(result=None).first()
    if row is None or row.result is None:  # Its player has just closed the account.
        return
    version, why = None, ""
    with transaction.atomic():
        try:
            with transaction.atomic():
                version = bots.upload(row.player, row.bot_name, bytes(row.result), "bot.zip", now=now)
                row.player.refresh_from_db()  # It is locked now.
                if row.player.banned:
                    raise bans.refusal(row.player)
        except (PackageRefused, Refused) as refused:
            version, why = None, str(refused)
        # Players are locked before their fetches, as by whoever closes an account.
        rows = Fetch.objects.filter(pk=pk, version=None).exclude(result=None)
        if not rows.update(version=version, why=why, result=None):  # Another scheduler was faster.
            transaction.set_rollback(True)
