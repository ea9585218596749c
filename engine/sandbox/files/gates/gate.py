"""Runs in a bot's process before the bot: says that the interpreter is loaded, waits for its turn, and becomes the bot's program.

Until the byte comes nothing of the bot has been read, so a process that is started early can neither hear nor tell anything. The runtime has it
compiled: read as a text, it takes a millisecond of every start.
"""

import sys
from _frozen_importlib_external import SourceFileLoader
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # the import system's own way to rename what was compiled elsewhere
from _warnings import filters
from posix import read, write

TYPE_CHECKING = False  # no import that the program does not need: whatever is loaded here is loaded into every bot
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any, NoReturn


class Caught(BaseException):
    """A program has been compiled, and has not begun."""


def compiled(source: bytes, name: str) -> "CodeType":
    """As `compile(source, name, "exec")`, which makes the types of all syntax trees first: a millisecond that nothing here needs.

    `exec` does not, and is stopped before the first instruction. Whatever it complains of is told by `compile`, which knows the name.
    """
    found: list[CodeType] = []

    def catch(frame: "FrameType", _event: str, _argument: object) -> "NoReturn":
        found.append(frame.f_code)
        raise Caught

    filters.insert(0, ("error", None, Warning, None, 0))
    sys.settrace(catch)
    try:
        exec(source, {})  # noqa: S102 - nothing of it runs
    except BaseException:  # noqa: S110 - as said above
        pass
    finally:
        sys.settrace(None)
        del filters[0]
    if not found:
        return compile(source, name, "exec")
    _fix_co_filename(found[0], name)
    return found[0]


def become(main: "dict[str, Any]", entry: str) -> None:
    """Run the bot as the main program. Its errors are told as if nobody stood between."""
    gate, tell = become.__code__.co_filename, sys.__excepthook__

    def without_gate(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
        while trace and trace.tb_frame.f_code.co_filename == gate:
            trace = trace.tb_next
        tell(kind, error.with_traceback(trace), trace)

    sys.excepthook = without_gate
    sys.argv[:2] = [entry]
    sys.path[0] = entry.rpartition("/")[0]
    loader = SourceFileLoader("__main__", entry)
    with open(entry, "rb") as file:  # noqa: PTH123
        program = compiled(file.read(), entry)
    for name in [name for name in main if not name.startswith("__") or name == "__annotations__"]:
        del main[name]
    main.update(__doc__=None, __file__=entry, __loader__=loader)
    exec(program, main)  # noqa: S102 - the bot itself


write(1, b"\n")
if read(0, 1):
    become(globals(), sys.argv[1])
