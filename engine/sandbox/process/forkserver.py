"""The forkserver: one small process beside each worker that forks the launcher for every bot, and reports how each bot ended.

An interpreter takes ten milliseconds to start, a fork of this process one. It has a single thread, so a fork inherits no locks; and bots die with it,
so no bot depends on which of the worker's threads asked for it. It ends when the worker does, for whatever reason, because its socket is then closed.
It forks a few children ahead, the spares, which have no bot yet and wait for a plan. Live bots and spares together are at most four, a full table, so
none is forked during play, where it would take a twentieth of the time of the match's core, and its caches. After a minute without bots it ends the
spares, until the next bot.

Request: a marshalled plan with the descriptors stdin, stdout, stderr, status, end, and those that the plan keeps. Answer: the process id and a handle
of the process, or a text that says why there is none. Later, on the descriptor "end": the wait status, the peak memory in KiB and the CPU seconds,
marshalled.
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

STATUS = 3  # Descriptor of the launcher's status pipe; the descriptors that the plan keeps follow it.
_END = 4  # Index of the descriptor "end" in a request.
_OUT_OF_THE_WAY = 64
# Ten times the size of a usual request; a buffer of twice this size would be mapped again each time.
_LONGEST_REQUEST = 1 << 16
_MOST_DESCRIPTORS = 16
_SIGKILL = 9
_SPARES = 4  # Number of live bots and spares together.
_IDLE_MS = 1  # Time without a request after which a spare is forked.
_REST_MS = 60_000  # Time without bots after which the spares end.
_REMEMBERED = 64  # Number of groups remembered; above it, those that no longer exist are dropped.
_SPARE_NAME = "tute-spare"
# Number of 2 ms waits until a control group must be empty: killed processes need time on a busy machine.
_PATIENCE = 10_000


def arrange(received: "list[int]") -> "list[int]":
    """Put the descriptors of a bot at 0, 1, 2, 3 and so on. Return the numbers after the status pipe."""
    safe = [fcntl.fcntl(fd, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for fd in received]
    for target, fd in enumerate(safe):
        os.dup2(fd, target)  # dup2 makes a descriptor inheritable; the launcher undoes this for the status pipe.
    return list(range(STATUS + 1, len(received)))


def fork_bot(request: bytes, received: "list[int]", run: "Callable[[Plan], None]", spares: "Spares") -> int:
    """Let a child become the bot: a spare if there is one, else a new child. Return its process id."""
    while spares:
        child, link = spares.pop()
        try:
            socket.send_fds(link, [request], received)
        except OSError:  # The spare was killed. If it still lives, closing its link ends it.
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
    """Run the launcher with its plan, in a child. Does not return."""
    try:
        plan = marshal.loads(request)
        plan["parent"] = parent
        plan["keep"] = arrange(received)
        plan["status"] = STATUS
        run(plan)
    except BaseException as error:
        # Without a message the worker would believe that the bot runs.
        os.write(received[STATUS], f"arrange: {error}".encode()[:4000])
    finally:
        os._exit(126)


def spare(prepare: "Callable[[], None] | None", run: "Callable[[Plan], None]") -> "tuple[int, socket.socket]":
    """Fork a child that waits for a plan. It holds no descriptor of ours except the link, and ends when the link is closed. Raise OSError."""
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
        # `collect` touches every object, so that pages shared with us are copied now and not during the start of a bot.
        gc.collect()
        request, received, _, _ = socket.recv_fds(theirs, _LONGEST_REQUEST, _MOST_DESCRIPTORS)
        if request:
            become(request, received, parent, run)
    finally:
        os._exit(126)


def end_spares(spares: "Spares") -> None:
    """End all spares."""
    while spares:
        child, link = spares.pop()
        link.close()
        os.waitpid(child, 0)


def end_group(pid: int) -> None:
    """Kill the rest of a bot's process group: bubblewrap's own child is tied to its parent only once it is set up."""
    try:  # noqa: SIM105 - contextlib would be one more import
        os.killpg(pid, _SIGKILL)
    except ProcessLookupError:  # The bot has not yet become a group leader.
        pass


def handle_of(pid: int) -> int:
    """Return a handle of a new bot, which reports the bot's end. If that fails, kill the bot and raise OSError."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        os.kill(pid, _SIGKILL)
        end_group(pid)
        os.waitpid(pid, 0)
        raise


def collect(pid: int, end: int) -> None:
    """Collect a bot that has ended and notify its worker, if the worker still runs."""
    end_group(pid)  # Do this before collecting the bot: afterwards its number may belong to another process.
    _, status, usage = os.wait4(pid, 0)
    try:  # noqa: SIM105 - contextlib would be one more import
        os.write(end, marshal.dumps((status, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)))
    except BrokenPipeError:
        pass
    os.close(end)


def leave(alive: "dict[int, tuple[int, int, list[str]]]", ended: "list[str]") -> None:
    """End the bots of a worker that is gone, and remove their control groups and those of earlier bots."""
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
    """Remove a control group once it is empty: a wrapped bot ends slightly after its wrapper. Kill whatever else lives in it."""
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
                if pid:  # 0 stands for a process of another namespace.
                    os.kill(pid, _SIGKILL)
    except OSError:  # The group or the process no longer exists.
        pass


# One loop, because all its parts share the state of this small process.
def serve(fd: int, prepare: "Callable[[], None]", run: "Callable[[Plan], None]") -> None:  # noqa: C901
    """Serve the worker until it closes the socket. prepare, run: functions of the launcher."""
    worker = socket.socket(fileno=fd)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    # Handle -> process id, descriptor on which to report its end, groups.
    alive: dict[int, tuple[int, int, list[str]]] = {}
    # Groups of bots that have ended. As long as the worker lives, it reads their usage and removes them.
    ended: list[str] = []
    spares: Spares = []
    rests = False  # True after a while without bots.
    alone = False  # True once a bot wanted a network of its own: then spares create theirs ahead.
    while True:
        is_full = rests or len(spares) + len(alive) >= _SPARES
        events = poll.poll((None if alive or rests else _REST_MS) if is_full else _IDLE_MS)
        if not events and is_full:
            end_spares(spares)
            rests = True
        elif not events:
            try:
                spares.append(spare(prepare if alone else None, run))
            except OSError:  # No process or descriptor is free; the next request for a bot reports that.
                poll.poll()
        for ready, _ in events:
            if ready != fd:
                poll.unregister(ready)
                os.close(ready)
                pid, end, groups = alive.pop(ready)
                collect(pid, end)
                if len(ended) > _REMEMBERED:
                    ended = [group for group in ended if os.path.isdir(group)]  # noqa: PTH112 - as above
                ended += groups
                continue
            request, received, flags, _ = socket.recv_fds(worker, _LONGEST_REQUEST, _MOST_DESCRIPTORS)
            if not request:
                leave(alive, ended)
            rests = False
            try:
                if flags & socket.MSG_CTRUNC:
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                end = received[_END]
                plan = marshal.loads(request)
                pid = fork_bot(request, received[:_END] + received[_END + 1 :], run, spares)
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
            except OSError:  # The worker is gone.
                leave(alive, ended)
