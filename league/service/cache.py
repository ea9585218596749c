"""The cache of production: Redis while it answers in time, otherwise a bounded cache in this process.

No request waits longer than 0.2 s for Redis, even if it is down, hung, full or slow, or its name cannot be resolved. After a failure nobody calls
it for REST_S, and then one call tries again. Each call runs in its own thread, because no time limit of a socket covers the look-up of the name,
the connection and the greeting together.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from league.service.env import NOTICE_LOSS_OF_REDIS
from league.service.process_cache import computed_once

log = logging.getLogger("league.cache")
WITHIN_S = 0.1  # The longest that one call may take, including the look-up of the name and the connection.
SLOW_S = 0.02  # A log-in makes up to six calls. If one call takes longer than this, Redis counts as down.
REST_S = 3.0  # Time between two attempts while Redis is down.
LOCAL_ENTRIES = 20_000  # The most counters in the process; the least recently used are dropped first
FAILURES = (RedisError, OSError)


class Guard:
    """The state of one Redis server as this process knows it. Shared by all threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="redis")
        self._lock = threading.Lock()
        self._away_since: float | None = None
        self._try_at = 0.0
        self._trying: Future[Any] | None = None

    def call(self, ask: Callable[[], Any], instead: Callable[[], Any]) -> Any:
        """Return the answer of `ask` within WITHIN_S, otherwise that of `instead`. Errors that do not come from Redis are raised."""
        began = time.monotonic()
        with self._lock:
            trial = self._away_since is not None
            stuck = self._trying is not None and not self._trying.done()
            if trial and (began < self._try_at or stuck):
                return instead()
            future = self._pool.submit(ask)
            if trial:
                # Other threads do without Redis while this one tries.
                self._try_at, self._trying = began + REST_S, future
        try:
            value = future.result(WITHIN_S)
        except FAILURES as error:
            future.cancel()
            self._went(f"{type(error).__name__}: {error}" if str(error) else f"no answer within {WITHIN_S:g} s", future)
            return instead()
        except ValueError:  # Redis answered: there is no such key.
            self._came(trial)
            raise
        took = time.monotonic() - began
        if took > SLOW_S and not trial:
            self._went(f"it took {1000 * took:.0f} ms for one call", future)
        else:
            self._came(trial and took <= SLOW_S)
        return value

    def _went(self, why: str, future: Future[Any]) -> None:
        now = time.monotonic()
        with self._lock:
            first = self._away_since is None
            self._away_since = now if self._away_since is None else self._away_since
            self._try_at, self._trying = now + REST_S, future
        if first:
            log.warning("Redis does not work (%s); until it does, this process counts requests by itself", why)

    def _came(self, trial: bool) -> None:
        if not trial:
            return
        with self._lock:
            away, self._away_since, self._trying = self._away_since, None, None
        if away is not None:
            log.warning("Redis answers again, after %.0f s", time.monotonic() - away)


@computed_once
def guard(servers: tuple[str, ...]) -> Guard:
    """Return the guard of these servers in this process."""
    return Guard()


class GuardedCache(RedisCache):
    """Django's cache on Redis, behind a `Guard`."""

    def __init__(self, server: str | list[str], params: dict[str, Any]) -> None:
        timeouts: dict[str, Any] = {"socket_timeout": WITHIN_S, "socket_connect_timeout": WITHIN_S}
        if not str(server).startswith("unix:"):
            timeouts |= NOTICE_LOSS_OF_REDIS
        super().__init__(server, {**params, "OPTIONS": {**timeouts, **params.get("OPTIONS", {})}})
        self._guard = guard((server,) if isinstance(server, str) else tuple(server))
        local = {**params, "OPTIONS": {"MAX_ENTRIES": LOCAL_ENTRIES}}
        self._local = LocMemCache("instead of Redis", local)


def _guarded(name: str) -> Callable[..., Any]:
    """Return a method that calls the method `name` of Redis, or of the cache in this process."""

    def method(self: GuardedCache, *args: Any, **kwargs: Any) -> Any:
        of_redis = getattr(super(GuardedCache, self), name)
        return self._guard.call(lambda: of_redis(*args, **kwargs), lambda: getattr(self._local, name)(*args, **kwargs))

    return method


for _name in (
    "add",
    "get",
    "set",
    "touch",
    "delete",
    "get_many",
    "has_key",
    "incr",
    "set_many",
    "delete_many",
    "clear",
):
    setattr(GuardedCache, _name, _guarded(_name))
