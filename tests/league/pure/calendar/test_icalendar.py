"""Calendar files follow RFC 5545."""

from __future__ import annotations

from datetime import UTC, datetime

from league.pure.calendar import icalendar

START = datetime(2026, 12, 4, 19, tzinfo=UTC)


def unfolded(text: str) -> list[str]:
    """The lines of a file as a reader puts them together."""
    assert text.endswith("\r\n")
    for line in text.split("\r\n"):
        assert len(line.encode()) <= 75
        assert "\n" not in line
        line.encode().decode()
    return text[:-2].replace("\r\n ", "").split("\r\n")


def test_lines_are_folded_between_characters_and_texts_escaped():
    text = "Copa de Otoño; " * 20 + "\nA, B\\C\x07"
    item = icalendar.CalendarItem("event-a@league", START, text, text, "https://league/e/a/", START, 3, True)

    lines = unfolded(icalendar.write("Árbol", [item]))

    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-2:] == ["END:VEVENT", "END:VCALENDAR"]
    escaped = "Copa de Otoño\\; " * 20 + "\\nA\\, B\\\\C"
    assert {"VERSION:2.0", "UID:event-a@league", "DTSTART:20261204T190000Z", "DTSTAMP:20261204T190000Z"} <= set(lines)
    assert {"SEQUENCE:3", "STATUS:CANCELLED", f"SUMMARY:{escaped}", f"DESCRIPTION:{escaped}"} <= set(lines)


def test_a_long_character_is_never_broken():
    for start in range(70, 80):
        folded = icalendar.fold("x" * start + "🂡" * 40)
        assert folded.replace("\r\n ", "") == "x" * start + "🂡" * 40
        assert max(len(line.encode()) for line in folded.split("\r\n")) <= 75
