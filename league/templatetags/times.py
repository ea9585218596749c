"""Times in pages: the text is UTC, and a script shows local time (static/league/times.js)."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()
MOMENT, DAY, AGENDA = "j M Y, H:i", "j M Y", "D j M, H:i"  # Without a.m. and p.m. in any language.


@register.filter
def moment(value: datetime | None) -> SafeString:
    """Render a time with its date, such as "27 Nov 2026, 12:00 UTC"."""
    return _time(value, "moment", _text(value)) if value else SafeString("")


@register.filter
def ago(value: datetime | None) -> SafeString:
    """Render how long ago a time was, or how long until then, such as "2 minutes ago", with the time itself as title."""
    return _time(value, "ago", str(naturaltime(value)), title=_text(value)) if value else SafeString("")


@register.filter
def due(value: datetime | None) -> SafeString:
    """Render a future time with its date; the script adds how long it is until then."""
    return _time(value, "due", _text(value)) if value else SafeString("")


@register.filter
def agenda(value: datetime | None) -> SafeString:
    """Render a time of the calendar, such as "Fri 27 Nov, 20:00 UTC"; the script says "Today" and "Tomorrow"."""
    return _time(value, "agenda", f"{date_format(_utc(value), AGENDA)} UTC") if value else SafeString("")


@register.filter
def day(value: datetime | None) -> SafeString:
    """Render the day of a time, such as "27 Nov 2026"."""
    return _time(value, "day", date_format(_utc(value), DAY)) if value else SafeString("")


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _text(value: datetime) -> str:
    return f"{date_format(_utc(value), MOMENT)} UTC"


def _time(value: datetime, kind: str, text: str, title: str = "") -> SafeString:
    at = _utc(value).isoformat(timespec="seconds").replace("+00:00", "Z")
    hint = format_html(' title="{}"', title) if title else ""
    return format_html('<time datetime="{}" data-as="{}"{}>{}</time>', at, kind, hint, text)
