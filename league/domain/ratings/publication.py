"""The published boards of a pool, as lines from which anybody can compute the ratings (`manage.py rate_boards`, `league.pure.rating.published`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from league.domain.ratings import pools, ratings, totals
from league.models import BotVersion, Match, Pool
from league.pure.rating import published

CHUNK = 500  # Matches read at a time.


def published_lines(pool: Pool) -> Iterator[str]:
    """Yield JSON lines: the pool, then each rated and finished match. Three queries for each CHUNK matches."""
    game = pools.game_of(pool)
    yield _line(
        {
            "format": published.FORMAT,
            "pool": pool.pk,
            "game": pool.game,
            "players": pool.players,
            "options": pool.options,
            "team": pool.team,
            "revision": pool.revision,
            "sides": pools.sides(pool),
            "score_size": game.score_size,
            "anchor": ratings.anchor_version(totals.stored_versions(pool)),
            "ratings_revision": pool.ratings_revision or 1,
        }
    )
    keys = list(totals.counted_matches(pool).order_by("finished", "pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        matches = Match.objects.filter(pk__in=chunk)
        heads = {
            pk: (public_id, at.isoformat())
            for pk, public_id, at in matches.values_list("pk", "public_id", "finished")
            if at is not None  # Always true: a counted match has finished.
        }
        played = totals.read_matches(chunk)
        names = _names({version for match in played.values() for version in match.versions})
        for pk in chunk:
            match, (public_id, finished) = played[pk], heads[pk]
            yield _line(
                {
                    "match": public_id,
                    "finished": finished,
                    "versions": [[version, names[version]] for version in match.versions],
                    "faulty": match.faulty,
                    "boards": match.boards,
                }
            )


def _names(versions: set[int]) -> dict[int, str]:
    return {row.pk: str(row) for row in BotVersion.objects.filter(pk__in=versions).select_related("bot")}


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"
