"""Events of several stages, circuits and their seasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, user_of, viewer_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.api.tournaments import rows
from league.api.tournaments.event_serializers import (
    CircuitChange,
    CircuitNew,
    CircuitOut,
    EntrantNew,
    EventDetail,
    EventNew,
    EventOut,
    JoinByLink,
    JoinNew,
    LinkNew,
    SeasonOut,
    TermsNew,
)
from league.api.tournaments.request_serializers import RequestOut
from league.api.tournaments.serializers import EmbargoNew
from league.api.tournaments.views import asked
from league.domain.core import paging
from league.domain.matches import embargoes, sight
from league.domain.people.ownership import BotAct
from league.domain.tournaments import circuits, events, releases
from league.enums import TokenScope
from league.models import Bot, Circuit, Event, Player, Season, Tournament
from league.service import changes


def _events(viewer: User | None) -> QuerySet[Event]:
    """Return the events that `viewer` may know of, each with the tournaments that they may see."""
    return rows.events(sight.events(Event.objects.all(), viewer), sight.tournaments(Tournament.objects.all(), viewer))


def _one(request: Request, slug: str) -> Event:
    return existing(_events(user_of(request)).filter(slug=slug).first())


def _manager(view: ApiView, event: Event) -> Player:
    """Return the caller if they manage the event; otherwise raise PermissionDenied."""
    player = player_of(view.request)
    return player if sight.manages(event, player.user) else view.owner_only(event.owner, f"the event {event.slug}")


def _circuit(slug: str) -> Circuit:
    return existing(rows.circuits().filter(slug=slug).first())


def bots_named(names: list[str], player: Player) -> list[Bot]:
    """Return these bots in this order, as far as the player may know of them. Raise ValidationError, which names the missing ones."""
    bots = {
        bot.slug: bot
        for bot in sight.bots(Bot.objects.select_related("owner__user"), player.user).filter(slug__in=names)
    }
    missing = [name for name in names if name not in bots]
    if missing:
        texts = [message("there is no bot {name!r}; /api/v1/bots lists all bots", name=name) for name in missing]
        raise ValidationError({"bots": texts})
    return [bots[name] for name in names]


class EventsView(ListView):
    """/events"""

    kept_until = (changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)

    queryset = Event.objects.none()
    serializer_class = EventNew

    @operation("list_events", "List events of several stages, newest first", responses=EventOut(many=True))
    def get(self, request: Request) -> Response:
        """List events, each with its document and the tournaments of its stages so far."""
        return self.page(_events(user_of(request)), EventOut)

    @operation("create_event", "Create an event and start its first stage", parameters=[KEY], responses={201: EventOut})
    @once
    def post(self, request: Request) -> Response:
        """Create an event. Messages about errors in the document name the place.

        If owners of bots have to agree first, the event is `open` until you start it.
        """
        player, data = player_of(request), self.body()
        with transaction.atomic():
            terms = releases.ReleaseTerms(
                data["audience"], data["private"], data["release"], data["pace_s"], data["due"]
            )
            entrants = bots_named(data["bots"], player)
            event = events.create(player, data["document"], entrants, message=data["message"], terms=terms)
        answer = EventOut(_one(request, event.slug), context={"viewer": player}).data
        return self.created(answer, "event", event.slug)


class OneEventView(ApiView):
    """/events/{slug}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the event, its tournaments with their matches, and its bots."""
        # Read these counters before the tournaments of the event.
        changes.keep_until(self.request._request, changes.EVENTS, changes.TOURNAMENTS, changes.BOTS)
        return [changes.of_tournament(pk) for pk in sight.find_stages(params["slug"])]

    serializer_class = EventDetail

    @operation("get_event", "Read an event")
    def get(self, request: Request, slug: str) -> Response:
        """Read one event, with the matches for which it waits."""
        return Response(EventDetail(_one(request, slug), context={"viewer": viewer_of(request)}).data)


class StartEventView(ApiView):
    """/events/{slug}/start"""

    serializer_class = EventOut

    @operation("start_event", "Start your open event", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Start with the bots whose owners agree; open requests expire. Repeatable."""
        event = _one(request, slug)
        events.start(event, actor=_manager(self, event).name)
        return Response(EventOut(_one(self.request, event.slug), context={"viewer": player_of(self.request)}).data)


class CancelEventView(ApiView):
    """/events/{slug}/cancel"""

    serializer_class = EventOut

    @operation("cancel_event", "Cancel your open event", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Cancel an event that has not started; to end a running one, cancel the tournament of its stage. Repeatable."""
        event = _one(request, slug)
        events.cancel(event, actor=_manager(self, event).name)
        return Response(EventOut(_one(self.request, event.slug), context={"viewer": player_of(self.request)}).data)


class EmbargoOfEventView(ApiView):
    """/events/{slug}/embargo"""

    serializer_class = EmbargoNew

    @operation("hold_back_event", "Hide the replays of your event", responses=EventOut)
    def post(self, request: Request, slug: str) -> Response:
        """Hide the replays and secrets of all stages until a time. Results are shown. Repeatable."""
        event = _one(request, slug)
        player = self.owner_only(event.owner, f"the event {slug}")
        embargoes.change_own(event, self.body()["until"], owner=player)
        return Response(EventOut(_one(self.request, event.slug), context={"viewer": player_of(self.request)}).data)


class ShowEventView(ApiView):
    """/events/{slug}/show"""

    serializer_class = TermsNew

    @operation("show_event", "Set to whom your event is shown, and when", responses=EventOut)
    def post(self, request: Request, slug: str) -> Response:
        """Set audience, release and start.

        After the event has begun it can only be opened further: the audience `public` shows everything now. 409 if it has already been shown.
        """
        event = _one(request, slug)
        player = _manager(self, event)
        data = self.body()
        terms = releases.ReleaseTerms(data["audience"], event.private, data["release"], data["pace_s"], data["due"])
        releases.change(event, terms, actor=player.name)
        return Response(EventOut(_one(request, slug), context={"viewer": player}).data)


class LinkOfEventView(ApiView):
    """/events/{slug}/link"""

    serializer_class = LinkNew

    @operation("renew_link", "Replace or remove the link of your private event", responses=EventOut)
    def post(self, request: Request, slug: str) -> Response:
        """Replace the link, or remove it. The old link stops working; people who have joined stay."""
        event = _one(request, slug)
        player = self.owner_only(event.owner, f"the event {slug}")
        releases.renew(event, actor=player.name, close=self.body()["close"])
        return Response(EventOut(_one(request, slug), context={"viewer": player}).data)


class JoinEventView(ApiView):
    """/events/{slug}/join"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = JoinByLink

    @operation("join_event", "Join a private event by its link", responses=EventOut)
    def post(self, request: Request, slug: str) -> Response:
        """Join with the last part of the link, in `link`. 404 if the link is no longer valid. Repeatable."""
        player = player_of(request)
        existing(releases.join(slug, self.body()["link"], player))
        return Response(EventOut(_one(request, slug), context={"viewer": player}).data)


class BotsOfEventView(ApiView):
    """/events/{slug}/bots"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = EntrantNew

    @operation("enter_event", "Enter your bot in a private event before its start", responses=EventOut)
    def post(self, request: Request, slug: str) -> Response:
        """Enter a bot; the version that is current when the event starts will play. `leave` withdraws it. Repeatable."""
        event, player = _one(request, slug), player_of(request)
        data = self.body()
        [bot] = bots_named([data["bot"]], player)
        if not data["leave"] or not sight.manages(event, player.user):
            self.allowed(bot, BotAct.ENTER, f"the bot {bot.slug}")
        (events.leave if data["leave"] else events.enter)(event, bot, player)
        return Response(EventOut(_one(request, slug), context={"viewer": player}).data)


class CircuitsView(ListView):
    """/circuits"""

    kept_until = (changes.EVENTS, changes.BOTS)

    queryset = Circuit.objects.none()
    serializer_class = CircuitNew

    @operation("list_circuits", "List recurring leagues, newest first", responses=CircuitOut(many=True))
    def get(self, request: Request) -> Response:
        """List recurring leagues, each with its calendar and its bots."""
        return self.page(rows.circuits(), CircuitOut)

    @operation("create_circuit", "Create a recurring league", parameters=[KEY], responses={201: CircuitOut})
    @once
    def post(self, request: Request) -> Response:
        """Create a recurring league. Its first season begins at the next time in its calendar."""
        data = dict(self.body())
        circuit = circuits.create(player_of(request), data.pop("name"), data.pop("game"), **data)
        return self.created(CircuitOut(_circuit(circuit.slug)).data, "circuit", circuit.slug)


class OneCircuitView(ApiView):
    """/circuits/{slug}"""

    kept_until = (changes.EVENTS, changes.BOTS)

    serializer_class = CircuitOut

    @operation("get_circuit", "Read a recurring league")
    def get(self, request: Request, slug: str) -> Response:
        """Read one recurring league by its slug."""
        return Response(CircuitOut(_circuit(slug)).data)

    @operation("change_circuit", "Pause or resume your recurring league", request=CircuitChange, responses=CircuitOut)
    def patch(self, request: Request, slug: str) -> Response:
        """Pause or resume a recurring league. A running season is not affected."""
        circuit = _circuit(slug)
        player = self.owner_only(circuit.owner, f"the circuit {slug}")
        body = CircuitChange(data=request.data)
        body.is_valid(raise_exception=True)
        circuits.set_active(circuit, body.validated_data["active"], actor=player.name)
        return Response(CircuitOut(_circuit(slug)).data)


class CircuitBotsView(ApiView):
    """/circuits/{slug}/bots"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}

    serializer_class = JoinNew

    @operation("join_circuit", "Add a bot from the next season on", responses={200: CircuitOut, 202: RequestOut})
    def post(self, request: Request, slug: str) -> Response:
        """Add a bot. Each season takes the version that the bot sends. Repeatable.

        As the owner of the circuit you may add any bot whose owner agrees; if the owner has to be asked first, the response is 202 with the
        request.
        """
        circuit, data, player = _circuit(slug), self.body(), player_of(request)
        [bot] = bots_named([data["bot"]], player)
        if player.pk != circuit.owner_id:
            self.allowed(bot, BotAct.ENTER, f"the bot {bot.slug}")
        waits = circuits.join(circuit, bot, player=player, message=data["message"])
        if waits is not None:
            return asked(waits, player)
        return Response(CircuitOut(_circuit(slug)).data)


class OneCircuitBotView(ApiView):
    """/circuits/{slug}/bots/{bot}"""

    scopes: ClassVar = {"DELETE": TokenScope.SUBMIT}

    serializer_class = CircuitOut

    @operation("leave_circuit", "Remove a bot from the next season on", responses={204: None})
    def delete(self, request: Request, slug: str, bot: str) -> Response:
        """Remove a bot, as its owner or the owner of the circuit. It still finishes the current season."""
        circuit = _circuit(slug)
        row = existing(circuit.bots.defer(None).select_related("owner__user").filter(slug=bot).first())
        player = player_of(request)
        if player.pk != circuit.owner_id:
            self.allowed(row, BotAct.ENTER, f"the bot {bot}")
        circuits.leave(circuit, row, player=player)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SeasonsView(ListView):
    """/circuits/{slug}/seasons"""

    kept_until = (changes.EVENTS, changes.TOURNAMENTS)

    queryset = Season.objects.none()
    serializer_class = SeasonOut
    page_order = paging.Order.by("-number")

    @operation("list_seasons", "List the seasons, newest first")
    def get(self, request: Request, slug: str) -> Response:
        """List seasons with their divisions; skipped seasons have a reason."""
        circuit = existing(Circuit.objects.filter(slug=slug).first())
        return self.page(circuit.seasons.prefetch_related("tournaments"))
