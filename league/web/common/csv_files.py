"""Tables as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

# Columns of a row of standings.
RESULT_COLUMNS = (
    "points",
    "boards",
    "wins",
    "draws",
    "losses",
    "score_per_board",
    "sonneborn_berger",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_file(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a response that a browser saves as `name`.csv."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(_plain, head))
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _plain(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
