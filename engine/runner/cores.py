"""One core for one match: a message between two processes on one core costs about a tenth of one between cores.

A core is held by binding an abstract socket of its name: atomic among all processes of the host's network namespace, and given up by itself
when the holder dies.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

from engine.sandbox.cgroups.rights import SYS_NICE, effective

NAME = "tute-league-core-"


@contextmanager
def pinned(wanted: bool = True, among: Collection[int] | None = None) -> Iterator[int | None]:
    """Keep the calling thread on a core that no other match of this machine holds, while the block runs.

    `among`: the cores to choose from; those on which the thread may run unless given. Gives None, and pins nothing, where all of them are taken,
    where the system cannot pin, or where it is not `wanted`.
    """
    allowed = os.sched_getaffinity(0) if wanted and hasattr(os, "sched_setaffinity") else set()
    # The last core first: the first one is the busiest of most machines.
    held = _take(sorted(allowed if among is None else among, reverse=True))
    if held is None:
        yield None
        return
    holder, core = held
    try:
        os.sched_setaffinity(0, {core})
        yield core
    finally:
        os.sched_setaffinity(0, allowed)
        holder.close()


def _take(cores: list[int]) -> tuple[socket.socket, int] | None:
    for core in cores:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0{NAME}{core}")
        except OSError:
            holder.close()
            continue
        return holder, core
    return None


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
