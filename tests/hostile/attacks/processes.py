"""Making, reaching, watching or outliving processes; working while frozen."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="fork", source='attempt("fork", os.fork)\nattempt("spawn", lambda: os.posix_spawn("/bin/true", [], {}))'
    ),
    Attack(
        name="fork bomb",
        source="""
for _ in range(2000):
    attempt("fork", lambda: os.fork() or os._exit(0))
    attempt("clone3", lambda: call("clone3", 0, 0))
""",
    ),
    Attack(
        name="leave a daemon behind",
        source="""
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    return "made"
attempt("daemon", daemon)
attempt("session", os.setsid)
attempt("group", lambda: os.setpgid(0, 0))
import subprocess
attempt("subprocess", lambda: subprocess.run(["/bin/true"]))
""",
    ),
    Attack(
        name="kill the worker and everybody",
        source="""
for pid in (goal["worker"], os.getppid(), -1, 0, -goal["worker"], -os.getppid() if os.getppid() else -2):
    for number in (0, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        attempt(f"kill {pid} {number}", lambda: os.kill(pid, number))
attempt("thread kill", lambda: call("tgkill", goal["worker"], goal["worker"], 9))
attempt("tkill", lambda: call("tkill", goal["worker"], 9))
attempt("queue", lambda: call("rt_sigqueueinfo", goal["worker"], 9, 0))
attempt("handle", lambda: call("pidfd_open", goal["worker"], 0))
attempt("handle kill", lambda: call("pidfd_send_signal", 0, 9, 0, 0))
""",
    ),
    Attack(
        name="feign a kill from outside",
        source="""
for number in (signal.SIGKILL, signal.SIGSTOP):
    attempt(f"kill itself {number}", lambda: os.kill(os.getpid(), number))
    attempt(f"raise {number}", lambda: signal.raise_signal(number))
    attempt(f"thread {number}", lambda: signal.pthread_kill(threading.get_ident(), number))
""",
    ),
    Attack(
        name="trace and read the worker",
        source="""
for request in (0, 16, 0x4206, 1, 4):
    attempt(f"ptrace {request}", lambda: call("ptrace", request, goal["worker"], 0, 0))
attempt("read memory", lambda: call("process_vm_readv", goal["worker"], 0, 0, 0, 0, 0))
attempt("write memory", lambda: call("process_vm_writev", goal["worker"], 0, 0, 0, 0, 0))
attempt("steal a descriptor", lambda: call("pidfd_getfd", 0, 0, 0))
attempt("compare", lambda: call("kcmp", goal["worker"], os.getpid(), 0, 0, 0))
attempt("watch the clock", lambda: time.clock_gettime((~goal["worker"] << 3) | 2))
attempt("other's limits", lambda: resource.prlimit(goal["worker"], resource.RLIMIT_CPU, (1, 1)))
""",
    ),
    Attack(
        name="change what it is",
        source="""
for option, value in ((1, 0), (4, 1), (36, 1), (0x59616D61, -1), (29, 1), (8, 1), (47, 2), (22, 0), (35, 8)):
    attempt(f"prctl {option}", lambda: call("prctl", option, value, 0, 0, 0))
attempt("setuid", lambda: call("setuid", 0))
attempt("setresuid", lambda: call("setresuid", 0, 0, 0))
attempt("setgid", lambda: call("setgid", 0))
attempt("setgroups", lambda: call("setgroups", 0, 0))
attempt("capset", lambda: call("capset", 0, 0))
attempt("nice", lambda: os.nice(-5))
attempt("affinity", lambda: os.sched_setaffinity(0, {0}))
attempt("scheduler", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("terminal", lambda: fcntl.ioctl(0, 0x5412, b"x"))
for which in (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
    hard = resource.getrlimit(which)[1]
    attempt(f"limit {which}", lambda: resource.setrlimit(which, (hard + 1, hard + 1)))
""",
    ),
    Attack(
        name="ignore every signal and compute",
        source="""
for number in range(1, 65):
    attempt("x", lambda: signal.signal(number, signal.SIG_IGN))
while True:
    pass
""",
        ends=frozenset({"timeout"}),
        budget_s=0.3,
    ),
    Attack(
        name="ponder in a thread",
        source="""
def ponder():
    while True:
        pass
for _ in range(3):
    threading.Thread(target=ponder, daemon=True).start()
""",
        pause_s=0.2,
    ),
    Attack(
        name="wake itself by a timer",
        source="""
attempt("timer", lambda: call("timer_create", 1, 0, id(bytes(64))))
attempt("owner", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid()))
attempt("signal", lambda: fcntl.fcntl(0, 10, signal.SIGCONT))
signal.signal(signal.SIGALRM, lambda *_: attempt("wake", lambda: os.kill(os.getpid(), signal.SIGCONT)))
attempt("interval", lambda: signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01))
signal.alarm(1)
if signal.alarm(0) > 0:
    got.append("an alarm")
def ponder():
    while True:
        pass
threading.Thread(target=ponder, daemon=True).start()
""",
        pause_s=0.2,
    ),
    Attack(name="exit with a status", source="os._exit(3)", ends=frozenset({"crash"}), detail="exit status 3"),
    Attack(name="exit quietly", source="os._exit(0)", ends=frozenset({"crash"}), detail="exit status 0"),
    Attack(name="raise an error", source="1 / 0", ends=frozenset({"crash"}), detail="exit status 1"),
    Attack(name="abort", source="os.abort()", ends=frozenset({"crash"}), detail="signal"),
    Attack(name="break the stack", source="ctypes.string_at(0)", ends=frozenset({"crash"}), detail="SIGSEGV"),
    Attack(
        name="dump 100 MB of core", source="x = bytearray(100 << 20)\nos.abort()", ends=frozenset({"crash", "memory"})
    ),
    Attack(name="become another program", source='attempt("exec", lambda: os.execv("/bin/sh", ["sh"]))'),
]
