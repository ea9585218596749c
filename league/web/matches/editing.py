"""The form of the editor: its fields, the text with which it begins, and the help for writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import engine
from league.domain.bots import drafts, languages, sources, tries
from league.domain.bots.languages import JAVASCRIPT, LANGUAGES, PYTHON, Language
from league.domain.core.errors import Refused
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tables import levels
from league.models import Bot, BotVersion, Player
from league.pure import sdk_help
from league.service.process_cache import computed_once
from league.web.common import families
from league.web.common.fields import set_choices
from league.web.common.inputs import short_text, whole_number
from league.web.common.options import OptionsForm, game_chosen

SDK = settings.BASE_DIR / "bots" / "sdk"
TEMPLATES = {  # Each one is a bot that can play every game.
    "first": _("First bot: wins cheaply"),
    "careful": _("Counts cards: takes what is certain"),
    "dealing": _("Deals the hidden cards: takes what is likely"),
    "bidding": _("For auctions: bids by its hand"),
    "avoiding": _("For games in which points hurt"),
}
TEXTS = {  # The file of each template, by language.
    "python": {
        "first": SDK / "template" / "bot.py",
        "careful": SDK / "templates" / "careful.py",
        "bidding": SDK / "templates" / "bidding.py",
        "avoiding": SDK / "templates" / "avoiding.py",
    },
    "javascript": {
        "first": SDK / "templates" / "first.mjs",
        "dealing": SDK / "templates" / "dealing.mjs",
        "bidding": SDK / "templates" / "bidding.mjs",
        "avoiding": SDK / "templates" / "avoiding.mjs",
    },
}
POINTS_HURT = ("middle_loses", "middle_of_three_loses", "cabron_loses", "most_points_loses_unless_101")
FIRST_TEMPLATE, FIRST_GAME, FIRST_RIVAL = "first", "partnership", "greedy"
KITS = {
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "rust": "Rust",
    "go": "Go",
    "java": "Java",
    "c": "C",
    "cpp": "C++",
}
FORM = {"form": "bot-form"}  # The fields are in several places of the page, but belong to this form.


class EditorForm(forms.Form):
    """The code and the name of a bot, the table of a try, the edited draft, and the shown try."""

    bot = forms.CharField(
        label=_("Name of the bot"),
        max_length=60,
        required=False,
        help_text=_(
            "A new name, or the name of one of your bots. Spaces and capitals are changed: My Bot becomes my-bot."
        ),
        widget=forms.TextInput(attrs={"list": "my-bots", "autocomplete": "off", "spellcheck": "false", **FORM}),
    )
    source = forms.CharField(
        label=_("Code of the bot"),
        strip=False,
        required=False,  # The domain explains what is wrong with an empty text.
        widget=forms.Textarea(
            attrs={
                "rows": 24,
                "spellcheck": "false",
                "autocapitalize": "off",
                "autocomplete": "off",
                "wrap": "off",
                **FORM,
            }
        ),
    )
    game = forms.ChoiceField(label=_("Game"), widget=forms.Select(attrs=FORM))
    rival = forms.ChoiceField(label=_("Against"), widget=forms.Select(attrs=FORM))
    games = forms.MultipleChoiceField(
        label=_("Games"),
        required=False,
        help_text=_("Choose the games that it plays. If you choose none, it plays every game."),
        widget=forms.CheckboxSelectMultiple(attrs=FORM),
    )
    language = forms.ChoiceField(
        choices=[(language.key, language.title) for language in LANGUAGES.values()],
        required=False,
        widget=forms.HiddenInput(attrs=FORM),
    )
    draft = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput(attrs=FORM))
    at = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput(attrs=FORM))  # The decision to try.
    # The try whose cards are repeated.
    cards = forms.CharField(required=False, max_length=12, widget=forms.HiddenInput(attrs=FORM))
    board = forms.IntegerField(
        required=False, min_value=1, max_value=tries.SERIES, widget=forms.HiddenInput(attrs=FORM)
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        titles = [(key, engine.load(key).title) for key in families.game_order()]
        set_choices(self, games=titles, game=families.choices(), rival=rivals())
        sent = self.data if self.is_bound else {name: str(value) for name, value in self.initial.items()}
        self.rules = OptionsForm(game_chosen(sent), self.data if self.is_bound else None, initial=self.initial)
        for field in self.rules.fields.values():
            field.widget.attrs |= FORM

    def is_valid(self) -> bool:
        """Return True if the fields and the rules of the table are valid."""
        return super().is_valid() & self.rules.is_valid()

    def clean_source(self) -> str:
        """Return the text with the line ends of Python; browsers send others."""
        text: str = self.cleaned_data["source"]
        return text.replace("\r\n", "\n")

    @property
    def written_in(self) -> Language:
        """Return the language of the text."""
        return LANGUAGES.get(str(self["language"].value() or ""), PYTHON)

    @property
    def table(self) -> tries.TryTable:
        """Return the chosen seats and options."""
        return tries.TryTable(self.rules.game.players, self.rules.cleaned_data["options"])


def rivals() -> list[tuple[str, str]]:
    """Return the house bots as choices, weakest first, each with its level."""
    order = list(levels.BOTS.values())
    names = [version.bot.slug for version in tries.rivals()]
    names.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
    return [(name, f"{name} ({level.label.lower()})" if (level := levels.of_bot(name)) else name) for name in names]


def initial_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of a table as the values of the fields of `parts/options.html`."""
    return {
        f"option_{name}": str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }


@dataclass(frozen=True)
class Beginning:
    """The text with which the editor opens.

    bot: the player's bot, None for a new one; version: the version that has this text; note: why it is not the requested text.
    """

    text: str
    language: Language
    bot: Bot | None = None
    version: BotVersion | None = None
    saved: datetime | None = None  # The time of the draft, if the text is one.
    replaced: Sequence[str] = ()  # The author's files in place of which the editor packs those of the kit.
    several: bool = False  # True if the last version has several files, which the editor cannot show.


def beginning(
    player: Player | None, bot: str, version: str, template: str, language: Language | None, game: str
) -> Beginning:
    """Return what the editor opens: a version (`rufo/3`), a template by its key, or the draft or last version of a bot, else of a new bot.

    language: the chosen one; None: that of the text changed last. If there is no text yet, the template that suits the game is opened. Raise
    Http404 for a version whose source the player may not read.
    """
    if version:
        slug, _slash, number = short_text(version, 60).partition("/")
        return _of_version(_readable_version(player, slug, whole_number(number) or 0), player)
    own = Bot.objects.filter(ownership.owned(player, BotAct.UPLOAD), slug=short_text(bot, 40)).first() if bot else None
    in_language = language or PYTHON
    if template in TEXTS[in_language.key]:
        return Beginning(template_text(template, in_language), in_language, own)
    draft = drafts.find(player, own.slug if own else drafts.NEW, language) if player else None
    last = own.versions.select_related("bot", "package").order_by("-number").first() if own else None
    if last is not None and language not in (None, languages.language_of(last)):
        last = None
    if (
        draft is not None
        and (own is not None or not bot)
        and (language or last is None or draft.updated > last.created)
    ):
        replaced = languages.replaced(last) if last is not None else ()
        return Beginning(draft.text, LANGUAGES[draft.language], own, last, draft.updated, replaced)
    if last is not None:
        return _of_version(last, player)
    return Beginning(template_text(suited(game, in_language), in_language), in_language, own)


def _of_version(version: BotVersion, player: Player | None) -> Beginning:
    """Return the text of a version; a new bot with the origin in its text, if the player only reads the version."""
    text, language = languages.text_of(version), languages.language_of(version)
    if not ownership.may(player, version.bot, BotAct.UPLOAD):
        if text is None or language is None:
            raise Http404
        return Beginning(sources.forked_text(version, text), language, version=version)
    if text is None or language is None or len(text.encode()) > tries.MOST_SOURCE:
        return Beginning(template_text(FIRST_TEMPLATE, PYTHON), PYTHON, version.bot, version, several=True)
    return Beginning(text, language, version.bot, version, replaced=languages.replaced(version))


def _readable_version(player: Player | None, slug: str, number: int) -> BotVersion:
    version = sources.find(player, slug, number)
    if version is None:
        raise Http404
    return version


def suited(game: str, language: Language) -> str:
    """Return the template for a game."""
    rules = engine.load(game).rules
    key = (
        "bidding"
        if rules.auction == "points"
        else "avoiding"
        if rules.result.__name__ in POINTS_HURT
        else FIRST_TEMPLATE
    )
    return key if key in TEXTS[language.key] else FIRST_TEMPLATE


def templates(game: str, language: Language) -> list[tuple[str, str | Promise]]:
    """Return the templates in a language as keys and titles; the one that suits the game comes first."""
    best = suited(game, language)
    return [(key, TEMPLATES[key]) for key in sorted(TEXTS[language.key], key=lambda key: key != best)]


@cache
def template_text(key: str, language: Language = PYTHON) -> str:
    """Return the text of a template."""
    return TEXTS[language.key][key].read_text(encoding="utf-8")


@computed_once  # `ast.parse` is not safe for threads.
def help_members(language: Language) -> tuple[sdk_help.Member, ...]:
    """Return the names of the SDK or kit of a language with their help."""
    if language is JAVASCRIPT:
        kit = languages.KITS / "javascript" / "tute.mjs"
        return tuple(sdk_help.members_of_javascript(kit.read_text(encoding="utf-8")))
    texts = (SDK / name for name in ("tute_bot.py", "tute_sense.py"))
    return tuple(sdk_help.members(*(path.read_text(encoding="utf-8") for path in texts)))


PARTS = 4  # Numbers that identify a decision in a match.


def read_decision(text: str) -> tries.DecisionPoint | None:
    """Parse a decision such as "8f3k2.1.0.2.14": match, board, sitting, seat, step. Return None if it is malformed."""
    match, *rest = text.split(".")
    numbers = [number for part in rest if (number := whole_number(part)) is not None]
    return tries.DecisionPoint(match, *numbers) if match and len(rest) == len(numbers) == PARTS else None


def write_decision(at: tries.DecisionPoint) -> str:
    """Return the text of a decision, the reverse of `read_decision`."""
    return f"{at.match}.{at.board}.{at.sitting}.{at.seat}.{at.step}"


def chosen_decision(text: str) -> tries.DecisionPoint:
    """Return the decision of the form. Raise Refused if there is none."""
    at = read_decision(text)
    if at is None:
        raise Refused("no decision is open; open one from a match of your bot")
    return at
