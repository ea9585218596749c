"""The form of an upload. It checks the shape of values; `engine.packages` and `league.domain.bots` check the package."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

import engine
from league.web.common import families
from league.web.common.fields import set_choices


class SubmitForm(forms.Form):
    """A file, and the name and games of the bot."""

    bot = forms.CharField(
        label=_("Name of the bot"),
        max_length=60,
        required=False,
        help_text=_(
            "A new name, or the name of one of your bots: My Bot becomes my-bot. "
            "If you leave it empty, the name comes from bot.toml or from the file."
        ),
        widget=forms.TextInput(attrs={"list": "my-bots", "autocomplete": "off", "spellcheck": "false"}),
    )
    file = forms.FileField(label=_("File"), allow_empty_file=True)
    games = forms.MultipleChoiceField(label=_("Games"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, games=[(key, engine.load(key).title) for key in families.game_order()])
