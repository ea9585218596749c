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
    """A game at any of its tables with any options that go together."""
    key = draw(st.sampled_from(engine.games()))
    players = draw(st.sampled_from(declared(key).players))
    there = choices(declared(key), players)
    names = draw(st.lists(st.sampled_from(sorted(there)), unique=True)) if there else []
    options: dict[str, Any] = {}
    for name in names:
        wanted = options | {name: draw(st.sampled_from(tables.values(there[name])))}
        try:
            engine.load(key, players=players, **wanted)
        except engine.OptionError:
            continue
        options = wanted
    note(f"{key} players={players} {options}")
    return engine.load(key, players=players, **options)
