"""Forms of accounts. They check the shape of values; `league.domain.people` decides what is allowed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.utils.text import capfirst, slugify
from django.utils.translation import gettext_lazy as _

from league.domain.core.errors import Refused, shown
from league.domain.people import bans, players


class SignUpForm(forms.Form):
    """Name and password of a new player."""

    name = forms.CharField(
        label=_("Name"),
        max_length=40,
        help_text=_("Everyone sees it. Small letters without accents, digits and hyphens, such as pepe-luis."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = forms.CharField(
        label=_("Password"),
        help_text=_("At least 10 characters. If you forget it, you can ask the operators for a reset link."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        validators=[validate_password],
    )

    open_data = forms.BooleanField(
        label=_("The public matches of my bots may be in the open data, under CC BY 4.0"),
        required=False,
        help_text=_("For research and teaching. You can change this later under “Your data”."),
    )

    def clean_name(self) -> str:
        """Return the name if a new player can have it. It is checked here so that errors of name and password appear together."""
        name: str = self.cleaned_data["name"]
        fitting = slugify(name)[:40].strip("-_").replace("_", "-")
        if name != fitting and fitting:
            raise forms.ValidationError(
                _("Use small letters without accents, digits and hyphens, for example “%(name)s”."),
                params={"name": fitting},
            )
        try:
            players.check_name(name)
        except Refused as refusal:
            raise forms.ValidationError(capfirst(shown(refusal))) from refusal
        return name


class LogInForm(AuthenticationForm):
    """Name and password of an account."""

    username = forms.CharField(
        label=_("Name"), widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"})
    )

    def get_invalid_login_error(self) -> forms.ValidationError:
        """Return the error of a failed log-in. If the password is correct, a banned player reads the reason for the ban."""
        banned = bans.reason(self.cleaned_data.get("username", ""), self.cleaned_data.get("password", ""))
        return forms.ValidationError(shown(banned)) if banned else super().get_invalid_login_error()


class PasswordForm(forms.Form):
    """A form that asks for the password of the account again, so that nobody can use an unattended browser."""

    password = forms.CharField(
        label=_("Your password"), widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        """Return the password if it is correct."""
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError(_("The password is wrong."))
        return password


class MailForm(PasswordForm):
    """The mail address of an account."""

    field_order = ("address", "password")
    address = forms.EmailField(label=_("Email address"), required=False, max_length=254)


class CloseForm(PasswordForm):
    """The name of the account that is to be closed."""

    field_order = ("name", "password")
    name = forms.CharField(
        label=_("Your name, as a check"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean_name(self) -> str:
        """Return the name if it is that of the account."""
        name: str = self.cleaned_data["name"]
        if name != self.user.get_username():
            raise forms.ValidationError(
                _("Type %(name)s, the name of this account."), params={"name": self.user.get_username()}
            )
        return name
