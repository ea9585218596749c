"""Bots and their versions: names, uploads, pauses and retirement."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q

from engine.packages import manifest
from league.domain.bots import builds, packages, sources
from league.domain.bots.willing import note_leaving
from league.domain.core import clock, hints, journal, names, search_words
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import validation
from league.domain.people import ownership, players, quotas
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.enums import BotState, ClassRole, FaultKind, MatchKind, RequestStatus, VersionStatus
from league.models import (
    ArenaEntry,
    Bot,
    BotVersion,
    Circuit,
    ClassMember,
    Entry,
    EntryRequest,
    LeagueEvent,
    Match,
    Player,
)
from league.pure.refusal import translatable

HOLD = timedelta(days=1)  # How long a pause by the owner keeps the bot's matches in the queue.
HOLD_AGAIN = timedelta(days=7)  # How long after such a pause the next one does not keep them.
VALIDATION_S = 300  # If several validations run, one should be done after this time.
RESERVED = frozenset({"new", "me"})
PRIVATE = (
    MatchKind.VALIDATION,
    MatchKind.TRY,
    MatchKind.AUDIT,
    MatchKind.ASSIGNMENT,
)  # Matches that meet no other player.


class NameRefused(Refused):
    """A name that a bot of this player cannot have."""


def slug(name: str) -> str:
    """Return `name` as used in addresses. Raise NameRefused if no character remains, the name is reserved, or a character is not allowed."""
    try:
        name = names.checked(name)
    except Refused as error:
        raise NameRefused(error.message, **error.values) from None
    address = manifest.slug(name)
    if not address or address in RESERVED:
        raise NameRefused(
            "“{name}” cannot be used as the name of a bot; use letters and digits, such as rufo-2", name=name
        )
    return address


def upload(
    player: Player,
    bot_name: str,
    data: bytes,
    filename: str,
    games: Iterable[str] | None = None,
    *,
    secret: bytes | None = None,
    now: datetime | None = None,
) -> BotVersion:
    """Upload a new version of the player's bot `bot_name` (empty: the name in the package), and queue its validation, or its build if it is source.

    1. The package is read in memory; PackageRefused ends the upload before anything is written.
    2. One transaction checks limits, name and duplicates (with the package row locked), and creates version, journal line and validation.

    Raise PackageRefused, Refused or TooMany. `secret` is the key of the validation's deals; by default it is random.
    """
    now = clock.now_or(now)
    content = packages.inspect(data, filename, games)
    remote = content.manifest.runtime == manifest.REMOTE
    if remote:
        _check_apart(content.manifest.games)
    if not bot_name and content.manifest.name.lower() in manifest.UNNAMED:
        raise NameRefused("{filename} does not say what your bot is called; write a name for it", filename=filename)
    name = slug(bot_name or content.manifest.name)
    with transaction.atomic():
        # This locks the players, so their uploads run one after the other, and limits and numbers hold.
        owner = _owner(player, name)
        players.lock(player.pk, owner.pk)
        _ask(player, owner, quotas.UPLOADS, now=now)
        if not remote:
            _ask(player, owner, quotas.VALIDATIONS, wait_s=VALIDATION_S, now=now)
        bot = _bot(player, name, now, remote=remote)
        if bot.owner_id != owner.pk:
            raise Refused("{bot!r} has just been handed on; try again", bot=bot.slug)
        package = packages.store(content)
        _check_duplicate(player, content.sha256)
        _ask(player, owner, quotas.BYTES, package.size, now=now)
        number = 1 + (bot.versions.aggregate(last=Max("number"))["last"] or 0)
        version = BotVersion.objects.create(
            bot=bot,
            number=number,
            uploader=None if owner.pk == player.pk else player,
            package=package,
            runtime=content.runtime,
            entry=content.manifest.entry,
            games=list(content.manifest.games),
            deterministic=content.manifest.deterministic,
            sealable=content.manifest.sealable and content.manifest.runtime in manifest.SEALABLE,
            origin=sources.origin_of(content, bot.slug),
            status=VersionStatus.REMOTE if remote else VersionStatus.VALIDATING,
            created=now,
        )
        journal.append(
            "version.uploaded",
            f"bot:{bot.slug}",
            now=now,
            actor=player.name,
            version=number,
            sha256=content.sha256,
            pk=version.pk,
        )
        if content.manifest.build:
            builds.begin(version, content.manifest.build, player, now=now)
        elif not remote:
            validation.begin(version, secret=secret, now=now)
    return version


def _check_apart(games: Iterable[str]) -> None:
    """Raise Refused if a remote bot names a game with partners: one program would see both hands."""
    for game in games:
        if not pools.is_single(game):
            raise Refused(
                "in {game} a bot plays for two partners, and on your machine it would see both hands; a remote bot plays: {games}",
                game=game,
                games=", ".join(pools.single_games()),
            )


def _owner(player: Player, name: str) -> Player:
    """Return the owner of the bot with this name; the player if there is no such bot, or it is not in a team of theirs."""
    bot = Bot.objects.filter(slug=name).select_related("owner").first()
    return bot.owner if bot is not None and ownership.may(player, bot, BotAct.UPLOAD) else player


def _ask(player: Player, owner: Player, name: str, more: int = 1, *, wait_s: float = 60, now: datetime) -> None:
    """Check the limit of the player and of the owner of the bot, so that nobody multiplies limits by joining teams."""
    quotas.ask(player, name, more, wait_s=wait_s, now=now)
    if owner.pk == player.pk:
        return
    try:
        quotas.ask(owner, name, more, wait_s=wait_s, now=now)
    except TooMany as error:
        raise TooMany(
            "a limit of the owner of the bot, {owner}, is reached. For the owner it reads: {why}",
            retry_after=error.retry_after,
            owner=owner.name,
            why=error,
        ) from error
    except Refused as error:
        raise Refused(
            "a limit of the owner of the bot, {owner}, is reached. For the owner it reads: {why}",
            owner=owner.name,
            why=error,
        ) from error


def _bot(player: Player, name: str, now: datetime, *, remote: bool) -> Bot:
    fresh = {"owner": player, "is_house": player.name == players.HOUSE, "is_remote": remote, "created": now}
    bot = Bot.objects.filter(slug=name).first()
    if bot is None:
        quotas.ask(player, quotas.BOTS, now=now)
        _take(name)
        # Read again while the player is locked: the request may have begun before a ban, or before the account was closed.
        locked = Player.objects.get(pk=player.pk)
        if locked.name.startswith(players.CLOSED):
            raise Refused("this account is closed, so it can upload nothing")
        fresh["owner_banned"] = locked.banned is not None
        # What is written for a class stays there, until its owner shows it to everybody.
        fresh["in_class"] = _studies(player.pk)
        bot, _ = Bot.objects.get_or_create(slug=name, defaults=fresh)
        search_words.put(bot, name)
    _check_takes(player, bot)
    if bot.is_remote and not remote:
        raise NameRefused("the bot {name!r} is a remote bot; upload this one under another name", name=name)
    if remote and not bot.is_remote:
        raise NameRefused(
            "the bot {name!r} plays on the league’s machines; give your remote bot another name", name=name
        )
    return bot


def _check_takes(player: Player, bot: Bot) -> None:
    """Raise NameRefused unless the player may upload versions of a bot."""
    if not ownership.may(player, bot, BotAct.UPLOAD):
        raise NameRefused("the bot name {name!r} is taken by another player; choose another name", name=bot.slug)
    if bot.state == BotState.RETIRED:
        raise NameRefused("the bot {name!r} is retired; submit under another name", name=bot.slug)


def check_upload(player: Player, bot_name: str, *, now: datetime) -> str:
    """Check that a player may upload a version of a bot later, in the transaction that promises it. Return the slug. Raise Refused or TooMany."""
    name = slug(bot_name)
    owner = _owner(player, name)
    players.lock(player.pk, owner.pk)
    _ask(player, owner, quotas.UPLOADS, now=now)
    bot = Bot.objects.filter(slug=name).select_related("owner").first()
    if bot is not None:
        _check_takes(player, bot)
    return name


def _take(name: str) -> None:
    try:
        names.take(names.BOT, name, holder=f"bot:{name}")
    except Refused as error:
        raise NameRefused(error.message, **error.values) from None


def _check_duplicate(player: Player, sha256: str) -> None:
    """Raise Refused if the league has these files already: two bots with equal files would be one competitor under two names."""
    same = BotVersion.objects.filter(Q(package_id=sha256) | Q(source_id=sha256)).select_related("bot")
    twin = same.exclude(
        status=VersionStatus.REJECTED, fault=FaultKind.INFRASTRUCTURE
    ).first()  # No worker could build these.
    if twin is None:
        return
    if twin.bot.is_house or ownership.may(player, twin.bot, BotAct.CODE):
        raise Refused(
            "the league has these exact files already, as {twin}; change something, or enter that version", twin=twin
        )
    raise Refused("another player has uploaded these exact files before; change something that makes the bot your own")


def show(bot: Bot, *, actor: str, now: datetime | None = None) -> None:
    """Show a bot in class to everybody, with its matches that have no other bot in class. Repeatable; nobody can take it back."""
    with transaction.atomic():
        if not Bot.objects.filter(pk=bot.pk, in_class=True).update(in_class=False):
            return
        others = Match.objects.filter(in_class=True, parties__version__bot__in_class=True)
        own = Match.objects.filter(in_class=True, parties__version__bot=bot).exclude(pk__in=others.values("pk"))
        Match.objects.filter(pk__in=list(own.values_list("pk", flat=True))).update(in_class=False)
        journal.append("bot.shown", f"bot:{bot.slug}", now=clock.now_or(now), actor=actor)
    bot.in_class = False


def keep_in_class(bot: Bot, *, actor: str, now: datetime | None = None) -> None:
    """Keep a bot that a student made before joining in the student's classes, until its owner shows it. Repeatable.

    Only before it plays or enters anything: otherwise an owner could hide a bot that loses, or dodge matches. Raise Refused.
    """
    with transaction.atomic():
        row = Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        if row.in_class:
            return
        if why := why_not_in_class(row):
            raise Refused(why, bot=bot.slug)
        Bot.objects.filter(pk=bot.pk).update(in_class=True)
        journal.append("bot.kept_in_class", f"bot:{bot.slug}", now=clock.now_or(now), actor=actor)
    bot.in_class = True


def why_not_in_class(bot: Bot) -> str:
    """Return why a bot cannot be kept in class, in English; "" if it can. Seven queries at most; one if its owner studies nowhere."""
    if not _studies(bot.owner_id):
        return translatable("only a student of a class can keep {bot!r} in class")
    own_matches = Match.work.filter(parties__version__bot=bot).exclude(kind__in=PRIVATE)
    places = (
        Entry.objects.filter(version__bot=bot),
        EntryRequest.objects.filter(bot=bot, status=RequestStatus.GRANTED),
        Circuit.bots.through.objects.filter(bot=bot),
        ArenaEntry.objects.filter(bot=bot),
        LeagueEvent.objects.filter(subject=f"bot:{bot.slug}", kind="bot.shown"),
    )
    if own_matches.exists() or any(rows.exists() for rows in places):
        return translatable(
            "everybody has seen {bot!r}, because it has played, is entered or was shown; upload a new bot"
        )
    return ""


def _studies(player: int) -> bool:
    studies = ClassMember.objects.filter(player=player, role=ClassRole.STUDENT, school_class__archived=None)
    return studies.exists()


def sent_version(bot: Bot, game: str | None = None) -> BotVersion:
    """Return the version that `bot` sends to tournaments: its owner's choice if that plays `game`, else the newest accepted one that does.

    Raise Refused if there is none.
    """
    accepted = bot.versions.filter(status=VersionStatus.ACCEPTED).order_by("-number")
    for version in sorted(accepted, key=lambda version: version.pk != bot.sends_id):
        if game is None or version.plays(game):
            return version
    if game is None:
        raise Refused("the bot {bot!r} has no accepted version", bot=bot.slug)
    raise Refused("the bot {bot!r} has no accepted version that plays {game}", bot=bot.slug, game=game)


def check_playable(version: BotVersion, game: str) -> None:
    """Raise Refused if a version may not be entered or challenged in a game, because it is not accepted there, or its bot is paused or retired."""
    if version.status != VersionStatus.ACCEPTED:
        raise Refused(
            "{version} is {status}; only versions that passed their validation can be entered",
            version=version,
            status=VersionStatus(version.status).label,
        )
    if version.bot.state != BotState.ACTIVE:
        raise Refused(
            "the bot {bot!r} is {state}; its owner can make it active again",
            bot=version.bot.slug,
            state=BotState(version.bot.state).label,
        )
    if game in version.refused:
        raise Refused(
            "{version} is not accepted for {game}: its validation found a fault there; upload a new version",
            version=version,
            game=game,
        )
    if not version.plays(game):
        raise Refused(
            "{version} does not play {game}; it plays {games}",
            version=version,
            game=game,
            games=", ".join(version.games),
        )


def version_of(entrant: Bot | BotVersion, game: str | None = None) -> BotVersion:
    """Return `entrant` if it is a version; if it is a bot, the version that it sends."""
    return sent_version(entrant, game) if isinstance(entrant, Bot) else entrant


def describe(bot: Bot, text: str) -> None:
    """Set the description on the bot's page."""
    text = text.strip()
    if len(text) > 2000:
        raise Refused("the description has {length} characters; shorten it to 2000 at most", length=len(text))
    if "\0" in text:
        raise Refused("the description contains the character NUL, which cannot be stored; remove it")
    Bot.objects.filter(pk=bot.pk).update(description=text)
    bot.description = text


def set_state(bot: Bot, to: str, *, actor: str, now: datetime | None = None) -> None:
    """Pause, reactivate or retire a bot. Retirement is permanent. Repeatable. Raise Refused.

    A pause delays no match that counts and none of an event (`league.domain.matches.holds`). Challenges and tests wait, for one day at most, and not
    again within a week, since others wait with them. A retired bot enters nothing more, but its queued matches are played. Running matches are
    always finished.
    """
    now = clock.now_or(now)
    if to not in BotState.values:
        raise Refused("unknown state {to!r}; use one of {states}", to=to, states=", ".join(BotState.values))
    with transaction.atomic():
        if to != BotState.ACTIVE:
            note_leaving(bot, now=now)
        rows = Bot.objects.filter(pk=bot.pk).exclude(state__in=[BotState.RETIRED, to])
        changed = rows.update(state=to, paused_for="", retest_at=None, retests=0, held_until=None)
        is_held = 0
        if changed and to == BotState.PAUSED:
            free = Bot.objects.filter(pk=bot.pk).exclude(held_at__gt=now - HOLD_AGAIN)
            is_held = free.update(held_until=now + HOLD, held_at=now)
        if changed:
            hints.matches_wait()
            facts = {"held": True} if is_held else {}
            journal.append("bot.moved", f"bot:{bot.slug}", now=now, actor=actor, was=bot.state, to=to, **facts)
    if not changed and bot.state != to:
        raise Refused("the bot {bot!r} is retired permanently; upload under another name", bot=bot.slug)
    bot.state = to


def stop(bot: Bot, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Pause a bot as an operator until `release`: it starts no match and enters nothing, and its owner cannot resume it.

    Return True if that is new. Running matches are finished.
    """
    return _hold(bot, stopped=clock.now_or(now), why=why, actor=actor, now=clock.now_or(now))


def release(bot: Bot, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """End the pause by an operator. The bot plays again unless its owner paused it, too. Return True if something changed."""
    return _hold(bot, stopped=None, why=why, actor=actor, now=clock.now_or(now))


def _hold(bot: Bot, *, stopped: datetime | None, why: str, actor: str, now: datetime) -> bool:
    with transaction.atomic():
        rows = Bot.objects.filter(pk=bot.pk, stopped__isnull=stopped is not None)
        changed = bool(rows.update(stopped=stopped, stopped_for=why if stopped else ""))
        if changed:
            hints.matches_wait()
            word = "bot.stopped" if stopped else "bot.let_go"
            journal.append(word, f"bot:{bot.slug}", now=now, actor=actor, why=why)
    bot.refresh_from_db(fields=["stopped", "stopped_for"])
    return changed


def release_held(*, now: datetime | None = None) -> int:
    """End the pauses that have kept queued matches for HOLD, so that these matches are played; return the number of bots."""
    now = clock.now_or(now)
    ended = 0
    for bot in Bot.objects.filter(held_until__lte=now).order_by("pk"):
        with transaction.atomic():
            if Bot.objects.filter(pk=bot.pk, held_until__lte=now).update(held_until=None):
                journal.append("bot.hold_ended", f"bot:{bot.slug}", now=now)
                ended += 1
    return ended


def choose_version(bot: Bot, number: int | None, *, actor: str, now: datetime | None = None) -> None:
    """Choose the accepted version that a bot sends to tournaments; None: always its newest. Raise Refused for any other version.

    Running tournaments keep their versions. Repeatable.
    """
    now = clock.now_or(now)
    chosen = None
    if number is not None:
        chosen = bot.versions.filter(number=number).first()
        if chosen is None or chosen.status != VersionStatus.ACCEPTED:
            raise Refused("{bot} has no accepted version {number}; choose an accepted one", bot=bot.slug, number=number)
    with transaction.atomic():
        row = Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        was = row.sends_id
        if was != (chosen.pk if chosen else None):
            Bot.objects.filter(pk=bot.pk).update(sends=chosen)
            journal.append("bot.sends", f"bot:{bot.slug}", now=now, actor=actor, version=number)
    bot.sends = chosen
