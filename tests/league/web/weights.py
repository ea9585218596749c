"""The weight of a page on the line."""

from __future__ import annotations

import gzip
import re
from functools import cache

from django.conf import settings

STATIC = settings.BASE_DIR / "league" / "static" / "league"
BEFORE_PAINT = 40_000  # bytes: 0.8 s at 400 kbit/s
WHOLE = 100_000  # Bytes of a page with everything it loads, except the editor


def too_heavy(html: str) -> list[str]:
    """Return what is wrong with the weight of a page: compressed, with an empty cache."""
    files = set(re.findall(r'(?:href|src|data-[a-z-]+)="/static/league/([^"#?]+)', html))
    own = len(gzip.compress(html.encode()))
    before = own + sum(_weight(name) for name in files if name.endswith(".css"))
    whole = own + sum(map(_weight, files))
    problems = [f"{before} bytes before the first paint"] if before > BEFORE_PAINT else []
    if whole > WHOLE and not any(name.startswith("vendor/") for name in files):
        problems.append(f"{whole} bytes")
    return problems


@cache
def _weight(name: str) -> int:
    return len(gzip.compress((STATIC / name).read_bytes()))
