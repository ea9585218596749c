"""The one place of the domain that reads the clock, for callers that have no time of their own to pass."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def given(now: datetime | None) -> datetime:
    """`now`, or the present where a caller at the border (view, command, task) passed none."""
    return timezone.now() if now is None else now
