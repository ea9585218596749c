"""Reading and writing what is the host's, the worker's or another bot's."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(name="nothing", source=""),
    Attack(
        name="read files of the host",
        source="""
worker = goal["worker"]
for path in (goal["sentinel"], "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/run/secrets",
             "/proc/1/environ", f"/proc/{worker}/environ", f"/proc/{worker}/mem", "/proc/self/environ",
             "/proc/self/maps", "/proc/cpuinfo", "/proc/meminfo", "/sys/kernel/mm", "/dev/mem", "/dev/kmsg",
             "/var/run/docker.sock", "/usr/bin/env", "../../../../etc/passwd", "/bin/sh"):
    attempt(path, lambda: open(path, "rb").read(10))
""",
    ),
    Attack(
        name="climb out of the directory",
        source="""
def climb():
    here = os.open(".", os.O_RDONLY)
    for _ in range(20):
        here = os.open("..", os.O_RDONLY, dir_fd=here)
    return os.open("etc/passwd", os.O_RDONLY, dir_fd=here)
attempt("openat", climb)
for _ in range(20):
    attempt("chdir", lambda: os.chdir(".."))
got.clear()
attempt("read", lambda: open("etc/passwd").read(10))
attempt("chroot", lambda: os.chroot("."))
""",
    ),
    Attack(
        name="list directories of the host",
        source="""
for path in ("/", "/usr/bin", "/etc", "/home", "/proc", "/dev", goal["directory"], "/tmp", "/bot", ".."):
    def seen():
        names = set(os.listdir(path)) - {"bot", "dev", "lib", "python", "tmp", "null", "sealed", "urandom", "bot.py", "bot.toml"}
        if not names:
            raise OSError("nothing of the host")
        return names
    attempt(path, seen)
""",
    ),
    Attack(
        name="dump the environment",
        source="""
known = {"PATH", "HOME", "LANG", "LOCPATH", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PWD", "LC_CTYPE"}
got += [f"{name}={value}" for name, value in os.environ.items() if name not in known]
got += [f"{name}={value}" for name, value in os.environ.items() if name != "HOME" and goal["directory"] in value]
""",
    ),
    Attack(
        name="use inherited descriptors",
        source="""
for fd in range(3, 4096):
    attempt(f"descriptor {fd}", lambda: os.fstat(fd))
""",
    ),
    Attack(
        name="write anywhere",
        source="""
places = ("/", "/tmp", "/dev/shm", "/var/tmp", "/bot", ".", goal["directory"], "/run", "/dev", "/lib", "/python")
for place in places:
    attempt("create " + place, lambda: os.open(place + "/new", os.O_CREAT | os.O_WRONLY))
    attempt("nameless " + place, lambda: os.open(place, os.O_TMPFILE | os.O_RDWR))
    attempt("mkdir " + place, lambda: os.mkdir(place + "/new"))
    attempt("symlink " + place, lambda: os.symlink("x", place + "/new"))
    attempt("link " + place, lambda: os.link("bot.py", place + "/new"))
    attempt("mknod " + place, lambda: os.mknod(place + "/new"))
    attempt("mkfifo " + place, lambda: os.mkfifo(place + "/new"))
    attempt("rename " + place, lambda: os.rename("bot.py", place + "/new"))
attempt("memfd", lambda: os.memfd_create("x"))
attempt("sentinel", lambda: open(goal["sentinel"], "r+b").write(b"x"))
""",
    ),
    Attack(
        name="change its own code",
        source="""
here = os.path.abspath(__file__) if os.path.isabs(__file__) else "bot.py"
attempt("append", lambda: os.open("bot.py", os.O_WRONLY | os.O_APPEND))
attempt("truncate", lambda: os.truncate("bot.py", 0))
attempt("remove", lambda: os.remove("bot.py"))
attempt("chmod", lambda: os.chmod("bot.py", 0o777))
attempt("chown", lambda: os.chown("bot.py", 0, 0))
attempt("touch", lambda: os.utime("bot.py"))
attempt("attribute", lambda: os.setxattr("bot.py", "user.x", b"1"))
os.__file__ and attempt("library", lambda: open(os.__file__, "r+b"))
attempt("map", lambda: mmap.mmap(os.open("bot.py", os.O_RDWR), 0))
""",
    ),
    Attack(
        name="pass bits by locks on a shared file",
        source="""
file = open(os.__file__, "rb")
attempt("flock", lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("shared flock", lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB))
attempt("lockf", lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB))
attempt("open file lock", lambda: fcntl.fcntl(file, 37, bytes(32)))
attempt("lease", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))
attempt("notify", lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS))
attempt("inotify", lambda: call("inotify_init1", 0))
attempt("fanotify", lambda: call("fanotify_init", 0, 0))
attempt("mincore", lambda: call("mincore", 0, 0, 0))
attempt("cold reads", lambda: call("preadv2", 0, 0, 0, 0, 0, 8))
attempt("page cache", lambda: call("fadvise64", file.fileno(), 0, 0, 4))
attempt("sysinfo", lambda: call("sysinfo", id(bytes(200))))
attempt("statfs", lambda: os.statvfs("."))
""",
    ),
]
