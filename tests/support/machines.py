"""Another machine: every value of a fit differs by a relative error of some 1e-12, as with another library for linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine import sprt
from league.pure.rating import bradley_terry, local, sketch

OFF = 1e-12


@contextmanager
def other_machine(seed: int) -> Iterator[None]:
    """While the block runs, fits, sketches, estimates and sequential tests give what another machine might."""
    rng = np.random.default_rng(seed)

    def off(values: Any) -> Any:
        noise = rng.uniform(-OFF, OFF, np.shape(values))
        square = noise.ndim == 2 and noise.shape[0] == noise.shape[1]
        return values * (1 + ((noise + noise.T) / 2 if square else noise))

    def fit(bots: Any, theta: Any, naive: Any, robust: Any, dispersion: float) -> bradley_terry.Fit:
        return bradley_terry_fit(bots, off(theta), off(naive), off(robust), dispersion)

    def sketched(bots: Any, theta: Any, group: Any, naive: Any, robust: Any, dispersion: float) -> sketch.Sketch:
        columns = [replace(column, exact=off(column.exact)) for column in (naive, robust)]
        return sketch_of(bots, off(theta), group, *columns, dispersion)

    def moved(theta: float, sd: float) -> local.MovedStrength:
        return moved_by(float(off(theta)), float(off(sd)))

    bradley_terry_fit, sketch_of, moved_by, llr = bradley_terry.Fit, sketch.Sketch, local.MovedStrength, sprt.llr
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bradley_terry, "Fit", fit)
        patched.setattr(sketch, "Sketch", sketched)
        patched.setattr(local, "MovedStrength", moved)
        patched.setattr(sprt, "llr", lambda counts, elo0, elo1: float(off(llr(counts, elo0, elo1))))
        yield
