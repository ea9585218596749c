"""A stored record as the pages show it."""

from __future__ import annotations

from typing import Any


def shown_events(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a record, and after them the faults that cut it short, each as one more step.

    A fault ends the sitting, so it comes last. The record keeps faults beside the events: they are the referee's, not the game's.
    """
    faults = [
        {"e": "fault", "seat": fault["seat"], "fault": fault["fault"], "detail": fault.get("detail", "")}
        for fault in record.get("faults", ())
    ]
    return [*record.get("events", ()), *faults]
