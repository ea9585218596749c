"""The program of the runtime `mono`: load Mono, report it, wait for the turn (see gate.py), and run the bot's program.

Arguments: the library of Mono, the program, its arguments. Builds in C# start the compiler by this file, too. With `--adapt LIBRARY COPY` it only
writes a copy of the library that works in the sandbox.

Mono's own launcher does not work there: it runs the program in the first thread and measures its stack in /proc, which a bot does not have.
"""

import _thread
import ctypes
import os
import sys

# What Mono requires and the sandbox lacks, with a harmless replacement: a file for crash reports, and calls that set the priority of a thread.
_CHANGES = {
    b"/proc/self/maps": b"/dev/null",
    b"pthread_getschedparam": b"sched_yield",
    b"pthread_setschedparam": b"sched_yield",
}
_STACK_BYTES = 8 << 20
_CONFIGURATION = b'<configuration><dllmap dll="System.Native" target="libmono-native.so"/></configuration>'  # Elsewhere it is in /etc.


def _adapt(library: str, copy: str) -> None:
    with open(library, "rb") as source, open(copy, "wb") as target:  # noqa: PTH123
        content = source.read()
        for name, other in _CHANGES.items():
            if content.count(b"\0%s\0" % name) != 1:
                sys.exit(f"{library} does not have {name!r} exactly once; this version of Mono is not supported")
            content = content.replace(b"\0%s\0" % name, b"\0%s\0" % other.ljust(len(name), b"\0"))
        target.write(content)


def _play(library: str, program: str, *words: str) -> int:
    """Return the exit status of the bot's program."""
    mono = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)  # Mono's other libraries look its functions up.
    mono.mono_jit_init_version.restype = mono.mono_domain_assembly_open.restype = ctypes.c_void_p
    mono.mono_config_parse_memory(_CONFIGURATION)
    domain = ctypes.c_void_p(mono.mono_jit_init_version(b"bot", b"v4.0.30319"))

    def end(error: int, _: object) -> None:  # End at once: Mono would end its threads one after the other.
        mono.mono_print_unhandled_exception(ctypes.c_void_p(error))
        os._exit(1)

    hook = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(end)
    mono.mono_install_unhandled_exception_hook(hook, None)
    os.write(1, b"\n")
    if not os.read(0, 1):
        return 0
    path = os.fsencode(program)
    assembly = mono.mono_domain_assembly_open(domain, path)
    if not assembly:
        os.write(2, path + b" is no program of .NET\n")
        return 1
    texts = (ctypes.c_char_p * (1 + len(words)))(path, *map(os.fsencode, words))
    code: int = mono.mono_jit_exec(domain, ctypes.c_void_p(assembly), len(texts), texts)
    return code & 0xFF


def _run(*argv: str) -> None:
    """Play, and end the process: whatever happens here, the first thread waits for ever."""
    code = 1
    try:
        code = _play(*argv)
    except Exception as error:
        os.write(2, f"{error!r}\n".encode())
    finally:
        os._exit(code)


if sys.argv[1] == "--adapt":
    _adapt(*sys.argv[2:])
else:
    _thread.stack_size(_STACK_BYTES)
    waiting = _thread.allocate_lock()
    waiting.acquire()
    _thread.start_new_thread(_run, tuple(sys.argv[1:]))
    waiting.acquire()
