"""Talking to anything but the worker."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="open a socket of any family",
        source="""
for family in range(46):
    for kind in (1, 2, 3, 5):
        attempt(f"socket {family} {kind}", lambda: socket.socket(family, kind))
        attempt(f"pair {family} {kind}", lambda: socket.socketpair(family, kind))
""",
    ),
    Attack(
        name="connect to the local network",
        source="""
attempt("IPv4", lambda: socket.create_connection(("127.0.0.1", goal["port"]), 1))
attempt("IPv6", lambda: socket.create_connection(("::1", goal["port"]), 1))
attempt("name", lambda: socket.getaddrinfo("example.org", 80))
""",
    ),
    Attack(
        name="go round the C library",
        source="""
if libc.syscall(goal["numbers"]["socket"], 2, 1, 0) >= 0 or ctypes.get_errno() != errno.EAFNOSUPPORT:
    got.append("socket")
attempt("io_uring", lambda: call("io_uring_setup", 8, id(bytes(200))))
attempt("io_uring enter", lambda: call("io_uring_enter", 0, 0, 0, 0, 0))
""",
    ),
]
