"""The program of `loaded`: load a bot, then fork a child for each seat. `loading.py CONTROL MEMORY_MB ENTRY FOLDER...`; it imports no league.

The bot's own call of `tute_bot.run` is the point at which it is loaded: there this process waits for requests, and each child goes on from there.
Request: a byte with the descriptor of a conversation. Answer: the process id with a handle of the process, or the negative number of the error, if
this host has no room for another process or descriptor. It ends when CONTROL is closed.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import resource
import runpy
import signal
import socket
import sys
from typing import Any

PR_SET_PDEATHSIG = 1


def fork_seats(control: socket.socket, memory_mb: int) -> None:
    """Fork a child for each request, with at most so much memory. Return in a child only, with the conversation as its standard input and output."""
    libc = ctypes.CDLL(None)
    gc.collect()
    gc.freeze()  # A collection in a child would copy the pages of all these objects.
    children: set[int] = set()
    while True:
        request, received, _, _ = socket.recv_fds(control, 1, 1)
        if not request:
            os._exit(0)
        children -= {child for child in children if os.waitpid(child, os.WNOHANG)[0]}
        try:
            if not received:  # The kernel has dropped the conversation.
                raise OSError(errno.EMFILE, "too many open files")
            child = os.fork()
        except OSError as error:  # Only this seat fails: the others depend on this process.
            _answer(control, -(error.errno or errno.EAGAIN), received)
            continue
        if not child:
            control.close()
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # A bot that computes does not see that its worker is gone.
            resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
            os.dup2(received[0], 0)
            os.dup2(received[0], 1)
            os.close(received[0])
            return
        children.add(child)
        try:
            handle = os.pidfd_open(child)
        except OSError as error:
            os.kill(child, signal.SIGKILL)
            _answer(control, -(error.errno or errno.EMFILE), received)
        else:
            _answer(control, child, received, handle)


def _answer(control: socket.socket, number: int, received: list[int], *handles: int) -> None:
    """Answer a request, and close its descriptors."""
    socket.send_fds(control, [str(number).encode()], handles)
    for used in (*handles, *received):
        os.close(used)


def main(control: int, memory_mb: int, entry: str, *folders: str) -> None:
    """Load the bot in the file `entry` as the main program; folders: of the modules that it may import."""
    sys.path[:0] = folders
    del sys.argv[1:]
    import tute_bot  # type: ignore[import-not-found]  # It is in one of the folders.

    play = tute_bot.run

    def run(bot: Any, **options: Any) -> None:
        fork_seats(socket.socket(fileno=control), memory_mb)
        play(bot, **options)
        os._exit(0)

    tute_bot.run = run
    runpy.run_path(entry, run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
