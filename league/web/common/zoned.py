"""Forms with times in the person's own time zone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _

LOCAL = "%Y-%m-%dT%H:%M"


def moment_field(label: Any, help_text: Any, *, required: bool = False) -> forms.DateTimeField:
    """Return a field for a time in the zone that the form names."""
    return forms.DateTimeField(
        label=label,
        required=required,
        input_formats=[LOCAL, "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(format=LOCAL, attrs={"type": "datetime-local"}),
        help_text=help_text,
    )


class ZonedForm(forms.Form):
    """A form with times in the person's time zone, which a script fills in; without scripts it is UTC, as the field says."""

    zone = forms.CharField(
        label=_("Time zone of these times"),
        initial="UTC",
        max_length=40,
        required=False,
        widget=forms.TextInput(attrs={"data-zone": ""}),
        help_text=_("Such as Europe/Madrid. UTC is Greenwich time."),
    )
    zoned: Sequence[str] = ()

    def clean_zone(self) -> str:
        """Refuse a zone that does not exist."""
        zone: str = self.cleaned_data["zone"] or "UTC"
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            raise forms.ValidationError(_("There is no such time zone. Write for example Europe/Madrid.")) from None
        return zone

    def clean(self) -> dict[str, Any]:
        """Convert the times to UTC."""
        cleaned = super().clean() or {}
        zone = ZoneInfo(cleaned.get("zone") or "UTC")
        for name in self.zoned:
            if isinstance(cleaned.get(name), datetime):
                cleaned[name] = cleaned[name].replace(tzinfo=zone).astimezone(UTC)
        return cleaned
