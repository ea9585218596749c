"""Tables as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from engine.data import plain_cell

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


def csv_file(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a response that a browser saves as `name`.csv."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(plain_cell, head))
    writer.writerows(map(plain_cell, row) for row in rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
