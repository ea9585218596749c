"""The launcher: runs inside the new process, drops every right in turn, then becomes the bot.

The worker compiles this file and passes it to the forkserver, which forks for every bot; the child runs the launcher with a plan. The launcher does
not know about tiers: it follows the plan. Any step that fails ends the process before the bot's first instruction, with the step's name on the status
pipe.
"""

import ctypes
import os
import resource
import struct

TYPE_CHECKING = False  # Only necessary imports, as in forkserver.py.
if TYPE_CHECKING:
    from typing import Any

    Plan = dict[str, Any]

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 1, 38, 39
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_SIGKILL, _SIGPIPE = 9, 13
_CAPABILITY_VERSION_3 = 0x20080522
_LANDLOCK_PATH_BENEATH = 1
_SECCOMP_SET_MODE_FILTER = 1
_CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _syscall(number: int, *arguments: int | bytes) -> int:
    words: list[Any] = [ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word) for word in arguments]
    return _checked(libc.syscall(ctypes.c_long(number), *words))


def _prctl(option: int, first: int = 0, second: int = 0) -> int:
    words = [ctypes.c_ulong(word) for word in (first, second, 0, 0)]
    return _checked(libc.prctl(option, *words))


# Called once here, in the forkserver, instead of in every child: looking up a C function takes longer than calling it.
_prctl(_PR_GET_NO_NEW_PRIVS)
libc.signal(_SIGPIPE, libc.signal(_SIGPIPE, None))


_alone = False  # True if this process has left the network of its parent.


def prepare() -> None:
    """Leave the parent's network ahead of time: leaving takes half a millisecond, returning almost none."""
    global _alone
    _alone = not libc.unshare(_CLONE_NEWNET)


def choose_network(plan: "Plan") -> None:
    """Set the network. True: an empty one of its own. False: the parent's, to which a spare returns. None: either."""
    if plan["own_network"] and not _alone:
        _checked(libc.unshare(_CLONE_NEWNET))
    elif _alone and plan["own_network"] is False:
        network = os.open(f"/proc/{plan['parent']}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        _checked(libc.setns(network, _CLONE_NEWNET))
        os.close(network)


def die_with_parent(plan: "Plan") -> None:
    """Ask for SIGKILL when the parent ends; fail if it already has. Must follow the change of user, which clears this request."""
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != plan["parent"]:
        raise OSError(f"the parent {plan['parent']} is gone, {os.getppid()} took its place")


def lead_session(plan: "Plan") -> None:
    """Start a session: no terminal, and no signals meant for our group."""
    if os.getsid(0) != os.getpid():
        os.setsid()


def close_files(plan: "Plan") -> None:
    """Close all files but the standard streams, the files that the plan keeps for the next program, and, until then, the status pipe."""
    os.set_inheritable(plan["status"], False)
    first = 3
    for descriptor in sorted([plan["status"], *plan["keep"]]):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 1 << 20)


def enter_groups(plan: "Plan") -> None:
    """Enter the control groups, whose limits are already set."""
    for place in plan["groups"]:
        procs = os.open(place + "/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        os.write(procs, b"0")
        os.close(procs)


def pin(plan: "Plan") -> None:
    """Bind the process to one core, or to the worker's cores."""
    os.sched_setaffinity(0, plan["cores"] if plan["core"] is None else {plan["core"]})


def set_limits(plan: "Plan") -> None:
    """Set every limit of the plan, soft and hard."""
    for number, soft, hard in plan["limits"]:
        resource.setrlimit(number, (soft, hard))


def change_root(plan: "Plan") -> None:
    """Make the runtime tree the root. Only root can; other users skip this."""
    if plan["root"] is not None:
        os.chroot(plan["root"])
        os.chdir("/")


def change_user(plan: "Plan") -> None:
    """Become the slot user, with no group except its own."""
    user = plan["user"]
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        if os.getresuid() != (user,) * 3 or os.getresgid() != (user,) * 3 or os.getgroups():
            raise OSError(f"still user {os.getresuid()}, group {os.getresgid()}")
    elif plan["refuse_root"] and 0 in os.getresuid():
        raise OSError("the bot would run as root")


def drop_capabilities(plan: "Plan") -> None:
    """Empty the ambient, permitted, effective and inheritable sets."""
    if plan["drop_capabilities"]:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
        _syscall(plan["numbers"]["capset"], header, bytes(24))


def no_new_privileges(plan: "Plan") -> None:
    """Keep all later programs from gaining rights."""
    if plan["no_new_privileges"]:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def enter_directory(plan: "Plan") -> None:
    """Enter the bot's working directory."""
    os.chdir(plan["directory"])
    os.umask(0o077)


def restrict_files(plan: "Plan") -> None:
    """Apply Landlock: only the named trees may be read, nothing may be written."""
    if plan["landlock"] is None:
        return
    ruleset, rules = plan["landlock"]
    numbers = plan["numbers"]
    handle = _syscall(numbers["landlock_create_ruleset"], ruleset, len(ruleset), 0)
    for path, directory_rights, file_rights in rules:
        where = os.open(path, os.O_PATH | os.O_CLOEXEC)
        is_directory = os.fstat(where).st_mode & 0o170000 == 0o040000
        beneath = struct.pack("=Qi", directory_rights if is_directory else file_rights, where)
        _syscall(numbers["landlock_add_rule"], handle, _LANDLOCK_PATH_BENEATH, beneath, 0)
        os.close(where)
    _syscall(numbers["landlock_restrict_self"], handle, 0)
    os.close(handle)


def filter_calls(plan: "Plan") -> None:
    """Install the system call filter. This is the last step, because it forbids the others."""
    if plan["filter"] is None:
        return
    code, pid_at = plan["filter"]
    program = bytearray(code)
    for at in pid_at:
        program[at : at + 4] = os.getpid().to_bytes(4, "little")
    store = ctypes.create_string_buffer(bytes(program), len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(store))
    _syscall(plan["numbers"]["seccomp"], _SECCOMP_SET_MODE_FILTER, 0, header)


def become(plan: "Plan") -> None:
    """Run the bot: the file that its command names, or the program in a descriptor.

    Reset SIGPIPE to its default, because an interpreter ignores it and children inherit that.
    """
    libc.signal(_SIGPIPE, None)
    program = plan["program"]
    if program is None:
        program = plan["argv"][0]
    else:
        os.set_inheritable(program, False)
    os.execve(program, plan["argv"], plan["environment"])


STEPS = (
    lead_session,
    close_files,
    enter_groups,
    choose_network,
    pin,
    change_root,
    change_user,
    die_with_parent,
    drop_capabilities,
    no_new_privileges,
    enter_directory,
    restrict_files,
    set_limits,
    filter_calls,
    become,
)


def run(plan: "Plan") -> None:
    """Do every step; report the first failure and end the process."""
    for step in STEPS:
        try:
            step(plan)
        except BaseException as error:
            os.write(plan["status"], f"{step.__name__}: {error}".encode()[:4000])
            break
    os._exit(126)
