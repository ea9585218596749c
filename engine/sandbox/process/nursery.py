"""Runs as one small process beside each worker: forks the launcher for every bot, and tells how each bot ended.

An interpreter takes ten milliseconds to start and a fork of this one takes one; it has a single thread, so nothing is
held across the fork; and it is what bots die with, so no bot depends on which of the worker's threads asked for it. It
ends when the worker does, by whatever cause, because then its socket is closed. It forks a few children ahead, the
spares, which know no bot yet and wait for a plan: as many as a table of four still lacks, so none while one plays. Made
then they would take a twentieth of the time of the match's core, and its caches.

Request: a marshalled plan with the descriptors stdin, stdout, stderr, status, end, and those the plan keeps. Answer: the
process id with a handle of it, or a text that says why there is none. Later, on the descriptor "end": the wait status,
the peak of memory in KiB and the CPU seconds, marshalled.
"""

import errno
import fcntl
import gc
import marshal
import os
import select
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Plan = dict[str, Any]
    Spares = list[tuple[int, socket.socket]]

STATUS = 3  # where the launcher finds its status pipe; what the plan keeps comes behind it
_END = 4  # place of the descriptor "end" in a request
_OUT_OF_THE_WAY = 64
_LONGEST_REQUEST = 1 << 16  # ten times what one has; a buffer of twice this would be mapped anew each time
_MOST_DESCRIPTORS = 16
_SIGKILL = 9
_SPARES = 4  # live bots and spares together
_IDLE_MS = 1  # without a request until a spare is made
_REMEMBERED = 64  # groups, until those are forgotten that are no more
_SPARE_NAME = "tute-spare"
_PATIENCE = 10_000  # times two milliseconds until a control group must be empty: on a busy machine what was killed takes its time to go


def arrange(received: "list[int]") -> "list[int]":
    """Put the descriptors of a bot at 0, 1, 2, 3 and so on. Returns the numbers behind the status pipe."""
    safe = [fcntl.fcntl(fd, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for fd in received]
    for target, fd in enumerate(safe):
        os.dup2(fd, target)  # and inheritable, which the launcher undoes for the status pipe
    return list(range(STATUS + 1, len(received)))


def bear(request: bytes, received: "list[int]", run: "Callable[[Plan], None]", spares: "Spares") -> int:
    """Have a child become the bot: a spare one, else a new one. Returns its process id."""
    while spares:
        child, link = spares.pop()
        try:
            socket.send_fds(link, [request], received)
        except OSError:  # somebody has killed it; if it lives, the end of its link ends it
            link.close()
            os.waitpid(child, 0)
        else:
            link.close()
            return child
    parent = os.getpid()
    child = os.fork()
    if not child:
        become(request, received, parent, run)
    return child


def become(request: bytes, received: "list[int]", parent: int, run: "Callable[[Plan], None]") -> None:
    """In a child: the launcher with its plan. Does not return."""
    try:
        plan = marshal.loads(request)
        plan["parent"] = parent
        plan["keep"] = arrange(received)
        plan["status"] = STATUS
        run(plan)
    except BaseException as error:
        os.write(received[STATUS], f"arrange: {error}".encode()[:4000])  # silence would mean that the bot runs
    finally:
        os._exit(126)


def spare(prepare: "Callable[[], None] | None", run: "Callable[[Plan], None]") -> "tuple[int, socket.socket]":
    """Fork a child that waits for a plan. It holds nothing of ours but the link, whose end ends it. Raises OSError."""
    link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parent = os.getpid()
    child = os.fork()
    if child:
        theirs.close()
        return child, link
    try:
        os.setsid()
        os.closerange(3, theirs.fileno())
        os.closerange(theirs.fileno() + 1, 1 << 20)
        with open("/proc/self/comm", "w") as name:  # noqa: PTH123 - pathlib would be one more import
            name.write(_SPARE_NAME)
        if prepare:
            prepare()
        gc.collect()  # it touches every object: pages shared with us are copied now and not while a bot is waited for
        request, received, _, _ = socket.recv_fds(theirs, _LONGEST_REQUEST, _MOST_DESCRIPTORS)
        if request:
            become(request, received, parent, run)
    finally:
        os._exit(126)


def end_group(pid: int) -> None:
    """Kill what is left of a bot's process group: bubblewrap's own child asks to die with it only once it is set up."""
    try:  # noqa: SIM105 - contextlib would be one more import
        os.killpg(pid, _SIGKILL)
    except ProcessLookupError:  # it has not come so far as to lead one
        pass


def handle_of(pid: int) -> int:
    """A handle of a new bot, which tells of its end. Where none can be made it kills the bot and raises OSError."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        os.kill(pid, _SIGKILL)
        end_group(pid)
        os.waitpid(pid, 0)
        raise


def bury(pid: int, end: int) -> None:
    """Collect a bot that has ended and tell its worker, if that still listens."""
    end_group(pid)  # before it is collected: afterwards the number may be another's
    _, status, usage = os.wait4(pid, 0)
    try:  # noqa: SIM105 - contextlib would be one more import
        os.write(end, marshal.dumps((status, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)))
    except BrokenPipeError:
        pass
    os.close(end)


def leave(alive: "dict[int, tuple[int, int, list[str]]]", ended: "list[str]") -> None:
    """The worker is gone: end its bots, and remove their control groups and those of bots that ended before, which nobody else would."""
    for pid, _, _ in alive.values():
        os.kill(pid, _SIGKILL)
        end_group(pid)
    for pid, _, groups in alive.values():
        os.waitpid(pid, 0)
        ended += groups
    for group in ended:
        remove(group)
    os._exit(0)


def remove(group: str) -> None:
    """Remove a control group as soon as it is empty: a wrapped bot ends a moment after its wrapper. Whatever else lives in it is killed."""
    for _ in range(_PATIENCE):
        try:
            os.rmdir(group)  # noqa: PTH106 - pathlib would be one more import
        except FileNotFoundError:
            return
        except OSError:
            end_inhabitants(group)
            time.sleep(0.002)
        else:
            return


def end_inhabitants(group: str) -> None:
    """Kill the processes of a control group."""
    try:
        with open(group + "/cgroup.procs") as inhabitants:  # noqa: PTH123 - pathlib would be one more import
            for pid in map(int, inhabitants):
                if pid:  # 0: in another namespace of process numbers
                    os.kill(pid, _SIGKILL)
    except OSError:  # the group or the process has gone meanwhile
        pass


# One loop, because everything in it shares what this small process holds.
def serve(fd: int, prepare: "Callable[[], None]", run: "Callable[[Plan], None]") -> None:  # noqa: C901
    """Serve the worker until it closes the socket. prepare, run: the launcher's."""
    worker = socket.socket(fileno=fd)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    alive: dict[int, tuple[int, int, list[str]]] = {}  # handle -> process id, descriptor to tell its end on, groups
    # groups of bots that have ended: the worker reads what they have used and removes them, while it lives
    ended: list[str] = []
    spares: Spares = []
    alone = False  # whether a bot has wanted a network of its own: then spares make theirs
    while True:
        found = poll.poll(_IDLE_MS if len(spares) + len(alive) < _SPARES else None)
        if not found:
            try:
                spares.append(spare(prepare if alone else None, run))
            except OSError:  # no process or descriptor to be had: whoever asks for a bot is told
                poll.poll()
        for ready, _ in found:
            if ready != fd:
                poll.unregister(ready)
                os.close(ready)
                pid, end, groups = alive.pop(ready)
                bury(pid, end)
                if len(ended) > _REMEMBERED:
                    ended = [group for group in ended if os.path.isdir(group)]  # noqa: PTH112 - as above
                ended += groups
                continue
            request, received, flags, _ = socket.recv_fds(worker, _LONGEST_REQUEST, _MOST_DESCRIPTORS)
            if not request:
                leave(alive, ended)
            try:
                if flags & socket.MSG_CTRUNC:
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                end = received[_END]
                plan = marshal.loads(request)
                pid = bear(request, received[:_END] + received[_END + 1 :], run, spares)
                handle = handle_of(pid)
            except OSError as error:
                answer: int | str = str(error)
                handles = []
            else:
                received.remove(end)
                alive[handle] = pid, end, plan["groups"]
                poll.register(handle, select.POLLIN)
                answer, handles = pid, [handle]
                alone = alone or bool(plan["own_network"])
            for used in received:
                os.close(used)
            try:
                socket.send_fds(worker, [marshal.dumps(answer)], handles)
            except OSError:  # the worker is gone
                leave(alive, ended)
