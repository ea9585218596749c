"""What an event loop of asyncio wakes itself by in a bot's process, which may make neither pipes nor sockets: a counter of the kernel.

The runtime's copy of asyncio takes `pair` where the library takes a pair of sockets.
"""

import os


class Wakeup:
    """Both ends at once, with the methods of a socket that asyncio calls."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        """The descriptor to be watched; -1 once it is closed."""
        return self._fd

    def setblocking(self, flag: bool) -> None:
        """It never blocks."""

    def send(self, data: bytes) -> int:
        """Wake the loop. Raises OSError once it is closed."""
        os.eventfd_write(self._fd, len(data))
        return len(data)

    def recv(self, most: int) -> bytes:
        """Take all that was sent, as one byte. Raises BlockingIOError where there was nothing."""
        os.eventfd_read(self._fd)
        return b"\0"

    def close(self) -> None:
        """Harmless when repeated."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def pair() -> tuple[Wakeup, Wakeup]:
    """Two names for one, as of two ends."""
    one = Wakeup()
    return one, one
