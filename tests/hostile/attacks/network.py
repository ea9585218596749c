"""Talking to anything but the worker."""

from tests.hostile.attacks.kind import Attack

ATTACKS = [
    Attack(
        name="open a socket of any family",
        source="""
for family in range(46):
    for kind in (1, 2, 3, 5):
        attempt(f"socket {family} {kind}", lambda: socket.socket(family, kind))
        if family != socket.AF_UNIX:
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
        name="turn a socket pair to others",
        source="""
near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
stream, other = socket.socketpair()
for name in ("\\0" + goal["listener"], "\\0" + goal["listener"] + "-packets", goal["directory"] + "/x"):
    attempt("bind", lambda: near.bind(name + "-mine"))
    attempt("connect", lambda: near.connect(name))
    attempt("send to", lambda: near.sendto(b"x", name))
    attempt("send a message", lambda: near.sendmsg([b"x"], [], 0, name))
    attempt("stream connect", lambda: stream.connect(name))
attempt("listen", lambda: stream.listen())
attempt("accept", lambda: stream.accept())
attempt("pass a descriptor", lambda: socket.send_fds(near, [b"x"], [0]))
attempt("option", lambda: near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20))
near.send(b"fine")  # a pair itself works: asyncio needs it
if far.recv(10) != b"fine":
    got.append("a socket pair does not work")
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
