"""Pages of bots, their versions and uploads, some parts of which only the owner sees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Max, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

import engine
from engine.packages import archive
from engine.rules.terms import GAME_SCORE
from engine.runner import Limits, PackageRefused, tracebacks
from league.domain.audits import results
from league.domain.bots import bots as domain
from league.domain.bots import builds, challenges, consent, fetches, languages, packages, sources, teams, totals
from league.domain.core import paging
from league.domain.core.counts import count_of, value_of
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.judgements import summing
from league.domain.ladders import climbs, version_tests
from league.domain.matches import encounters, replays, sight, validation
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.remote import links
from league.enums import BotState, EntryPolicy, MatchKind, MatchStatus, VersionStatus
from league.models import Bot, BotOffer, BotVersion, Check, Match, Party, Player, Pool, Rating, RatingPoint
from league.service import changes, topics
from league.web.bots import charts, pictures
from league.web.bots.encounters import encounter_lines
from league.web.bots.forms import SubmitForm
from league.web.bots.highlights import highlights
from league.web.bots.losses import costly_sittings, last_loss
from league.web.common import inputs, lists
from league.web.common.engine_texts import translated
from league.web.common.history import lines_of
from league.web.common.pools import chosen_pool
from league.web.common.viewers import known_bot, own_bot, player_of, user_of, viewer_of

BY_NAME = paging.Order(("slug",), (str,))
MOST_POINTS = 2000  # The most points of one rating chart.
MOST_VERSIONS = 12  # The most versions of one bot in one pool.
MOST_OPEN = 5  # The most tournaments open for entries.
MOST_MATCHES = 24  # Number of latest matches of a bot in which its last loss is looked for.
FIRST_MATCHES = 6  # Number of matches on the overview.
FIRST_GAMES = 6  # Number of games on the overview.
TABS = ("overview", "games", "leagues", "matches", "versions", "history", "settings")
NEEDS = {"history": BotAct.LOOK, "settings": BotAct.MANAGE}  # The right that a viewer needs to see a tab.
MOST_MATCHES_OF_TWO = 20  # Number of latest matches of two bots against each other.


@changes.kept_until(changes.BOTS)
def bots(request: HttpRequest) -> HttpResponse:
    """List all bots by name; `?q=` searches. One query."""
    rows = sight.bots(Bot.objects.select_related("owner", "team"), user_of(request)).annotate(
        uploads=count_of(BotVersion.objects.all(), "bot"),
        last=value_of(BotVersion.objects.all(), "bot", Max("created")),
    )
    text = inputs.short_text(request.GET.get("q", ""), 40)
    if text:
        rows = rows.filter(slug__icontains=text)
    return render(request, "bots/bots.html", {"page": lists.page_of(request, rows, BY_NAME), "q": text})


@changes.kept_until(changes.BOTS, changes.AUDITS, changes.MATCHES, changes.POOLS, changes.PLAYED, changes.JUDGEMENTS)
def bot(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a bot in tabs (`?tab=`): overview, games (the pool in `?pool=`), matches, versions, and for its people history and settings.

    At most 30 queries.
    """
    bot = known_bot(request, slug)
    can = ownership.acts_of(viewer_of(request), bot)
    owned = BotAct.UPLOAD in can
    topics.follow(request, topics.of_bot(bot.pk), changes.POOLS)
    tab = request.GET.get("tab", "games" if "pool" in request.GET else "")
    tab = tab if tab in TABS and NEEDS.get(tab) in {None, *can} else TABS[0]
    versions = list(bot.versions.order_by("-number").select_related("package").defer("package__data"))
    newest = next((version for version in versions if version.status == VersionStatus.ACCEPTED), None)
    context: dict[str, Any] = {
        "bot": bot,
        "owned": owned,
        "can": {act.value for act in can},
        "tab": tab,
        "versions": versions,
        "newest": newest,
        "remote": links.state(bot) if bot.is_remote and owned else None,
    }
    match tab:
        case "games":
            context |= _games(request, bot)
        case "matches":
            rows = _played(request, bot)
            context |= {"page": lists.page_of(request, lists.with_parties(rows))}
            context |= _challenge_form(viewer_of(request), bot, versions)
        case "leagues":
            context |= _climbs(bot, request.GET.get("game", ""))
        case "versions":
            audited = {pk for pk, summary in results.summaries(versions).items() if summary.reproducible}
            context |= {"reproducible": audited, "version_tests": list(version_tests.list_tests(bot))}
        case "history":
            history = lists.page_of(request, teams.history(bot))
            context |= {"page": history, "lines": lines_of(history, viewer_of(request))}
        case "settings":
            context |= {"policies": EntryPolicy.choices, "ladders": settings.LADDERS}
            context["may_keep"] = not bot.in_class and not domain.why_not_in_class(bot)
            context["fetches"] = bool(fetches.hosts())
            context["offer"] = BotOffer.objects.select_related("receiver").filter(bot=bot).first()
        case _:
            context |= _overview(request, bot, versions, newest, owned=owned)
    return render(request, "bots/bot.html", context)


def _played(request: HttpRequest, bot: Bot) -> QuerySet[Match]:
    """Return the matches of a bot that the viewer may see, except those of validations."""
    rows = sight.matches(Match.objects.all(), user_of(request)).filter(parties__version__bot=bot).distinct()
    return rows.exclude(kind=MatchKind.VALIDATION)


@dataclass
class GameLine:
    """The rating and the results of a bot in one pool."""

    pool: Pool
    rating: Rating | None = None
    result: totals.PoolResult | None = None


def _game_lines(ratings: Iterable[Rating], results_by_pool: Iterable[totals.PoolResult]) -> list[GameLine]:
    """Combine ratings and results, the pools with most boards first."""
    lines = {result.pool.pk: GameLine(result.pool, result=result) for result in results_by_pool}
    for rating in ratings:
        lines.setdefault(rating.pool_id, GameLine(rating.pool)).rating = rating
    return list(lines.values())


def _climbs(bot: Bot, game: str = "") -> dict[str, Any]:
    """Return the leagues of a bot, one of them (in `game`, else the first), and the boards of its test that cost most. Seven queries at most."""
    by_game = climbs.climbs_of_bot(bot)
    chosen = next((climb for climb in by_game if climb.rung.game == game), by_game[0] if by_game else None)
    if chosen is None:
        return {}
    costly = costly_sittings(climbs.costly_boards(chosen.test.test)) if chosen.test else []
    return {"climbs": by_game, "climb": chosen, "costly": costly, "digits": climbs.digits(chosen.rung.game)}


def _overview(
    request: HttpRequest, bot: Bot, versions: Iterable[BotVersion], newest: BotVersion | None, *, owned: bool
) -> dict[str, Any]:
    """Return the last loss and other answers for the owner, the first games and the latest matches."""
    ratings = list(_ratings(bot))
    lines = _game_lines(ratings, totals.results_of(bot))
    matches = list(lists.with_parties(_played(request, bot).order_by("-id"))[:MOST_MATCHES])
    pool = lines[0].pool if lines else None
    history = _history(bot, pool) if pool else []
    context: dict[str, Any] = {
        "picture": pictures.of_bot(bot, [line.rating for line in lines if line.rating], history),
        "lines": lines[:FIRST_GAMES],
        "all_lines": len(lines),
        "matches": matches[:FIRST_MATCHES],
        "pool": pool,
        "chart": charts.rating_chart(reversed(history)),
    }
    tests = list(version_tests.list_tests(bot)) if newest is not None and newest.number > 1 else []
    of_newest = [shown_test for shown_test in tests if shown_test.test.version_id == tests[0].test.version_id]
    context["origins"] = sources.origins(bot) if any(row.origin_id for row in versions) else []
    newest_open = next((row for row in versions if row.opened), None)
    context["forks"] = sources.forks(bot, user_of(request)).count() if newest_open else 0
    context["open_version"] = newest_open if bot.stopped is None else None
    context["test"] = max(of_newest, key=lambda shown_test: shown_test.boards, default=None)
    context["tests"] = len(of_newest)
    context |= _climbs(bot)
    if owned:
        context["loss"] = last_loss(bot, matches)
        if newest is not None:
            context |= _next_steps(newest, user_of(request))
    return context


def _games(request: HttpRequest, bot: Bot) -> dict[str, Any]:
    """Return all games of a bot; for one of them also history, style, and the best and worst boards."""
    ratings = list(_ratings(bot))
    lines = _game_lines(ratings, totals.results_of(bot))
    pool = chosen_pool([line.pool for line in lines], request.GET.get("pool", ""))
    context: dict[str, Any] = {"lines": lines, "pools": [line.pool for line in lines], "pool": pool}
    if pool is None:
        return context
    points = _history(bot, pool)
    return context | {
        "chart": charts.rating_chart(reversed(points)),
        "by_version": _by_version(bot, pool),
        "highlights": highlights(pool, points),
        "judged": summing.of_bot(bot, pool),
        "judged_size": GAME_SCORE if engine.load(pool.game).score_unit == "games" else 1,
        "encounters": encounter_lines(bot, pool),
        "manner": totals.manner_of(bot, pool),
    }


def _ratings(bot: Bot) -> QuerySet[Rating]:
    return Rating.objects.filter(version__bot=bot, listed=True).select_related("pool", "version").order_by("pk")


def _challenge_form(viewer: Player | None, bot: Bot, versions: Iterable[BotVersion]) -> dict[str, object]:
    """Return the viewer's bots, and the games in which they may challenge this bot. Two queries for a viewer who is logged in."""
    accepted = [version for version in versions if version.status == VersionStatus.ACCEPTED]
    if viewer is None or not accepted or bot.state != BotState.ACTIVE:
        return {}
    playable = BotVersion.objects.filter(status=VersionStatus.ACCEPTED).order_by("-number").only("bot", "number")
    able = Bot.objects.filter(
        ownership.owned(viewer, BotAct.ENTER), state=BotState.ACTIVE, versions__status=VersionStatus.ACCEPTED
    ).distinct()
    able = able.prefetch_related(Prefetch("versions", playable, to_attr="accepted"))
    games = [
        (key, len(engine.load(key).sides)) for key in engine.games() if any(version.plays(key) for version in accepted)
    ]
    return {
        "challengers": able.order_by("slug"),
        "challenge_games": games,
        "challenge_others": max((sides for _, sides in games), default=2) - 2,
        "challenge_versions": accepted,
        "challenge_boards": challenges.BOARDS,
        "challenge_most": challenges.MOST_BOARDS,
    }


@login_required
@require_POST
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """Challenge a bot (in some games several bots) to an unrated match, then go to the match."""
    bot = known_bot(request, slug)
    own_slug, _slash, own_number = inputs.short_text(request.POST.get("with", ""), 60).partition("/")
    own: Bot | BotVersion = get_object_or_404(Bot, slug=own_slug)
    if own_number:  # One of the player's own versions, such as "rufo/1".
        own_versions = BotVersion.objects.select_related("bot").filter(bot__slug=own_slug)
        own = get_object_or_404(own_versions, number=inputs.whole_number(own_number) or 0)
    number = inputs.whole_number(request.POST.get("version"))
    rival = get_object_or_404(bot.versions.select_related("bot"), number=number) if number else bot
    boards = inputs.whole_number(request.POST.get("boards")) or 0
    others = inputs.short_text(request.POST.get("others", ""), 400).replace(",", " ").split()
    try:
        rivals = [rival, *(inputs.bot_named(name, user_of(request)) for name in others)]
        match = challenges.challenge(player_of(request), own, rivals, request.POST.get("game", "")[:30], boards)
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect("encounter", slug, slug) if bot.slug == own_slug else redirect("bot", slug=slug)
    return redirect("match", public_id=match.public_id)


def _next_steps(version: BotVersion, owner: User | None) -> dict[str, object]:
    """Return where an accepted version can play next: open tournaments, and a duel in its first game with two sides."""
    plays = [key for key in version.games or ["partnership", *engine.games()] if version.plays(key)]
    duel = next((key for key in plays if len(engine.load(key).sides) == 2), None)
    games = plays if version.games or version.refused else []
    return {"open_tournaments": list(lists.open_tournaments(games, owner)[:MOST_OPEN]), "duel": duel}


@never_cache
@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to the comparison of a bot with the bot named in `?with=`; if there is none, back to the bot with the reason."""
    bot = known_bot(request, slug)
    name = inputs.short_text(request.GET.get("with", ""), 40).strip()
    try:
        other = inputs.bot_named(name, user_of(request))
    except Refused as refusal:
        messages.error(request, shown(refusal))
        return redirect("bot", slug=slug)
    return redirect("encounter", slug=bot.slug, other=other.slug)


@changes.kept_until(changes.BOTS, changes.MATCHES, changes.POOLS)
def encounter(request: HttpRequest, slug: str, other: str) -> HttpResponse:
    """Show two bots against each other, pool by pool (the first few, and the one in `?pool=`), with their latest matches. Seven queries."""
    bot, rival = known_bot(request, slug), known_bot(request, other)
    if bot == rival:
        return _own_versions(request, bot)
    by_pool = encounters.list_encounters(bot, rival)
    selected = request.GET.get("pool", "")
    detailed = next(
        (meeting for meeting in by_pool if str(meeting.pool.pk) == selected), by_pool[0] if by_pool else None
    )
    newest = detailed.matches[:MOST_MATCHES_OF_TWO] if detailed else []
    matches = lists.with_parties(Match.objects.filter(public_id__in=newest).order_by("-finished", "-id"))
    context = {
        "bot": bot,
        "rival": rival,
        "encounters": [(encounter, 2 if encounter.size > 1 else 1) for encounter in by_pool],
        "one": detailed,
        "digits": 2 if detailed and detailed.size > 1 else 1,
        "chart": charts.score_curve(detailed.course, detailed.size) if detailed else None,
        "matches": matches[:MOST_MATCHES_OF_TWO],
    }
    return render(request, "bots/encounter.html", context)


def _own_versions(request: HttpRequest, bot: Bot) -> HttpResponse:
    """Show the versions of one bot against each other: the league's version tests, and for the owner a duel of any two."""
    versions = list(
        bot.versions.filter(status=VersionStatus.ACCEPTED).order_by("-number").only("number", "games", "refused")
    )
    context: dict[str, Any] = {
        "bot": bot,
        "versions": versions,
        "version_tests": list(version_tests.list_tests(bot)),
        "owned": ownership.may(viewer_of(request), bot, BotAct.ENTER),
        "games": [
            key
            for key in engine.games()
            if len(engine.load(key).sides) == 2 and any(version.plays(key) for version in versions)
        ],
        "boards": challenges.MOST_BOARDS,
    }
    return render(request, "bots/versions_compared.html", context)


def _history(bot: Bot, pool: Pool) -> list[RatingPoint]:
    """Return the latest points of the bot's history in a pool, newest first. One query."""
    newest = (
        RatingPoint.objects.filter(version__bot=bot, pool=pool)
        .select_related("version", "match")
        .order_by("-at", "-id")
    )
    return list(newest.defer("match__secret")[:MOST_POINTS])


def _by_version(bot: Bot, pool: Pool) -> list[tuple[Rating, float | None]]:
    """Return the latest versions in a pool, newest first, each with its Elo minus that of the previous one. One query."""
    rows = Rating.objects.filter(version__bot=bot, pool=pool).select_related("version").order_by("-version__number")
    rated = list(rows[: MOST_VERSIONS + 1])
    if not rated:
        return []
    changes = [newer.elo - older.elo for newer, older in pairwise(rated)]
    return list(zip(rated, [*changes, None], strict=True))[:MOST_VERSIONS]


@login_required
@require_POST
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the description, settings or state of the player's own bot."""
    bot, viewer = own_bot(request, slug, BotAct.MANAGE)
    try:
        if "description" in request.POST:
            domain.describe(bot, request.POST["description"])
        if "sends" in request.POST:
            number = request.POST["sends"]
            domain.choose_version(bot, inputs.whole_number(number) if number else None, actor=viewer.name)
        if "entry_policy" in request.POST:
            consent.set_policy(bot, request.POST["entry_policy"], actor=viewer.name)
        if "in_class" in request.POST:
            (domain.keep_in_class if request.POST["in_class"] == "1" else domain.show)(bot, actor=viewer.name)
        if "on_ladders" in request.POST:
            consent.let_on_ladders(bot, on=request.POST["on_ladders"] == "1", actor=viewer.name)
        if "offered_as_boss" in request.POST:
            consent.offer_as_boss(bot, on=request.POST["offered_as_boss"] == "1", actor=viewer.name)
        if "state" in request.POST:
            domain.set_state(bot, request.POST["state"], actor=viewer.name)
        messages.success(request, _("Saved."))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect(f"{reverse('bot', args=[slug])}?tab=settings")


@changes.kept_until(changes.BOTS, changes.AUDITS, changes.MATCHES)
def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show an upload: its state and, if it was rejected, the reason."""
    bot = known_bot(request, slug)
    topics.follow(request, topics.of_bot(bot.pk))
    rows = bot.versions.select_related("package", "build", "fetch", "origin__bot").defer(
        "package__data", "build__result", "fetch__result"
    )
    upload = get_object_or_404(rows, number=number)
    if upload.status != VersionStatus.VALIDATING:
        topics.leave(request)
    viewer = viewer_of(request)
    can = ownership.acts_of(viewer, bot)
    owned = BotAct.LOOK in can
    trials = lists.with_parties(
        Match.objects.filter(
            kind=MatchKind.VALIDATION, parties__version=upload, key__startswith=f"v:{upload.pk}:"
        ).distinct()
    ).order_by("id")
    # The upload is party 0 of its validation matches; the same version may hold the other seats.
    tried = {
        party.match_id: party
        for party in Party.objects.filter(match__in=trials, number=0).select_related("version__bot")
    }
    checks = validation.last_checks(upload)
    failed_checks = [check for check in checks if check.fault]
    faulty = {check.match_id for check in failed_checks}
    waiting = upload.status == VersionStatus.VALIDATING
    shown_trials = [
        match for match in trials if match.pk in faulty or (match.pk in tried and not checks and not waiting)
    ]
    views = [(match, replays.party_view(tried[match.pk], viewer)) for match in shown_trials]
    context: dict[str, object] = {
        "bot": bot,
        "version": upload,
        "owned": owned,
        "is_author": BotAct.CODE in can,
        "is_open": upload.opened is not None and bot.stopped is None,
        "fetch": getattr(upload, "fetch", None),
        "origin": upload.origin,
        "editable": languages.language_of(upload) is not None,
        "one_file": languages.language_of(upload) is not None or packages.is_one_text(upload),
        "checks": checks,
        "failed_checks": failed_checks,
        "passed": len(checks) - len(failed_checks),
        "games_played": [game for game in validation.games(upload) if upload.plays(game)],
        "games_tried": validation.games(upload),
        "ladders": settings.LADDERS and bot.on_ladders and not bot.in_class and bot.state == BotState.ACTIVE,
        "audits": results.summaries([upload])[upload.pk],
        "trials": views,
        "waiting": waiting,
        "plays_on": upload.status == VersionStatus.REJECTED
        and bot.versions.filter(status=VersionStatus.ACCEPTED).exists(),
    }
    build = getattr(upload, "build", None)
    if build is not None:
        context["build"] = build
        context["rebuilding"] = not waiting and build.finished is None
        if waiting and upload.source_id is None:
            topics.follow(request, changes.BOTS)
            context["building"] = True
            if reason := builds.why_waiting(upload):
                context["why_waiting"] = shown(reason)
    if waiting and (course := validation.course(upload)) is not None:
        topics.follow(request, topics.of_match(course.match.public_id))
        context["course"] = course
    if owned and upload.status == VersionStatus.ACCEPTED:
        context |= _next_steps(upload, user_of(request))
    elif owned and upload.status == VersionStatus.REJECTED:
        context |= _failed(checks, views)
    return render(request, "bots/version.html", context)


def _failed(checks: list[Check], trials: list[tuple[Match, replays.PartyView]]) -> dict[str, str]:
    """Return the decisive log lines of a rejected upload; if the fault happened on a board, also the match that reproduces it."""
    for match, view in trials:
        first = next((check for check in checks if check.fault and check.match_id == match.pk), None)
        if (first or view.party.fault) and match.status == MatchStatus.FINISHED:
            repeats = match.public_id if view.party.fault else ""
            return {"failed": repeats, "verdict": tracebacks.verdict(view.stderr)}
    return {}


@never_cache
@login_required
def submit(request: HttpRequest) -> HttpResponse:
    """Show the form, or accept the upload and go to the page of the new version."""
    player = player_of(request)
    form = SubmitForm(request.POST or None, request.FILES or None, initial={"bot": request.GET.get("bot", "")})
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                data = file.read(archive.MAX_BYTES + 1)  # One extra byte is enough to refuse it.
                games = form.cleaned_data["games"] or None
                version = domain.upload(player, form.cleaned_data["bot"].strip(), data, file.name, games)
            except TooMany as refusal:
                form.add_error(None, shown(refusal))
                status = 429
            except domain.NameRefused as refusal:
                form.add_error("bot", shown(refusal))
            except PackageRefused as refusal:
                form.add_error("file", translated(str(refusal)) or str(refusal))
            except Refused as refusal:
                form.add_error("file", shown(refusal))
            else:
                name = form.cleaned_data["bot"].strip()
                if name and version.bot.slug != name:
                    notice = _("Your bot is called %(slug)s in lists and addresses.") % {"slug": version.bot.slug}
                    messages.success(request, notice)
                return redirect("version", slug=version.bot.slug, number=version.number)
    context = {
        "form": form,
        "mine": Bot.objects.filter(ownership.owned(player, BotAct.UPLOAD)).order_by("slug"),
        "limits": Limits(),
        "most_bytes": archive.MAX_BYTES,
        "most_files": archive.MAX_FILES,
        "per_hour": settings.UPLOADS_PER_HOUR,
        "built": builds.languages_now(),
    }
    return render(request, "bots/submit.html", context, status=status)
