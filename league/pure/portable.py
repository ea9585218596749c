"""Fitted values that agree on all machines.

The last bits of a fitted value depend on the processor, which may add in another order, and on the starting point. So no order, comparison or
stored value may depend on them. `comparable` rounds a fitted value first; then a name or an id decides among equals, never the order of rows.
`engine.portable` has sums that need no rounding.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

# Decimal digits of strengths in logits, chances and scores: a fit converges to 1e-9, and rounding errors are about 1e-12.
DIGITS = 6
ELO_DIGITS = 4  # Decimal digits of Elo (174 per logit); intervals are some ten Elo wide.


@overload
def comparable(value: float, digits: int = DIGITS) -> float: ...
@overload
def comparable(value: NDArray[Any], digits: int = DIGITS) -> NDArray[np.float64]: ...
def comparable(value: float | NDArray[Any], digits: int = DIGITS) -> float | NDArray[np.float64]:
    """Round a fitted value, or an array of them, to `digits` decimals, which agree on all machines. A rounded zero has no sign."""
    rounded: NDArray[np.float64] = np.asarray(np.round(np.asarray(value, dtype=np.float64), digits) + 0.0)
    return rounded if isinstance(value, np.ndarray) else float(rounded)
