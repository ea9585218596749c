"""What was worked out of many rows, remembered by one process while its version holds (league.service.marks).

A page of a large tournament shows a window of what is worked out of all its matches. Its other windows, its picture and the answers of the API need
the same, and so does the next reader in another language.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from django.db import connection

from league.service import marks

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_all: WeakSet[Any] = WeakSet()


def forget() -> None:
    """Forget all that this process remembers."""
    for one in _all:
        one.clear()


class Remembered(Generic[Key, Value]):
    """Values by key, bounded by their weights; what was not asked for longest goes first."""

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        """most: weight of all values together."""
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._kept: OrderedDict[Key, tuple[int, Value]] = OrderedDict()
        self._lock = threading.Lock()
        _all.add(self)

    def of(self, key: Key, mark: str, make: Callable[[Value | None], Value]) -> Value:
        """The value of one key, as `of_many` has it."""
        return self.of_many({key: mark}, lambda missing: {key: make(missing[key])})[key]

    def of_many(
        self, wanted: Mapping[Key, str], make: Callable[[Mapping[Key, Value | None]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """The values of these keys, each of which is as new as its mark. One query, and those of `make` for what is missing.

        `make` gets the keys whose values do not hold, with the old values, from which it may take what is still true. Nobody may change a
        value. Within a transaction nothing is remembered: what it reads may never become true.
        """
        if connection.in_atomic_block or not wanted:
            return dict(make(dict.fromkeys(wanted))) if wanted else {}
        versions = marks.read(list(wanted.values()))  # before anything that they stand for
        found: dict[Key, Value] = {}
        missing: dict[Key, Value | None] = {}
        with self._lock:
            for key, mark in wanted.items():
                version, value = self._kept.get(key, (-1, None))
                if value is not None and version == versions[mark]:
                    found[key] = value
                    self._kept.move_to_end(key)
                else:
                    missing[key] = value
        if missing:
            made = make(missing)
            found.update(made)
            with self._lock:
                for key, value in made.items():
                    self._keep(key, versions[wanted[key]], value)
        return found

    def _keep(self, key: Key, version: int, value: Value) -> None:
        old = self._kept.pop(key, None)
        self._weight += self._weigh(value) - (self._weigh(old[1]) if old else 0)
        self._kept[key] = (version, value)
        while self._weight > self._most and self._kept:
            _, (_, gone) = self._kept.popitem(last=False)
            self._weight -= self._weigh(gone)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._weight = 0


class Held(Generic[Key, Value]):
    """Values by key, each with all that it follows from: it holds as long as that is the same. What was not asked for longest goes first."""

    def __init__(self, most: int) -> None:
        """most: values."""
        self._most = most
        self._kept: OrderedDict[Key, tuple[Hashable, Value]] = OrderedDict()
        self._lock = threading.Lock()
        _all.add(self)

    def of_many(
        self,
        wanted: Mapping[Key, Hashable],
        make: Callable[[list[Key]], tuple[Mapping[Key, Value], Mapping[Key, Hashable]]],
    ) -> dict[Key, Value]:
        """The values of these keys, which follow from that. No query but those of `make` for what is missing.

        `make` gives values, and what they follow from, read again afterwards: what has changed meanwhile is given and not held. Nobody may
        change a value. Within a transaction nothing is held.
        """
        found = self.find(wanted)
        missing = [key for key in wanted if key not in found]
        if missing:
            made, still = make(missing)
            found.update(made)
            self.keep(made, {key: wanted[key] for key in made if still.get(key) == wanted[key]})
        return found

    def find(self, wanted: Mapping[Key, Hashable]) -> dict[Key, Value]:
        """Those values of these keys that are there and follow from that. No query."""
        found: dict[Key, Value] = {}
        if connection.in_atomic_block:
            return found
        with self._lock:
            for key, follows in wanted.items():
                there = self._kept.get(key)
                if there is not None and there[0] == follows:
                    found[key] = there[1]
                    self._kept.move_to_end(key)
        return found

    def keep(self, made: Mapping[Key, Value], follows: Mapping[Key, Hashable]) -> None:
        """Hold those values of which it is told what they follow from."""
        if connection.in_atomic_block:
            return
        with self._lock:
            for key, told in follows.items():
                self._kept[key] = (told, made[key])
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
