"""The gate: runs in a bot's process before the bot. It reports that the interpreter is loaded, waits for a byte, and becomes the bot's program.

Until the byte arrives nothing of the bot has been read, so a process that is started early can neither receive nor send anything. The runtime
contains this file compiled: parsing the source would add a millisecond to every start. `-X warm=NAME` imports a module before the report.
"""

import sys
from _frozen_importlib_external import SourceFileLoader
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # the import system's own way to rename code compiled elsewhere
from _warnings import filters
from posix import read, write

TYPE_CHECKING = False  # Every import here is loaded into every bot, so this file imports only what it must.
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any, NoReturn


class Caught(BaseException):
    """Raised when compiling has finished and the program has not begun."""


def compiled(source: bytes, name: str) -> "CodeType":
    """Compile like `compile(source, name, "exec")`, which first creates the types of all syntax trees and so takes a millisecond more.

    `exec` does not create those types; it is stopped before the first instruction. `compile` reports the errors, because it knows the name.
    """
    codes: list[CodeType] = []

    def catch(frame: "FrameType", _event: str, _argument: object) -> "NoReturn":
        codes.append(frame.f_code)
        raise Caught

    filters.insert(0, ("error", None, Warning, None, 0))
    sys.settrace(catch)
    try:
        exec(source, {})  # noqa: S102 - stopped before its first instruction
    except BaseException:  # noqa: S110 - `compile` reports it below
        pass
    finally:
        sys.settrace(None)
        del filters[0]
    if not codes:
        return compile(source, name, "exec")
    _fix_co_filename(codes[0], name)
    return codes[0]


def become(main: "dict[str, Any]", entry: str) -> None:
    """Run the bot as the main program. Its tracebacks do not show this file."""
    gate, tell = become.__code__.co_filename, sys.__excepthook__

    def without_gate(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
        while trace and trace.tb_frame.f_code.co_filename == gate:
            trace = trace.tb_next
        tell(kind, error.with_traceback(trace), trace)

    sys.excepthook = without_gate
    sys.argv[:2] = [entry]
    folder, _, file_name = entry.rpartition("/")
    sys.path[0] = folder
    if file_name.partition(".")[0] in sys.stdlib_module_names:
        # A bot called random.py or types.py would take the place of the module of that name, which the SDK imports.
        sys.path.append(sys.path.pop(0))
    loader = SourceFileLoader("__main__", entry)
    with open(entry, "rb") as file:  # noqa: PTH123
        program = compiled(file.read(), entry)
    for name in [name for name in main if not name.startswith("__") or name == "__annotations__"]:
        del main[name]
    main.update(__doc__=None, __file__=entry, __loader__=loader)
    exec(program, main)  # noqa: S102 - the bot itself


if "warm" in sys._xoptions:
    import gc

    gc.disable()  # What is imported stays: looking through it again and again takes a twentieth of the time.
    __import__(str(sys._xoptions["warm"]))
    gc.freeze()
    gc.enable()
write(1, b"\n")
if read(0, 1):
    become(globals(), sys.argv[1])
