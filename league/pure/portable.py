"""Fitted values on which all machines agree.

The last bits of a fitted value belong to the machine: linear algebra adds up in another order on another processor, and a fit that
starts elsewhere ends elsewhere. So nothing may be ordered, compared or stored by them. A fitted value is rounded first, by
`comparable`; then a name or an id decides among equals, never the order of rows. `engine.portable` has sums that need no rounding.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

DIGITS = 6  # of strengths in logits, chances and scores: a fit settles to 1e-9, and rounding moves it by 1e-12
ELO_DIGITS = 4  # of Elo, of which a logit has 174; intervals are some ten Elo wide


@overload
def comparable(value: float, digits: int = DIGITS) -> float: ...
@overload
def comparable(value: NDArray[Any], digits: int = DIGITS) -> NDArray[np.float64]: ...
def comparable(value: float | NDArray[Any], digits: int = DIGITS) -> float | NDArray[np.float64]:
    """Round a fitted value, or an array of them, to the `digits` that all machines share. Zero has no sign."""
    rounded: NDArray[np.float64] = np.asarray(np.round(np.asarray(value, dtype=np.float64), digits) + 0.0)
    return rounded if isinstance(value, np.ndarray) else float(rounded)
