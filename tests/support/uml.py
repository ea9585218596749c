"""Another kernel as an ordinary program (User Mode Linux), for tests that the kernel of this machine does not allow.

It has control groups v2 with their controllers, and no Landlock.

It sees the files of this machine through hostfs, starts in about three seconds and needs no privilege. On processors with longer registers than
Debian's version knows (AMX) it stops at its first process; `uml_registers.c` works around that.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.support import debian, languages
from tests.support.processes import DidNotStart

HOW_TO_GET_ONE = "The tests of control groups v2 need User Mode Linux. Debian: sudo apt-get install user-mode-linux."
_INIT = """#!/bin/sh
exec >{folder}/out 2>&1
export HOME=/tmp PATH={path}:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs tmpfs /run
ip link set lo up 2>/dev/null
sh -e {folder}/script
echo $? >{folder}/status
sync
halt -f
"""


def find() -> str:
    """Return the path of the kernel, installed if needed. Raise DidNotStart, which says what to do."""
    return debian.find("user-mode-linux", debian.on_path("linux.uml"), HOW_TO_GET_ONE)


def _variables(folder: Path) -> dict[str, str]:
    """Return the environment of that kernel: if this machine's registers are longer than it knows, including a library that restores them."""
    if not re.search(r"\bamx_tile\b", Path("/proc/cpuinfo").read_text()):
        return dict(os.environ)
    library = folder / "registers.so"
    source = Path(__file__).with_name("uml_registers.c")
    subprocess.run([languages.find("cc"), "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def run(script: str, timeout_s: float, memory_mb: int = 1000) -> str:
    """Run a shell script as root of that kernel; return what it printed. Raise DidNotStart if it fails or takes too long."""
    with tempfile.TemporaryDirectory(prefix="tute-uml-") as name:
        folder = Path(name)
        init = folder / "init"
        init.write_text(_INIT.format(folder=folder, path=os.environ.get("PATH", "")))
        (folder / "script").write_text(script)
        init.chmod(0o755)
        command = [find(), f"mem={memory_mb}M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}"]
        command += ["con=null", "con0=null", "quiet", f"uml_dir={folder}"]
        kernel = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_variables(folder),
            start_new_session=True,
        )
        try:
            output, _ = kernel.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(kernel.pid, signal.SIGKILL)
            output, _ = kernel.communicate()
        printed = (folder / "out").read_text() if (folder / "out").is_file() else ""
        status = (folder / "status").read_text().strip() if (folder / "status").is_file() else "never reached its end"
        if status != "0":
            raise DidNotStart(f"the other kernel's script ended with {status}:\n{printed[-3000:]}\n{output[-1000:]}")
        print(printed)  # pytest shows this if the test fails.
        return printed
