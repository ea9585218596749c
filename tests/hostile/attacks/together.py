"""Two bots, or one bot in two matches: reaching each other, leaving each other marks. And ends at bad moments."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="reach the opponent",
        source="""
near = [pid for start in (os.getpid(), goal["worker"]) for pid in range(max(2, start - 40), start + 60)]
for pid in set(near) - {os.getpid()}:
    attempt(f"signal {pid}", lambda: os.kill(pid, 0))
    attempt(f"trace {pid}", lambda: call("ptrace", 0x4206, pid, 0, 0))
    attempt(f"read {pid}", lambda: call("process_vm_readv", pid, 0, 0, 0, 0, 0))
    attempt(f"clock {pid}", lambda: time.clock_gettime((~pid << 3) | 2))
    attempt(f"limits {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_CPU))
    attempt(f"hold {pid}", lambda: call("pidfd_open", pid, 0))
    attempt(f"stop {pid}", lambda: os.kill(pid, signal.SIGSTOP))
""",
    ),
    Attack(
        name="look at others through /proc",
        source="""
for pid in ("1", str(goal["worker"]), str(os.getppid()), str(os.getpid() - 1), str(os.getpid() + 1)):
    for name in ("cmdline", "maps", "mem", "stat", "io", "wchan", "auxv"):
        attempt(f"{pid} {name}", lambda: open(f"/proc/{pid}/{name}", "rb").read(100))
    for name in ("exe", "cwd", "root", "fd/0", "ns/net"):
        attempt(f"{pid} {name}", lambda: os.readlink(f"/proc/{pid}/{name}"))
    attempt(f"{pid} files", lambda: os.listdir(f"/proc/{pid}/fd"))
for name in ("loadavg", "stat", "uptime", "vmstat", "schedstat", "sysvipc/shm", "locks", "net/unix", "mounts"):
    attempt(name, lambda: open(f"/proc/{name}", "rb").read(100))
""",
    ),
    Attack(
        name="talk through what the kernel shares",
        source="""
with open(os.__file__, "rb") as file:
    page = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    attempt("write hint", lambda: fcntl.fcntl(file, 1036, bytes([2, *bytes(7)])))
    attempt("lock", lambda: fcntl.lockf(file, fcntl.LOCK_SH))
word, long_ago = ctypes.c_uint32.from_address(page).value, ctypes.create_string_buffer(16)
for operation in (0, 9, 1, 3, 10):
    result = libc.syscall(goal["numbers"]["futex"], ctypes.c_void_p(page), operation, word, None, None, 0xFFFFFFFF)
    if result > 0 or (result == 0 and operation not in (1, 10)):
        got.append(f"shared futex {operation}: {result}")
attempt("several futexes", lambda: call("futex_waitv", page, 1, 0, 0, 0))
for pid in (1, 2, goal["worker"], os.getpid() + 1):
    if pid == os.getpid():
        continue
    attempt("affinity", lambda: call("sched_getaffinity", pid, 8, ctypes.addressof(long_ago)))
    for name in ("sched_getparam", "sched_getscheduler", "getsid", "getpgid"):
        attempt(name, lambda: call(name, pid, ctypes.addressof(long_ago)))
    for which in (0, 1, 2):
        attempt("priority", lambda: call("getpriority", which, pid))
attempt("rights of others", lambda: call("capget", ctypes.addressof(long_ago), ctypes.addressof(long_ago)))
attempt("pipe", os.pipe)
attempt("socket pair", socket.socketpair)
attempt("timer descriptor", lambda: call("timerfd_create", 1, 0))
attempt("signal in time", lambda: signal.sigtimedwait([signal.SIGUSR1], 0.01))
for name, first, second in (("membarrier", 1, 0), ("madvise", page, 4096), ("arch_prctl", 0x2003, 0)):
    if name in goal["numbers"] and libc.syscall(goal["numbers"][name], ctypes.c_long(first), second, 21) >= 0:
        got.append(name)
""",
    ),
    Attack(
        name="leave marks in access times",
        source="""
library = os.path.dirname(os.__file__)
for path in ("bot.py", f"{library}/colorsys.py", f"{library}/xml", "."):
    before = os.stat(path).st_atime_ns
    if os.path.isdir(path):
        os.listdir(path)
    else:
        with open(path, "rb") as file:
            file.read()
    if os.stat(path).st_atime_ns != before:
        got.append(f"a mark in {path}")
""",
    ),
    Attack(
        name="leave something in the kernel",
        source="""
for key in (0x7475, 0x7465):
    attempt("segment", lambda: call("shmget", key, 4096, 0o1666))
    attempt("queue", lambda: call("msgget", key, 0o1666))
    attempt("semaphore", lambda: call("semget", key, 1, 0o1666))
name = ctypes.create_string_buffer(b"tute")
attempt("named queue", lambda: call("mq_open", ctypes.addressof(name), 0o102, 0o666, 0))
attempt("key", lambda: call("add_key", ctypes.addressof(name), ctypes.addressof(name), 0, 0, -4))
for keyring in (-1, -2, -3, -4, -5):
    attempt(f"keyring {keyring}", lambda: call("keyctl", 0, keyring, 1))
attempt("host name", lambda: call("sethostname", ctypes.addressof(name), 4))
attempt("exec from memory", lambda: call("execveat", 0, ctypes.addressof(name), 0, 0, 0x1000))
""",
    ),
    Attack(
        name="be at work while frozen, in every way",
        source="""
def spin():
    while True:
        pass
signal.signal(signal.SIGCONT, lambda *_: spin())
signal.signal(signal.SIGALRM, lambda *_: spin())
signal.alarm(1)
threading.Timer(0.05, spin).start()
attempt("real time", lambda: call("sched_setscheduler", 0, 1, 0))
""",
        ends=frozenset({None, "timeout", "pondering"}),
        pause_s=0.2,
        budget_s=0.5,
        wall_s=2.0,
    ),
    Attack(
        name="exit a moment after its answer",
        source="threading.Timer(0.002, os._exit, (9,)).start()",
        ends=frozenset({None, "crash"}),
        pause_s=0.05,
    ),
    Attack(
        name="fork at its end",
        source="""
import atexit
def breed():
    for _ in range(100):
        try:
            if os.fork() == 0:
                time.sleep(60)
        except OSError:
            pass
atexit.register(breed)
signal.signal(signal.SIGTERM, lambda *_: breed())
sys.exit(4)
""",
        ends=frozenset({"crash"}),
        detail="exit status 4",
    ),
    Attack(
        name="block every signal and compute",
        source="""
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    pass
""",
        ends=frozenset({"timeout"}),
        budget_s=0.3,
    ),
    Attack(
        name="stop itself",
        source="""
for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
    os.kill(os.getpid(), number)
attempt("terminal", lambda: os.tcsetpgrp(0, os.getpgrp()))
""",
        ends=frozenset({None, "timeout"}),
        wall_s=1.0,
    ),
    Attack(
        name="try every process option",
        source="""
harmless = {3, 15, 16, 23, 39}
for option in range(1, 80):
    if option not in harmless:
        attempt(f"prctl {option}", lambda: call("prctl", option, 0, 0, 0, 0))
""",
    ),
    Attack(
        name="restart itself with a huge environment",
        source="""
code = '''
import os, sys
got = []
try:
    os.fork()
    got.append("fork")
except OSError:
    pass
for fd in range(3, 64):
    try:
        os.fstat(fd)
        got.append("descriptor")
    except OSError:
        pass
print(got, flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
'''
for size in (130_000, 1000):
    more = {f"X{number}": "y" * size for number in range(20 if size > 1000 else 500)}
    attempt("exec", lambda: os.execve(sys.orig_argv[0], [*sys.orig_argv[:-2], "-c", code], os.environ | more))
""",
        ends=frozenset({None, "crash", "protocol", "memory"}),
    ),
    Attack(
        name="use up its descriptors and play on",
        source="""
def hoard():
    while True:
        os.open("bot.py", os.O_RDONLY)
attempt("files", hoard)
attempt("pipes", os.pipe)
attempt("pairs", socket.socketpair)
attempt("events", lambda: call("epoll_create1", 0) if libc.epoll_create1(0) >= 0 else os.pipe())
""",
    ),
]
