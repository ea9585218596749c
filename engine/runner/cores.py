"""Pin each match to one core: a message between two processes on one core costs about a tenth of one between cores.

A core is reserved for the whole machine (engine.sandbox.cgroups.reservations). If the workers of a machine share nothing, like containers
without a common folder, no match is pinned: each container would take the same core while others are idle, and the kernel spreads matches that
are not pinned over all cores. The load in /proc/stat is no substitute: workers that start together see the same idle core, and with ticks of
10 ms one reading takes longer than many a pass.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from engine.sandbox.cgroups.reservations import NotShared, Reservation, reserve, shared_folder
from engine.sandbox.cgroups.rights import SYS_NICE, effective

log = logging.getLogger("engine.cores")


@contextmanager
def pinned(enabled: bool = True, among: Collection[int] | None = None) -> Iterator[int | None]:
    """Keep the calling thread on a core that no other match of this machine has reserved, while the block runs.

    among: the cores to choose from; by default those on which the thread may run. Yield None and pin nothing if all of them are taken, if the
    workers of this machine share no folder, if the system cannot pin, or if not `enabled`.
    """
    allowed = os.sched_getaffinity(0) if enabled and hasattr(os, "sched_setaffinity") else set()
    # Try the last core first: on most machines the first one is the busiest.
    choice = _take(sorted(allowed if among is None else among, reverse=True))
    if choice is None:
        yield None
        return
    reservation, core = choice
    try:
        os.sched_setaffinity(0, {core})
        yield core
    finally:
        os.sched_setaffinity(0, allowed)
        reservation.release()


def _take(cores: list[int]) -> tuple[Reservation, int] | None:
    folder = shared_folder()
    if folder is None:
        return None
    try:
        for core in cores:
            if reservation := reserve(folder, f"core-{core}"):
                return reservation, core
    except NotShared as error:
        _warn(str(error))
    return None


@cache
def _warn(why: str) -> None:
    """Log a reason once per process."""
    log.warning("matches are not pinned to cores: %s", why)


Result = TypeVar("Result")


def on_free_core(work: Callable[[int], Result], cores: Collection[int]) -> Result | None:
    """Return `work(core)` on a core that no match uses; `work` starts bots there for a match that will move them to its own core.

    Return None if no core is free, or bots could not be moved.
    """
    if not may_move():
        return None
    with pinned(among=cores) as spare:
        return None if spare is None else work(spare)


def may_move() -> bool:
    """Return True if bots may be moved to another core: root runs each as another user, which needs CAP_SYS_NICE, and containers drop that."""
    return os.geteuid() != 0 or effective(SYS_NICE)
