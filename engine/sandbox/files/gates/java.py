"""The program of the runtime `java`: start a JVM, report that it is loaded, wait for the turn (see gate.py), and run the bot's jar.

Words: the options of the JVM, then the jar. Java's own launcher would wait for the bot by pthread_join, which computes in a bot's process until the
other thread has ended; this one waits by a lock.
"""

import _thread
import ctypes
import os
import sys

_JNI_VERSION = 0x000A0000
_JAR = 2  # LM_JAR of Java's launcher.
# Numbers of functions in the tables of the JVM, by the JNI specification.
_FIND_CLASS, _DESCRIBE, _FORGET, _STATIC_METHOD, _CALL_OBJECT, _CALL_VOID = 6, 16, 17, 113, 116, 143
_NEW_STRING, _NEW_ARRAY, _SET_NATIVES, _FAILED = 167, 172, 215, 228
_DESTROY = 3
_LIBRARY = os.path.join(sys.prefix, "..", "java", "lib", "server", "libjvm.so")  # noqa: PTH118 - pathlib takes long


class _Option(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("extra", ctypes.c_void_p))


class _Arguments(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("count", ctypes.c_int),
        ("options", ctypes.POINTER(_Option)),
        ("lenient", ctypes.c_ubyte),
    )


class _Native(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("signature", ctypes.c_char_p), ("function", ctypes.c_void_p))


class _Value(ctypes.Union):
    _fields_ = (("flag", ctypes.c_ubyte), ("number", ctypes.c_int), ("object", ctypes.c_void_p))


def _start(options: list[str]) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
    """Return the JVM and the environment of this thread in it."""
    texts = (_Option * len(options))(*[_Option(os.fsencode(option), None) for option in options])
    machine, environment = ctypes.c_void_p(), ctypes.c_void_p()
    arguments = _Arguments(_JNI_VERSION, len(options), texts, 0)
    create = ctypes.CDLL(_LIBRARY).JNI_CreateJavaVM
    if create(ctypes.byref(machine), ctypes.byref(environment), ctypes.byref(arguments)):
        raise SystemExit
    return machine, environment


def _call(table: ctypes.c_void_p, number: int, *words: object) -> int:
    """Call a function of the table to which the JVM or its environment points. Numbers are pointers."""
    functions = ctypes.cast(table, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    function = ctypes.CFUNCTYPE(ctypes.c_void_p)(functions[number] or 0)
    arguments = [ctypes.c_void_p(word) if isinstance(word, int) else word for word in words]
    result: int | None = function(table, *arguments)
    return result or 0


def _open_files_without_sockets(java: ctypes.c_void_p) -> None:
    """Exchange what java.nio does before it opens its first file, making a pair of sockets, by a call that does nothing here.

    Only closing a socket that another thread uses would need them. The class is Java 17's, or that of later ones.
    """
    find = ctypes.CDLL(_LIBRARY).JVM_FindClassFromBootLoader
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    natives = (_Native * 1)(_Native(b"init", b"()V", ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)))
    for name in (b"sun/nio/ch/FileDispatcherImpl", b"sun/nio/ch/UnixDispatcher"):
        if place := find(java, name):
            _call(java, _SET_NATIVES, place, natives, 1)
        _call(java, _FORGET)


def _play(options: list[str], jar: str) -> int:
    """Return the exit status, when the bot and all its threads have ended."""
    machine, java = _start([*options, f"-Djava.class.path={jar}"])
    _open_files_without_sockets(java)
    os.write(1, b"\n")
    if not os.read(0, 1):
        return 0
    helper = _call(java, _FIND_CLASS, b"sun/launcher/LauncherHelper")
    load = _call(java, _STATIC_METHOD, helper, b"checkAndLoadMain", b"(ZILjava/lang/String;)Ljava/lang/Class;")
    path = _call(java, _NEW_STRING, os.fsencode(jar))
    values = (_Value * 3)(_Value(flag=1), _Value(number=_JAR), _Value(object=path))
    if bot := _call(java, _CALL_OBJECT, helper, load, values):
        main = _call(java, _STATIC_METHOD, bot, b"main", b"([Ljava/lang/String;)V")
        words = _call(java, _NEW_ARRAY, 0, _call(java, _FIND_CLASS, b"java/lang/String"), 0)
        if main:
            _call(java, _CALL_VOID, bot, main, (_Value * 1)(_Value(object=words)))
    if _call(java, _FAILED) & 0xFF:
        _call(java, _DESCRIBE)
        return 1
    _call(machine, _DESTROY)  # Waits for the bot's other threads.
    return 0


def _run(options: list[str], jar: str) -> None:
    """Play, and end the process: whatever happens here, the first thread waits for ever."""
    code = 1
    try:
        code = _play(options, jar)
    except Exception as error:
        os.write(2, f"{error!r}\n".encode())
    finally:
        os._exit(code)


if __name__ == "__main__":
    waiting = _thread.allocate_lock()
    waiting.acquire()
    _thread.start_new_thread(_run, (sys.argv[1:-1], sys.argv[-1]))
    waiting.acquire()
