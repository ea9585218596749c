"""The limits of one bot, the same for every tier."""

from __future__ import annotations

import resource
from dataclasses import dataclass

MIB = 1 << 20
KIB = 1 << 10

# Private memory that was made read-only is no longer counted by RLIMIT_DATA, so the address space is limited as well.
# An interpreter reserves much more than it uses (64 MiB of arena per thread), hence the extra room.
ADDRESS_SPACE_ROOM_MB = 1024
DAY = 1_767_225_600  # 2026-01-01, seconds since 1970: the day of every sealed bot, and the time of change of every copy of a bot.
_USER_WIDE_PROCESSES = 4096


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Limits of one bot process.

    memory_mb: private writable memory, MiB. threads: threads besides the first. cpu_s: CPU seconds in total, a backstop behind the per-answer clock.
    stderr_kib: error output kept, KiB. output_line_kib: longest line, KiB. open_files: descriptors. stack_mb: main stack, MiB.
    address_space_mb: reserved addresses, MiB (None: memory_mb + 1024). sealed: no clock of the host reaches the bot.
    leaves_room: such bots leave a quarter of the machine's bot users to others.
    Raise ValueError if a limit is not a positive integer (threads: may be 0) or too small for any interpreter.
    """

    memory_mb: int = 256
    threads: int = 16
    cpu_s: int = 3600
    stderr_kib: int = 16
    output_line_kib: int = 64
    open_files: int = 64
    stack_mb: int = 8
    address_space_mb: int | None = None
    sealed: bool = False
    leaves_room: bool = False

    def __post_init__(self) -> None:
        least = {"memory_mb": 16, "open_files": 16, "stack_mb": 1, "threads": 0}
        for name, value in vars(self).items():
            if name in ("sealed", "leaves_room") or (name == "address_space_mb" and value is None):
                continue
            floor = least.get(name, 1)
            if type(value) is not int or value < floor:
                raise ValueError(f"policy {name}={value!r}: expected a whole number of at least {floor}")

    @property
    def memory_bytes(self) -> int:
        """Private writable memory, bytes."""
        return self.memory_mb * MIB

    @property
    def line_bytes(self) -> int:
        """Longest line a bot may print, bytes without the newline."""
        return self.output_line_kib * KIB

    def limits(self, *, processes: int | None) -> list[tuple[int, int, int]]:
        """Return kernel limits as (resource number, soft, hard).

        processes: value of RLIMIT_NPROC, or None if it would count other programs of the same user.
        """
        space = (self.address_space_mb or self.memory_mb + ADDRESS_SPACE_ROOM_MB) * MIB
        fixed = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_MEMLOCK: 0,
            resource.RLIMIT_MSGQUEUE: 0,
            resource.RLIMIT_NOFILE: self.open_files,
            resource.RLIMIT_STACK: self.stack_mb * MIB,
            resource.RLIMIT_AS: space,
            resource.RLIMIT_DATA: self.memory_bytes,
        }
        if processes is not None:
            fixed[resource.RLIMIT_NPROC] = processes
        # The soft limit sends SIGXCPU; one second later the hard one kills a bot that ignored it.
        return [(number, value, value) for number, value in fixed.items()] + [
            (resource.RLIMIT_CPU, self.cpu_s, self.cpu_s + 1)
        ]


def user_wide_processes() -> int:
    """Return a generous limit on processes, for bots whose threads the kernel counts together with all programs of their user.

    The exact number is checked from outside.
    """
    hard_limit = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return _USER_WIDE_PROCESSES if hard_limit == resource.RLIM_INFINITY else min(_USER_WIDE_PROCESSES, hard_limit)
