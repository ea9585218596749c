"""Check the logs of matches: the replay by `engine.replay`, and everything that the runner adds to it."""

from __future__ import annotations

from typing import Any

import engine
from engine.replay import ReplayError
from engine.runner.match import forfeited


def check(replay: Any) -> None:
    """Verify a replay, and the scores of a forfeit if there was one. Raise ReplayError with the step."""
    engine.replay.verify(replay)
    forfeit = replay.get("forfeit")
    end = len(replay["actions"])
    if forfeit is None:
        if not replay["over"]:
            raise ReplayError(end, "the sitting stops before its end and no fault says why")
        return
    try:
        game = engine.load(replay["game"], players=replay["players"], **replay["options"])
        scores = forfeited(game, set(forfeit["seats"]))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ReplayError(end, f"the forfeit is invalid: {error!r}") from None
    if forfeit.get("scores") != scores:
        raise ReplayError(end, f"the forfeit scores {forfeit.get('scores')!r}; by the rules it scores {scores!r}")
