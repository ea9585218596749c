"""Actions of operators: their list, requests and outcomes."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from league.api.http.output import Out
from league.api.http.serializers import StrictSerializer
from league.domain.core.errors import shown
from league.domain.operators.acting import MOST_REASON, MOST_SUBJECTS, ActionOutcome
from league.domain.operators.actions import ACTIONS, Action
from league.domain.people import rights
from league.enums import Right
from league.models import Player


class FieldOut(Out):
    """A field of an action besides its subjects and the reason."""

    name = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field of ours, not the attribute of Field
    help = serializers.CharField()
    choices = serializers.ListField(
        child=serializers.CharField(), help_text="Allowed values; empty: any suitable value."
    )


class ActionOut(Out):
    """An action of operators."""

    name = serializers.CharField()
    right = serializers.ChoiceField(Right.choices, help_text="The right that the action requires.")
    may = serializers.BooleanField(help_text="True if you have that right.")
    title = serializers.CharField()
    sentence = serializers.CharField()
    kinds = serializers.ListField(
        child=serializers.CharField(), help_text="The kinds of subjects that the action takes."
    )
    many = serializers.BooleanField(  # type: ignore[assignment]  # as above
        help_text="True if the action takes several subjects at once."
    )
    fields = FieldOut(many=True)  # type: ignore[assignment]  # a field of ours, not the property of Serializer


def action_out(action: Action, player: Player) -> dict[str, Any]:
    """Return the response about an action, for `player`."""
    fields = [
        {"name": field.name, "required": field.required, "help": _(field.help), "choices": list(field.choices)}
        for field in action.fields
    ]
    return {
        "name": action.name,
        "right": action.right,
        "may": rights.may(player, action.right),
        "title": _(action.title),
        "sentence": _(action.sentence),
        "kinds": list(action.kinds),
        "many": action.many,
        "fields": fields,
    }


class ActNew(StrictSerializer):
    """An action with its subjects and its reason."""

    action = serializers.ChoiceField(
        [(name, name) for name in ACTIONS], help_text="A name from GET /operators/actions."
    )
    subjects = serializers.ListField(
        child=serializers.CharField(max_length=90),
        min_length=1,
        max_length=MOST_SUBJECTS,
        help_text='Names such as "match:8f3k2pq7ab" or "bot:rufo"; the kind may be left out if the action takes only one.',
    )
    why = serializers.CharField(
        max_length=MOST_REASON, help_text="The reason, for the journal and for the players concerned."
    )
    dry_run = serializers.BooleanField(default=False, help_text="True: report what would happen, and change nothing.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, including those of all actions."""
        own = {
            field.name: serializers.CharField(required=False, allow_blank=True, max_length=60, help_text=field.help)
            for action in ACTIONS.values()
            for field in action.fields
        }
        return {**super().get_fields(), **own}


class OutcomeOut(Out):
    """The outcome of an action, or of a dry run."""

    action = serializers.CharField()
    subjects = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()
    effects = serializers.ListField(
        child=serializers.CharField(),
        help_text="One sentence for each effect; empty if everything was already as requested.",
    )


def outcome_out(name: str, outcome: ActionOutcome, *, dry_run: bool) -> dict[str, Any]:
    """Return the response about an outcome, in the active language."""
    effects = [shown(effect) for effect in outcome.effects]
    return {"action": name, "subjects": list(outcome.subjects), "dry_run": dry_run, "effects": effects}


class ActOut(Out):
    """A past action of an operator."""

    at = serializers.DateTimeField()
    subject = serializers.CharField()
    actor = serializers.CharField(help_text='Name of a player; "operator" for somebody at the machine without a name.')
    action = serializers.CharField(source="data.action")
    why = serializers.CharField(source="data.why")
    effects = serializers.ListField(
        child=serializers.CharField(), source="data.effects", help_text="The effects, in English."
    )
