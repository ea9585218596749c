"""Any game, at any of its tables, with any options that go together: a strategy of Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import note
from hypothesis import strategies as st

import engine
from engine.game import declared
from engine.rules.resolving import choices
from tests.support import tables


@st.composite
def mixtures(draw: st.DrawFn) -> engine.Game:
    """Draw a game at any of its tables with any options that go together."""
    key = draw(st.sampled_from(engine.games()))
    players = draw(st.sampled_from(declared(key).players))
    by_name = choices(declared(key), players)
    names = draw(st.lists(st.sampled_from(sorted(by_name)), unique=True)) if by_name else []
    options: dict[str, Any] = {}
    for name in names:
        candidate = options | {name: draw(st.sampled_from(tables.values(by_name[name])))}
        try:
            engine.load(key, players=players, **candidate)
        except engine.OptionError:
            continue
        options = candidate
    note(f"{key} players={players} {options}")
    return engine.load(key, players=players, **options)
