"""The commands of operators, built from the declarations in league.domain.operators.actions."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import translation

from league.domain.core.errors import shown
from league.domain.operators import acting
from league.domain.operators.actions import ACTIONS, Action
from league.management.base import LeagueCommand, find_player


class ActionCommand(LeagueCommand):
    """A command for one `action`. Required fields are positional arguments after the subject, the other fields are options."""

    action: Action

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Take help and example from the action."""
        with translation.override("en"):
            self.help = f"{shown_text(self.action.title)}. {shown_text(self.action.sentence)}. --dry-run shows what it would do."
        self.example = (
            f"manage.py {self.action.command} {self.action.example} --why 'a reason that everybody may read' --dry-run"
        )
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        forms = {"match": "a match by its id", "tournament": "a tournament", "event": "an event", "bot": "a bot"}
        kinds = " or ".join(f"{kind}:NAME" for kind in self.action.kinds) if len(self.action.kinds) > 1 else ""
        subject_help = kinds or forms.get(self.action.kinds[0], f"a {self.action.kinds[0]}")
        parser.add_argument("subject", nargs="+" if self.action.many else 1, help=subject_help)
        for field in self.action.fields:
            name = field.name if field.required else f"--{field.name}"
            parser.add_argument(name, help=", ".join(field.choices) or field.help)
        parser.add_argument("--why", required=True, help="the reason, for the journal and the people concerned")
        parser.add_argument(
            "--by",
            metavar="PLAYER",
            help="act as this operator, with their rights; by default as the administrator of the machine",
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")

    def run(self, **options: Any) -> None:
        """Carry out the action and print its effects."""
        values = {field.name: options[field.name] or "" for field in self.action.fields}
        operator = find_player(options["by"]) if options["by"] else None
        outcome = acting.act(
            self.action.name,
            options["subject"],
            values,
            why=options["why"],
            operator=operator,
            dry_run=options["dry_run"],
        )
        self.say("nothing was changed; without --dry-run this would happen:" if options["dry_run"] else "done:")
        with translation.override("en"):
            for effect in outcome.effects:
                self.say(f"  {shown(effect)}")
        if not outcome.effects:
            self.say("  no change: already in that state")


def shown_text(text: str) -> str:
    """Return a text of an action as a sentence of the help."""
    return text.rstrip(".").replace("%", "%%")


def action_command(name: str) -> type[ActionCommand]:
    """Return the command for an action."""
    return type("Command", (ActionCommand,), {"action": ACTIONS[name]})
