"""The gate of WebAssembly: compiles a bot's module and answers its system calls (WASI preview 1), so that the module sees nothing but its dialogue.

Like the gate of Python it reports that it is loaded and waits for a byte. Then each request comes with the instructions that its answer may take, and
each answer goes out with those that it took: "N REQUEST", "N ANSWER". "! KIND DETAIL" is the end of a bot by its own fault. What a module can observe
depends on the requests alone: its clock is the number of instructions, its random bytes are always the same. No file beside the module takes the
place of one that this program imports.
"""

import sys
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from os import read, write
from pathlib import Path
from typing import Any, NoReturn

import wasmtime

INTERFACE = "wasi_snapshot_preview1"
MACHINE_CODE = b"\x7fELF"  # A compiled module begins so. No upload does: `engine.packages.archive` looks.
COMPILE = b"compile\n"  # Asks for the compiled module, in place of a dialogue.
MEMORY_BYTES = 128 << 20  # Of the module; its process has as much again.
STACK_BYTES = 1 << 20
TABLE_ELEMENTS = 1 << 20
LINE_BYTES = 64 << 10
CALL = 20_000  # Instructions that a system call costs: about its time.
BYTE = 20  # Instructions for each byte that a system call copies.
PIECES = 64  # Most buffers that one call may name.
NANOSECOND = 2  # Instructions.
MIDNIGHT = 1_767_225_600 * 10**9  # 2026-01-01, as for sealed bots.
SUCCESS, BAD_FILE, INVALID, NO_CALL, NO_SEEK = 0, 8, 28, 52, 70  # Errors of WASI.
TERMINAL = 2  # A "character device": C libraries then flush standard output after each line.


class Ended(Exception):
    """The module ends here, with this fault."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


def engine() -> wasmtime.Engine:
    """Return the compiler, with everything off that depends on the processor or on time."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    config.parallel_compilation = False
    config.signals_based_traps = False  # A sealed process installs no handlers.
    config.memory_init_cow = False
    config.memory_reservation = MEMORY_BYTES
    config.memory_guard_size = 0
    config.max_wasm_stack = STACK_BYTES
    for name in ("threads", "relaxed_simd", "memory64", "multi_memory", "gc", "exceptions", "tail_call"):
        setattr(config, f"wasm_{name}", False)
    return wasmtime.Engine(config)


def in_one_line(text: object) -> str:
    """Return a message as printable text in one line."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:400]


class Host:
    """One module, and the calls that it may make."""

    def __init__(self) -> None:
        self.engine = engine()
        self.store = wasmtime.Store(self.engine)
        self.store.set_limits(MEMORY_BYTES, TABLE_ELEMENTS, 1, 8, 1)
        self.memory: wasmtime.Memory | None = None
        self.requests = bytearray()  # Read from the referee.
        self.input = b""  # Of the module.
        self.output = bytearray()
        self.is_due = False  # An answer is due.
        self.budget = 0  # Instructions of this answer.
        self.fuel = 0  # Instructions that the store got last,
        self.spent = 0  # and those that the module took before.
        self.at_answer = 0  # Instructions that it had taken when its last answer went out.
        self.random = b""
        self.blocks = 0

    # ---- The referee

    def take(self) -> bool:
        """Read the next request. Return False at the end of the dialogue."""
        while (end := self.requests.find(b"\n")) < 0:
            data = read(0, 1 << 16)
            if not data:
                return False
            self.requests += data
        budget, _, line = bytes(self.requests[: end + 1]).partition(b" ")
        del self.requests[: end + 1]
        self.spent = self.count()
        self.budget, self.input, self.is_due = int(budget), line, True
        # What the module did after its last answer counts for this one.
        self.fuel = max(0, self.budget - (self.spent - self.at_answer))
        self.store.set_fuel(self.fuel)
        return True

    def count(self) -> int:
        """Return the instructions that the module has taken."""
        return self.spent + self.fuel - self.store.get_fuel()

    def answer(self, line: bytes) -> None:
        """Send an answer to the referee."""
        if not self.is_due:
            raise Ended("protocol", f"printed {line[:80]!r} although nothing was asked")
        last, self.at_answer = self.at_answer, self.count()
        self.is_due = False
        write_all(1, b"%d %s\n" % (self.at_answer - last, line))

    def end(self, kind: str, detail: str) -> None:
        """Report a fault as the answer to a request: this one, or the next."""
        if self.is_due or self.take():
            write_all(1, f"! {kind} {in_one_line(detail)}\n".encode())

    # ---- Memory of the module

    def spend(self, bytes_copied: int) -> None:
        """Count a system call."""
        self.store.set_fuel(max(0, self.store.get_fuel() - CALL - BYTE * bytes_copied))

    def get(self, at: int, size: int) -> bytes:
        at, size = at & 0xFFFFFFFF, size & 0xFFFFFFFF
        if self.memory is None or at + size > self.memory.data_len(self.store):
            raise Ended("crash", "a system call got an address outside of its memory")
        return bytes(self.memory.read(self.store, at, at + size))

    def put(self, at: int, data: bytes) -> None:
        at &= 0xFFFFFFFF
        if self.memory is None or at + len(data) > self.memory.data_len(self.store):
            raise Ended("crash", "a system call got an address outside of its memory")
        if data:
            self.memory.write(self.store, data, at)

    def number(self, at: int, value: int, size: int = 4) -> int:
        self.put(at, value.to_bytes(size, "little"))
        return SUCCESS

    def pieces(self, at: int, count: int) -> list[tuple[int, int]]:
        """Return address and size of each buffer of a call."""
        table = self.get(at, 8 * min(count & 0xFFFFFFFF, PIECES))
        numbers = [int.from_bytes(table[place : place + 4], "little") for place in range(0, len(table), 4)]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    # ---- System calls

    def fd_read(self, file: int, at: int, count: int, length_at: int) -> int:
        if file != 0:
            return BAD_FILE
        pieces = self.pieces(at, count)
        if not self.input and any(size for _, size in pieces):
            if self.is_due:
                raise Ended("timeout", "no answer: it waits for its next line")
            if not self.take():
                return self.number(length_at, 0)
        length = 0
        for place, size in pieces:
            part, self.input = self.input[:size], self.input[size:]
            self.put(place, part)
            length += len(part)
        self.spend(length)
        return self.number(length_at, length)

    def fd_write(self, file: int, at: int, count: int, length_at: int) -> int:
        if file not in (1, 2):
            return BAD_FILE
        length = 0
        for place, size in self.pieces(at, count):
            part = self.get(place, min(size, LINE_BYTES + 1))
            length += len(part)
            self.spend(len(part))
            if file == 2:
                write_all(2, part)
            else:
                self.print(part)
        return self.number(length_at, length)

    def print(self, part: bytes) -> None:
        self.output += part
        while (end := self.output.find(b"\n")) >= 0:
            line = bytes(self.output[:end])
            del self.output[: end + 1]
            if end > LINE_BYTES:
                break
            self.answer(line)
        if max(end, len(self.output)) > LINE_BYTES:
            raise Ended("output_flood", f"printed a line longer than {LINE_BYTES} bytes")

    def fd_fdstat_get(self, file: int, at: int) -> int:
        if file not in (0, 1, 2):
            return BAD_FILE
        self.put(at, bytes([TERMINAL]) + bytes(23))
        return SUCCESS

    def fd_seek(self, file: int, *_: int) -> int:
        return NO_SEEK if file in (0, 1, 2) else BAD_FILE

    def fd_close(self, _file: int) -> int:
        return SUCCESS

    def fd_prestat_get(self, *_: int) -> int:
        return BAD_FILE  # There are no folders.

    def nothing(self, count_at: int, size_at: int) -> int:
        """Answer that there are no arguments, and no variables."""
        return self.number(count_at, 0) or self.number(size_at, 0)

    args_sizes_get = environ_sizes_get = nothing

    def args_get(self, *_: int) -> int:
        return SUCCESS

    environ_get = sched_yield = args_get

    def clock_res_get(self, _clock: int, at: int) -> int:
        return self.number(at, 1, 8)

    def clock_time_get(self, clock: int, _precision: int, at: int) -> int:
        return self.number(at, self.count() // NANOSECOND + (0 if clock else MIDNIGHT), 8)

    def random_get(self, at: int, size: int) -> int:
        size &= 0xFFFFFFFF
        if size > LINE_BYTES:
            return INVALID
        while len(self.random) < size:
            self.random += sha256(b"tute %d" % self.blocks).digest()
            self.blocks += 1
        self.put(at, self.random[:size])
        self.random = self.random[size:]
        self.spend(size)
        return SUCCESS

    def proc_exit(self, code: int) -> NoReturn:
        raise Ended("crash", f"ended with status {code}")

    # ---- The module

    def link(self, module: wasmtime.Module) -> list[wasmtime.Func]:
        """Return what the module imports. Raise Ended for anything but system calls."""
        functions = []
        for item in module.imports:
            kind = item.type
            if item.module != INTERFACE or not isinstance(kind, wasmtime.FuncType):
                raise Ended("crash", f"it imports {item.module}.{item.name}; a bot may import functions of {INTERFACE}")
            functions.append(wasmtime.Func(self.store, kind, self.call(item.name or "", kind)))
        return functions

    def call(self, name: str, kind: wasmtime.FuncType) -> Callable[..., Any]:
        """Return what answers a system call. Raise Ended if it is declared with another type than it has."""
        types = "".join(map(str, kind.params)), "".join(map(str, kind.results))
        result = "" if name == "proc_exit" else "i32"
        if types != (CALLS.get(name, types[0]), result):
            raise Ended("crash", f"it imports {name} with another type than in {INTERFACE}")
        method = getattr(self, name) if name in CALLS else lambda *_: NO_CALL

        def answer(*arguments: int) -> Any:
            self.spend(0)
            return method(*arguments)

        return answer

    def run(self, path: Path) -> None:
        """Let the module run until it ends."""
        if not self.take():
            return
        module = load(self.engine, path)
        if self.input == COMPILE:
            write_all(1, b64encode(module.serialize()) + b"\n")
            return
        instance = wasmtime.Instance(self.store, module, self.link(module))
        exports = instance.exports(self.store)
        memory, start = exports.get("memory"), exports.get("_start")
        if not isinstance(memory, wasmtime.Memory) or not isinstance(start, wasmtime.Func):
            raise Ended("crash", "it does not export _start and memory, as a program for WASI does")
        self.memory = memory
        start(self.store)
        raise Ended("crash", "ended before the end of the dialogue")


CALLS = {  # Types of the parameters. All other calls answer that there is no such call.
    **dict.fromkeys(("args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get"), "i32i32"),
    **dict.fromkeys(("fd_fdstat_get", "fd_prestat_get", "random_get"), "i32i32"),
    **dict.fromkeys(("fd_read", "fd_write"), "i32i32i32i32"),
    **dict.fromkeys(("fd_close", "proc_exit"), "i32"),
    "fd_seek": "i32i64i32i32",
    "clock_time_get": "i32i64i32",
    "sched_yield": "",
}


def load(compiler: wasmtime.Engine, path: Path) -> wasmtime.Module:
    """Return the module of a file. Raise Ended if it is none."""
    data = path.read_bytes()
    if data.startswith(MACHINE_CODE):
        return wasmtime.Module.deserialize(compiler, data)
    try:
        return wasmtime.Module(compiler, data)
    except wasmtime.WasmtimeError as error:
        raise Ended("crash", f"it is no module that runs here: {in_one_line(error)}") from None


def write_all(file: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[write(file, data) :]


def main(path: Path) -> None:
    """Run a bot."""
    host = Host()
    try:
        host.run(path)
    except Ended as ended:
        host.end(ended.kind, str(ended))
    except wasmtime.Trap as trap:
        if trap.trap_code == wasmtime.TrapCode.OUT_OF_FUEL:
            host.end("timeout", f"used all of its {host.budget} instructions for this answer")
        else:
            write_all(2, f"{trap}\n".encode())
            host.end("crash", str(trap).rpartition("wasm trap: ")[2])
    except wasmtime.WasmtimeError as error:
        host.end("memory" if "memory" in str(error) else "crash", str(error))


write(1, b"\n")
if read(0, 1):
    main(Path(sys.argv[1]))
