"""Forms of accounts. They check shapes; what the league allows is decided by `league.domain.people`."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _


class SignUpForm(forms.Form):
    """Name and password of a new player."""

    name = forms.CharField(
        label=_("Name"),
        max_length=40,
        help_text=_("1 to 40 characters of a-z, 0-9 and hyphens. The name stands beside your bots."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = forms.CharField(
        label=_("Password"),
        help_text=_(
            "At least 10 characters. We keep no mail address, so we cannot send you a new password if you lose this one."
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        validators=[validate_password],
    )


class LogInForm(AuthenticationForm):
    """Name and password of an account."""

    username = forms.CharField(
        label=_("Name"), widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"})
    )
