"""Wake an asyncio event loop in a bot's process, which may create neither pipes nor sockets, by a counter of the kernel.

The runtime's copy of asyncio calls `pair` where the library creates a pair of sockets.
"""

import os


class Wakeup:
    """Both ends of the pair in one object, with the methods of a socket that asyncio calls."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        """Return the descriptor to watch; -1 after closing."""
        return self._fd

    def setblocking(self, flag: bool) -> None:
        """Do nothing: the counter never blocks."""

    def send(self, data: bytes) -> int:
        """Wake the loop. Raise OSError after closing."""
        os.eventfd_write(self._fd, len(data))
        return len(data)

    def recv(self, most: int) -> bytes:
        """Take everything that was sent, as one byte. Raise BlockingIOError if nothing was."""
        os.eventfd_read(self._fd)
        return b"\0"

    def close(self) -> None:
        """Close the counter. May be called again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def pair() -> tuple[Wakeup, Wakeup]:
    """Return the same counter twice, in place of two ends."""
    wakeup = Wakeup()
    return wakeup, wakeup
