"""Filters of the lists. Values are checked; the view refuses names that are not here."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from engine.choices import KINDS
from league.api.http.problems import message
from league.domain.matches import sight
from league.enums import BotState, MatchKind, MatchStatus, RequestStatus, TournamentStatus, VersionStatus
from league.models import Match, Party

MOST_ID = 2**31 - 1
MOST_IDS = 100


@extend_schema_field(OpenApiTypes.STR)
class WordFilter(filters.CharFilter):
    """A filter by an exact name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, max_length=80, **kwargs)


@extend_schema_field(OpenApiTypes.INT)
class IdFilter(filters.Filter):
    """A filter by the id of a row."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, min_value=1, max_value=MOST_ID, **kwargs)


class IdsField(forms.CharField):
    """Ids of rows, separated by commas."""

    def clean(self, value: Any) -> list[str]:
        """Return the different ids. Raise ValidationError for a text that has none, or too many."""
        ids = list(dict.fromkeys(filter(None, super().clean(value).split(","))))
        if len(ids) > MOST_IDS or (value and not ids):
            raise forms.ValidationError(message("must be 1 to {most} ids, separated by commas", most=MOST_IDS))
        return ids


@extend_schema_field(OpenApiTypes.STR)
class IdsFilter(filters.Filter):
    """A filter by the ids of several rows."""

    field_class = IdsField

    def __init__(self, **kwargs: Any) -> None:
        label = f"Ids, separated by commas, at most {MOST_IDS}."
        super().__init__(lookup_expr="in", max_length=MOST_IDS * 13, label=label, **kwargs)


class YesNo(forms.ChoiceField):
    """The words "true" and "false", nothing else."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=[("true", "true"), ("false", "false")], **kwargs)

    def clean(self, value: Any) -> bool | None:
        """Return None for an empty value."""
        text = super().clean(value)
        return None if text == "" else text == "true"


class YesNoFilter(filters.Filter):
    """A filter by true or false."""

    field_class = YesNo


def seated(path: str) -> Any:
    """Return a filter method: matches with a party whose column at `path` has the value."""

    def method(self: Any, queryset: QuerySet[Match], name: str, value: Any) -> QuerySet[Match]:
        return queryset.filter(Exists(Party.objects.filter(match=OuterRef("pk"), **{path: value})))

    return method


class PlayerFilters(filters.FilterSet):
    """The filters of /players."""

    q = WordFilter(field_name="name", lookup_expr="icontains", label="Part of the name.")


class BotFilters(filters.FilterSet):
    """The filters of /bots."""

    owner = WordFilter(field_name="owner__name", label="Name of the owner.")
    state = filters.ChoiceFilter(choices=BotState.choices)
    house = YesNoFilter(field_name="is_house", label="Whether the league ships it.")
    q = WordFilter(field_name="slug", lookup_expr="icontains", label="Part of the name.")


class VersionFilters(filters.FilterSet):
    """The filters of /versions and /bots/{slug}/versions."""

    bot = WordFilter(field_name="bot__slug", label="Name of the bot.")
    owner = WordFilter(field_name="bot__owner__name", label="Name of the owner.")
    status = filters.ChoiceFilter(choices=VersionStatus.choices)


class TournamentFilters(filters.FilterSet):
    """The filters of /tournaments."""

    status = filters.ChoiceFilter(choices=TournamentStatus.choices)
    game = WordFilter(field_name="pool__game", label="Key of the game.")
    owner = WordFilter(field_name="owner__name", label="Name of the owner.")
    pool = IdFilter(field_name="pool_id", label="Id of the pool.")


class RequestFilters(filters.FilterSet):
    """The filters of /me/requests."""

    status = filters.ChoiceFilter(choices=RequestStatus.choices)
    bot = WordFilter(field_name="bot__slug", label="Name of the bot.")
    owner = WordFilter(field_name="bot__owner__name", label="Who answers.")
    asker = WordFilter(field_name="asker__name", label="Who has asked.")


class MatchFilters(filters.FilterSet):
    """The filters of /matches."""

    id = IdsFilter(field_name="public_id")
    status = filters.ChoiceFilter(choices=MatchStatus.choices)
    kind = filters.ChoiceFilter(choices=MatchKind.choices)
    rated = YesNoFilter(field_name="rated", label="Whether it counts for ratings.")
    game = WordFilter(method="of_game", label="Key of the game.")
    pool = IdFilter(field_name="pool_id", label="Id of the pool.")
    tournament = WordFilter(method="of_tournament", label="Slug of the tournament.")
    bot = WordFilter(method="of_bot", label="Name of a bot at the table.")
    version = IdFilter(method="of_version", label="Id of a version at the table.")
    player = WordFilter(method="of_player", label="Owner of a bot at the table.")

    of_bot = seated("version__bot__slug")
    of_version = seated("version_id")
    of_player = seated("version__bot__owner__name")

    def of_game(self, queryset: QuerySet[Match], _name: str, value: str) -> QuerySet[Match]:
        """Return the matches of the pools of this game."""
        return queryset.filter(pool__in=sight.find_pools(value))

    def of_tournament(self, queryset: QuerySet[Match], _name: str, value: str) -> QuerySet[Match]:
        """Return the matches of the tournament with this slug."""
        return sight.in_tournament(queryset, value)


class BoardFilters(filters.FilterSet):
    """The filters of /boards."""

    match = IdsFilter(field_name="match__public_id", required=True)


class PoolFilters(filters.FilterSet):
    """The filters of /pools."""

    game = WordFilter(field_name="game", label="Key of the game.")
    players = IdFilter(field_name="players", label="Seats at the table.")


class RatingFilters(filters.FilterSet):
    """The filters of /versions/{id}/ratings."""

    pool = IdFilter(field_name="pool_id", label="Id of the pool.")


class ChoiceFilters(filters.FilterSet):
    """The filters of /games/{key}/choices."""

    pool = IdFilter(field_name="pool_id", label="Id of a pool of the game.")
    kind = filters.ChoiceFilter(choices=[(kind, kind) for kind in KINDS], label="Kind of choice.")
    hand = WordFilter(method="by_hand", label="Type of hand, such as t3-h2-p0; every: all hands together.")
    band = filters.TypedChoiceFilter(coerce=int, choices=[(band, str(band)) for band in range(6)], label="Rating band.")

    def by_hand(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Filter by a type of hand."""
        return rows.filter(hand="" if value == "every" else value)


class PointFilters(filters.FilterSet):
    """The filters of /pools/{id}/history."""

    version = IdFilter(field_name="version_id", label="Id of a version.")
    bot = WordFilter(field_name="version__bot__slug", label="Name of a bot.")
