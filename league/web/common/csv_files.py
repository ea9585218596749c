"""Tables as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

RESULT_COLUMNS = (
    "points",
    "boards",
    "wins",
    "draws",
    "losses",
    "score_per_board",
    "sonneborn_berger",
)  # of a row of standings


def csv_file(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """The answer that a browser keeps as `name`.csv."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows(rows)
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
