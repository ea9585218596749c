"""Taking more memory, threads, files or time than allowed."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="memory bomb",
        source="hoard = []\nwhile True:\n    hoard.append(bytearray(8 << 20))",
        ends=frozenset({"memory"}),
    ),
    Attack(
        name="memory bomb that is caught",
        source="""
hoard = []
try:
    while True:
        hoard.append(bytearray(4 << 20))
except MemoryError:
    if 4 * len(hoard) > goal["memory_mb"]:
        got.append(f"{4 * len(hoard)} MiB")
    hoard.clear()
""",
    ),
    Attack(name="one huge block", source='attempt("block", lambda: len(bytearray(1 << 40)))'),
    Attack(
        name="memory no limit counts",
        source="""
big = 2 * goal["memory_mb"] * MIB
attempt("shared", lambda: mmap.mmap(-1, big))
attempt("grows down", lambda: mmap.mmap(-1, big, flags=0x122))
attempt("zeros", lambda: os.open("/dev/zero", os.O_RDWR))
attempt("memory file", lambda: call("memfd_create", id(b"x"), 0))
attempt("secret memory", lambda: call("memfd_secret", 0))
attempt("segment", lambda: call("shmget", 0, big, 0o1600))
attempt("queue", lambda: call("msgget", 0, 0o1600))
attempt("semaphores", lambda: call("semget", 0, 1, 0o1600))
attempt("locked", lambda: call("mlockall", 3))
attempt("merge", lambda: call("madvise", 0, 4096, 12))
""",
    ),
    Attack(
        name="memory hidden by making it read-only",
        source="""
for _ in range(64):
    block = libc.mmap(None, 32 * MIB, 3, 0x22, -1, 0)
    if block in (None, ctypes.c_void_p(-1).value):
        break
    ctypes.memset(block, 1, 32 * MIB)
    libc.mprotect(ctypes.c_void_p(block), 32 * MIB, 1)
while True:
    pass
""",
        ends=frozenset({"memory"}),
        wall_s=8.0,
    ),
    Attack(
        name="reserve and open up later",
        source="""
big = 4 * goal["memory_mb"] * MIB
block = libc.mmap(None, big, 0, 0x22, -1, 0)
if block not in (None, ctypes.c_void_p(-1).value):
    held = 0
    while held < big and libc.mprotect(ctypes.c_void_p(block + held), MIB, 3) == 0:
        held += MIB
    if held > goal["memory_mb"] * MIB:
        got.append(f"{held // MIB} MiB")
""",
    ),
    Attack(
        name="thread bomb",
        source="""
threading.stack_size(65536)
started = 0
def sleeper():
    time.sleep(60)
try:
    for _ in range(5000):
        threading.Thread(target=sleeper, daemon=True).start()
        started += 1
except RuntimeError:
    pass
if started > goal["threads"] + 1:
    got.append(f"{started} threads")
    time.sleep(5)
""",
        ends=frozenset({None, "memory"}),
    ),
    Attack(
        name="huge thread stacks",
        source="""
threading.stack_size(200 * MIB)
attempt("thread", lambda: threading.Thread(target=time.sleep, args=(9,), daemon=True).start() or "started")
""",
    ),
    Attack(
        name="fill pipes and sockets",
        source="""
held = 0
try:
    while True:
        reading, writing = os.pipe()
        attempt("pipe size", lambda: fcntl.fcntl(writing, 1031, 1 << 20))
        os.set_blocking(writing, False)
        try:
            while True:
                held += os.write(writing, bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
if held > 8 * MIB:
    got.append(f"{held} bytes in pipes")
""",
    ),
    Attack(
        name="open many files",
        source="""
opened = []
def hoard():
    while True:
        opened.append(os.open("bot.py", os.O_RDONLY))
attempt("files", hoard)
if len(opened) > 64:
    got.append(f"{len(opened)} files")
for fd in opened:
    os.close(fd)
""",
    ),
    Attack(
        name="compute for ever", source="while True:\n    pass", ends=frozenset({"timeout"}), budget_s=0.3, detail="CPU"
    ),
    Attack(
        name="compute for ever in C",
        source="x = 3 ** 10_000_000\nx = str(x)",
        ends=frozenset({"timeout", "crash"}),
        budget_s=0.3,
    ),
    Attack(
        name="compute in four threads",
        source="""
def spin():
    while True:
        pass
for _ in range(4):
    threading.Thread(target=spin, daemon=True).start()
spin()
""",
        ends=frozenset({"timeout"}),
        budget_s=0.3,
        detail="CPU",
    ),
    Attack(name="sleep for ever", source="time.sleep(3600)", ends=frozenset({"timeout"}), wall_s=0.5, detail="wall"),
    Attack(
        name="use up all CPU time",
        source="signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n    pass",
        ends=frozenset({"timeout"}),
        cpu_s=1,
        budget_s=60,
        wall_s=20,
        detail="in all",
    ),
]
