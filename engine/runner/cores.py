"""One core for one match: a message between two processes on one core costs about a tenth of one between cores.

A core is reserved on the whole machine (engine.sandbox.cgroups.reservations). Where the workers of a machine share nothing, as containers do that
were not given a common folder, no match is pinned: each container would take the same core, while others are idle, and the kernel spreads matches
that are not pinned over all cores. The load in /proc/stat would not do instead: workers that begin at once see the same idle core, and one look at
it takes longer, by its ticks of 10 ms, than many a pass.
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
def pinned(wanted: bool = True, among: Collection[int] | None = None) -> Iterator[int | None]:
    """Keep the calling thread on a core that no other match of this machine holds, while the block runs.

    `among`: the cores to choose from; those on which the thread may run unless given. Gives None, and pins nothing, where all of them are taken,
    where the workers of this machine share no folder, where the system cannot pin, or where it is not `wanted`.
    """
    allowed = os.sched_getaffinity(0) if wanted and hasattr(os, "sched_setaffinity") else set()
    # The last core first: the first one is the busiest of most machines.
    taken = _take(sorted(allowed if among is None else among, reverse=True))
    if taken is None:
        yield None
        return
    held, core = taken
    try:
        os.sched_setaffinity(0, {core})
        yield core
    finally:
        os.sched_setaffinity(0, allowed)
        held.release()


def _take(cores: list[int]) -> tuple[Reservation, int] | None:
    folder = shared_folder()
    if folder is None:
        return None
    try:
        for core in cores:
            if held := reserve(folder, f"core-{core}"):
                return held, core
    except NotShared as error:
        _warn(str(error))
    return None


@cache
def _warn(why: str) -> None:
    """Log a reason once a process."""
    log.warning("matches are not pinned to cores: %s", why)


Made = TypeVar("Made")


def on_free_core(work: Callable[[int], Made], cores: Collection[int]) -> Made | None:
    """What `work(core)` gives on a core that no match holds; it starts bots there, for a match that will move them to its own.

    None where no core is free, or bots could not be moved.
    """
    if not may_move():
        return None
    with pinned(among=cores) as spare:
        return None if spare is None else work(spare)


def may_move() -> bool:
    """Whether bots may be moved to another core: root runs each as another user, and containers take CAP_SYS_NICE, which that needs, away."""
    return os.geteuid() != 0 or effective(SYS_NICE)
