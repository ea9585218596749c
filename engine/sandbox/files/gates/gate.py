"""Runs in a bot's process before the bot: says that the interpreter is loaded, waits for its turn, and becomes the bot's program.

Until the byte comes nothing of the bot has been read, so a process that is started early can neither hear nor tell anything. The runtime has it
compiled: read as a text, it takes a millisecond of every start.
"""

import sys
from _frozen_importlib_external import SourceFileLoader
from posix import read, write

TYPE_CHECKING = False  # no import that the program does not need: whatever is loaded here is loaded into every bot
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


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
    for name in [name for name in main if not name.startswith("__") or name == "__annotations__"]:
        del main[name]
    main.update(__doc__=None, __file__=entry, __loader__=loader)
    with open(entry, "rb") as file:  # noqa: PTH123
        program = compile(file.read(), entry, "exec")
    exec(program, main)  # noqa: S102 - the bot itself


compile(b"", __file__, "exec")  # the first one takes more than a millisecond: now it does not keep the table waiting
write(1, b"\n")
if read(0, 1):
    become(globals(), sys.argv[1])
