"""A cache in this process for values computed from thousands of rows. A value stays valid while its change counter stands still.

It is for the few tables that a request could not compute in time: those of a large tournament, and the ranking over all games. Whole responses are
cached by `league.response_cache`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakSet

from django.db import connection

from league.service import changes

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
P = ParamSpec("P")
_caches: WeakSet[Any] = WeakSet()


def clear() -> None:
    """Clear all caches of this process."""
    for values in _caches:
        values.clear()


class computed_once(Generic[P, Value]):  # noqa: N801 - a decorator
    """Cache a function like `functools.cache`, but let only one thread compute while the others wait.

    It is for values that must exist once, or whose computation is not safe for threads: the first requests of a process come together.
    """

    def __init__(self, make: Callable[P, Value]) -> None:
        self._cached, self._lock = cache(make), threading.RLock()
        update_wrapper(self, make)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Value:
        """Return the value for these arguments."""
        with self._lock:
            return self._cached(*args, **kwargs)  # type: ignore[arg-type]  # The caller passes hashable arguments, as for `cache`.

    def cache_clear(self) -> None:
        """Forget all values."""
        self._cached.cache_clear()


class ProcessCache(Generic[Key, Value]):
    """Values by key, with a limit on their total weight. Values that have not been used for longest are dropped first."""

    def __init__(self, max_weight: int, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        self._max_weight = max_weight
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[Key, tuple[int, Value]] = OrderedDict()
        self._lock = threading.Lock()
        _caches.add(self)

    def get(self, key: Key, counter: str, make: Callable[[Value | None], Value]) -> Value:
        """Return the value of `key` at the current count of its counter. One query, and those of `make` if the value is missing or outdated.

        `make` gets the old value and may reuse parts of it. Nobody may change a value. Within a transaction nothing is stored, because the
        transaction may still be rolled back.
        """
        if connection.in_atomic_block:
            return make(None)
        count = changes.read([counter])[counter]  # Read the counter before the rows that it counts.
        with self._lock:
            old_count, value = self._values.get(key, (-1, None))
            if value is not None and old_count == count:
                self._values.move_to_end(key)
                return value
        value = make(value)
        with self._lock:
            self._keep(key, count, value)
        return value

    def _keep(self, key: Key, count: int, value: Value) -> None:
        old = self._values.pop(key, None)
        self._weight += self._weigh(value) - (self._weigh(old[1]) if old else 0)
        self._values[key] = (count, value)
        while self._weight > self._max_weight and self._values:
            _, (_, dropped) = self._values.popitem(last=False)
            self._weight -= self._weigh(dropped)

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
            self._weight = 0
