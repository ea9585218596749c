"""Runtimes: trees copied from the host that run bots, the same in every tier.

A tree holds only what a bot needs, is readable by every user, and never contains the project's own environment. Its layout: ``lib/``
loader, shared libraries and the locale, ``<runtime>/`` the program, empty ``bot/``, ``dev/`` and ``tmp/``. The program is always run by the tree's
own loader, so no library of the host is used.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from engine.sandbox.errors import SandboxError
from engine.sandbox.files import elf, inventory, keeping, tree

_LOADER = "ld.so"
_GATES = Path(__file__).parent / "gates"
_SOCKETS, _WAKEUP = "socket.socketpair()", "__import__('asyncio.wakeup').wakeup.pair()"
_PYTHON_GATE, _NODE_GATE = "python/gate.pyc", "node/gate.js"
_MODULE = ("-P", "-m")  # With -m alone the bot's own files come first on the module path, in place of the gate.
_WASM_GATE = "tute_wasm"
_MONO_GATE = "tute_mono"
# An empty file; Node exits if it may not read the host's file, which Landlock forbids.
_NODE_OPENSSL = "node/openssl.cnf"
_JAVA_GATE = "tute_java"
_OLDEST_JAVA = 17
_ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}  # The C library would reserve 64 MiB of addresses for each thread.
_LOCALES = "lib/locale"
_LOCALE = Path("/usr/lib/locale/C.utf8")  # What LANG names; only C libraries other than glibc work without its files.
_NODE_OWN_MODULE = re.compile(rb"/usr/share/nodejs/[\w./@-]+\.js")
_UNUSED_STDLIB = (
    *("test", "tests", "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip", "lib2to3", "pydoc_data"),
    *("site-packages", "dist-packages", "config-*", "*.a", "__phello__"),
)
# What only tests, type checkers and compilers read of a package.
_UNUSED_IN_PACKAGES = ("tests", "*.pyi", "*.pxd", "*.h", "*.a", "*_tests.*.so", "_simd.*.so", "f2py", "_pyinstaller")
# Modules of numpy that only write its help texts, which takes a tenth of its start; in a runtime they are empty.
_HELP_TEXTS = ("numpy/_core/_add_newdocs.py", "numpy/_core/_add_newdocs_scalars.py")
# The one import of numpy's types for checkers, which takes another tenth; in a runtime it names the type of arrays in their place.
_ANNOTATED = "numpy/linalg/_linalg.py"
_CHECKERS, _ARRAYS = "from numpy._typing import NDArray", "from numpy._core.multiarray import ndarray as NDArray"
_UNUSED_MODULES = ("_tkinter*", "_curses*", "readline*", "nis*", "_dbm*", "_gdbm*", "ossaudiodev*", "_test*", "xx*")
_PYTHON_FACTS = """
import json, os, sys, sysconfig
print(json.dumps({"program": os.path.realpath(sys.executable), "stdlib": sysconfig.get_path("stdlib"),
"dynload": [p for p in sys.path if p.endswith("lib-dynload")], "lib": sys.platlibdir,
"version": "%d.%d.%d" % sys.version_info[:3]}))
"""
# Kernels of OpenBLAS that every league's processor has, and the features that numpy may use there. With later ones, sums differ in their last bits.
_KERNELS = {
    "x86_64": ("Haswell", "SSE SSE2 SSE3 SSSE3 SSE41 POPCNT SSE42 AVX F16C FMA3 AVX2 X86_V2 X86_V3"),
    "aarch64": ("ARMV8", ""),
}
_NUMPY_FACTS = """
import json, sys
sys.path.append(sys.argv[1])
import numpy
from numpy._core._multiarray_umath import __cpu_dispatch__
print(json.dumps([numpy.__version__, __cpu_dispatch__]))
"""
# The output must be the same everywhere, because the name of a tree depends on its contents.
_COMPILE_GATE = """
import py_compile, sys
how = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile(sys.argv[1], cfile=sys.argv[2], dfile="gate", doraise=True, invalidation_mode=how)
"""


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A language in the sandbox.

    name: as in `bot.toml`; version: the program's version; root: its tree on the host; argv_prefix
    and environment: with "{root}" in place of the tree's path; parts: the part of the tree that a bot may read; runs_bot_files: True if the kernel
    executes the bot's own file; gate: the words after the prefix that make the program, once it is loaded, report by an empty line and wait for a
    byte before the first instruction of the bot's own code; needs_pipes: the program creates pipes at its start; memory_mb, address_space_mb: the
    least that the program itself needs, MiB; sealable: the program works without threads and without the host's clocks; host_files: files of the host
    that the program opens by absolute names. The tree has copies of them for tiers that change the root; threads: the most threads besides the
    first, None for as many as the policy allows; own_threads: those that the program starts for itself, besides the bot's.
    """

    name: str
    version: str
    root: Path
    argv_prefix: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ("lib",)
    runs_bot_files: bool = False
    gate: tuple[str, ...] = ()
    needs_pipes: bool = False
    memory_mb: int = 16
    address_space_mb: int | None = None
    sealable: bool = False
    host_files: tuple[Path, ...] = ()
    threads: int | None = None
    own_threads: int = 0

    @property
    def hash(self) -> str:
        """The hash of the tree's content, with which its name ends."""
        return self.root.name.rpartition("-")[2]

    def argv(self, root: str, bot: str, entry: str) -> list[str]:
        """Return the command, with the tree at ``root`` and the bot's directory at ``bot``."""
        return [word.replace("{root}", root) for word in (*self.argv_prefix, *self.gate)] + [f"{bot}/{entry}"]

    def environ(self, root: str, bot: str) -> dict[str, str]:
        """Return the bot's whole environment: nothing of ours is passed on. root, bot: as for `argv`."""
        fixed = {"PATH": "/nowhere", "HOME": bot, "LANG": "C.UTF-8", "LOCPATH": f"{root}/{_LOCALES}"}
        return fixed | {name: value.replace("{root}", root) for name, value in self.environment.items()}


def directory(state_dir: Path) -> Path:
    """Return the directory of the trees."""
    return state_dir.resolve() / "runtimes"


def prune(state_dir: Path, most_bytes: int) -> list[str]:
    """Remove unused runtimes, the least recently used first, until the rest has at most `most_bytes`. Return their names."""
    place = directory(state_dir)
    if not place.is_dir():
        return []
    with tree.locked(place):
        return keeping.prune(place, most_bytes, copies="bot")


def _make_mount_points(folder: Path) -> None:
    """Make the mount points of the namespaces tier for two devices and a program. As root the tier landlock exchanges the first two for devices."""
    for name in ("null", "urandom", "sealed"):
        (folder / name).touch()


def _empty_places(work: Path) -> None:
    for name in ("bot", "dev", "lib", "tmp"):
        (work / name).mkdir(exist_ok=True)
    _make_mount_points(work / "dev")
    if _LOCALE.is_dir():
        tree.copy(_LOCALE, work / _LOCALES / _LOCALE.name)


def _copy_program(work: Path, program: Path, target: str, extra_elf: list[Path]) -> None:
    """Copy the program to ``target`` and, flat in lib/, its loader and every library that it or ``extra_elf`` needs."""
    _empty_places(work)
    tree.copy(program, work / target)
    loader = elf.loader_of(program)
    if loader is None:
        raise SandboxError(f"{program} is a static program; expected one with a dynamic loader")
    tree.copy(loader.resolve(), work / "lib" / _LOADER)
    _copy_libraries(work, [program, *extra_elf], loader)


def _copy_libraries(work: Path, files: Sequence[Path], loader: Path | None = None) -> None:
    """Copy into lib/ every library that these files need and the tree lacks. loader: of this machine; by default the tree's own."""
    for file in files:
        for name, library in elf.libraries_of(loader or work / "lib" / _LOADER, file).items():
            if not library.is_relative_to(work) and not (work / "lib" / name).exists():
                tree.copy(library.resolve(), work / "lib" / name)


def _by_loader(program: str) -> tuple[str, ...]:
    return ("{root}/lib/" + _LOADER, "--library-path", "{root}/lib", "{root}/" + program)


def python(state_dir: Path, extra: Mapping[str, Path] | None = None, *, interpreter: Path | None = None) -> Runtime:
    """Return a copy of an interpreter with its standard library.

    state_dir: where trees are stored. extra: importable name, such as "engine" or "engine/cards/pack.py" -> file or directory to copy. interpreter:
    by default the one that runs this process, outside of its virtual environment. Raise SandboxError if it cannot be copied.
    """
    facts = _python_facts(os.path.realpath(interpreter or sys.executable))
    series = facts["version"].rpartition(".")[0]
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    finished = _python_sound(state_dir, f"python-{series}", facts["program"], extra)
    if extra:
        environment["PYTHONPATH"] = "{root}/python/extra"
    return Runtime(
        name="python",
        version=facts["version"],
        root=finished,
        argv_prefix=(
            *_by_loader(f"python/bin/python{series}"),
            *("-s", "-S", "-B", "-u", "-X", "utf8"),
        ),
        gate=("{root}/" + _PYTHON_GATE,),
        environment=environment,
        parts=("lib", "python"),
        sealable=True,
    )


def wasm(state_dir: Path) -> Runtime:
    """Return the runtime of modules of WebAssembly: Python with wasmtime, and a gate that runs them. Raise SandboxError if it is not installed."""
    spec = importlib.util.find_spec("wasmtime")
    if spec is None or spec.origin is None:
        raise SandboxError("wasmtime is not installed here; install tute-league[wasm] or enter no bots of WebAssembly")
    host = python(state_dir)
    version = importlib.metadata.version("wasmtime")
    extra = {"wasmtime": Path(spec.origin).parent, f"{_WASM_GATE}.py": _GATES / "wasm.py"}
    program = _python_facts(os.path.realpath(sys.executable))["program"]
    finished = _python_sound(state_dir, f"wasm-{version}", program, extra)
    return replace(_hosted(host, "wasm", version, finished, _WASM_GATE), memory_mb=256)


def _hosted(host: Runtime, name: str, version: str, root: Path, *gate: str, **environment: str) -> Runtime:
    """Return a runtime whose gate, a module among the extra ones of its tree, is run by Python."""
    environment = {**host.environment, "PYTHONPATH": "{root}/python/extra", **environment}
    return replace(host, name=name, version=version, root=root, gate=(*_MODULE, *gate), environment=environment)


def _python_sound(state_dir: Path, name: str, program: str, extra: Mapping[str, Path] | None) -> Path:
    """Return the tree of an interpreter with the extra modules, after repairing what it is based on. Raise SandboxError."""
    try:
        return _python_with(directory(state_dir), name, program, extra)
    except _DamagedBase as error:
        inventory.discard(error.base)
        return _python_with(directory(state_dir), name, program, extra)


class _DamagedBase(SandboxError):
    """The tree that another tree is based on has lost files since it was checked."""

    def __init__(self, base: Path, wrong: str) -> None:
        super().__init__(f"no runtime can be built on {base.name}: {wrong}")
        self.base = base


def _python_with(directory: Path, name: str, program: str, extra: Mapping[str, Path] | None) -> Path:
    """Return the tree of an interpreter with the extra modules. Raise _DamagedBase, SandboxError."""
    base = _python_tree(directory, program)
    if not extra:
        return base
    key = tree.signature(dict(extra), base.name, *sorted(extra))
    return tree.build_once(directory, name, key, lambda work: _add_modules(work, base, extra))


def _python_tree(directory: Path, program: str) -> Path:
    """Return the tree of an interpreter without extra modules."""
    facts = _python_facts(program)
    name = f"python-{facts['version'].rpartition('.')[0]}"
    stdlib = Path(facts["stdlib"])
    sources = {path.name: path for path in [Path(program), *stdlib.glob("*.py"), *stdlib.glob("lib-dynload/*.so")]}
    key = tree.signature({**sources, "gates": _GATES}, facts["version"])
    return tree.build_once(directory, name, key, lambda work: _build_python(work, facts))


_facts_of: dict[str, dict[str, str]] = {}


def _python_facts(interpreter: str) -> dict[str, str]:
    if interpreter not in _facts_of:
        result = subprocess.run(
            [interpreter, "-I", "-S", "-c", _PYTHON_FACTS],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={},
        )
        if result.returncode != 0:
            raise SandboxError(f"{interpreter} does not run as a Python interpreter: {result.stderr.strip()}")
        _facts_of[interpreter] = json.loads(result.stdout)
    return _facts_of[interpreter]


def _build_python(work: Path, facts: Mapping[str, str]) -> None:
    series = facts["version"].rpartition(".")[0]
    library = work / "python" / facts["lib"] / f"python{series}"
    tree.copy(Path(facts["stdlib"]), library, shutil.ignore_patterns(*_UNUSED_STDLIB, *_UNUSED_MODULES))
    for place in facts["dynload"]:
        if Path(place).is_relative_to(facts["stdlib"]):
            continue  # The library was copied already; on some systems it is in another place.
        tree.copy(Path(place), library / "lib-dynload", shutil.ignore_patterns(*_UNUSED_MODULES))
    modules = sorted((library / "lib-dynload").glob("*.so"))
    _copy_program(work, Path(facts["program"]), f"python/bin/python{series}", modules)
    _exchange_wakeup(library / "asyncio")
    _compile(work, facts, library)
    _run(work, series, "-c", _COMPILE_GATE, str(_GATES / "gate.py"), str(work / _PYTHON_GATE))


def _exchange_wakeup(asyncio: Path) -> None:
    """Make event loops work without sockets, which no bot may create."""
    loops = asyncio / "selector_events.py"
    text = loops.read_text(encoding="utf-8")
    if _WAKEUP not in text:  # A copy made from a copy has the change already.
        if text.count(_SOCKETS) != 1:
            raise SandboxError(
                f"{loops} does not have exactly one line with {_SOCKETS}; this version of Python is not supported"
            )
        loops.write_text(text.replace(_SOCKETS, _WAKEUP), encoding="utf-8")
        tree.copy(_GATES / "wakeup.py", asyncio / "wakeup.py")


def _compile(work: Path, facts: Mapping[str, str], place: Path) -> None:
    """Create missing bytecode with the copied interpreter, because a bot may not write it."""
    _run(work, facts["version"].rpartition(".")[0], "-m", "compileall", "-q", "-j", "1", str(place))


def _run(work: Path, series: str, *words: str) -> str:
    """Let the copied interpreter run something, such as a compiler. Return what it prints. Raise SandboxError."""
    argv = [word.replace("{root}", str(work)) for word in _by_loader(f"python/bin/python{series}")]
    result = subprocess.run(
        [*argv, "-I", "-S", *words], capture_output=True, text=True, timeout=300, check=False, env={}
    )
    if result.returncode != 0:
        output = (result.stderr or result.stdout).strip()
        raise SandboxError(f"the copied interpreter failed at {words[-1]}: {output}")
    return result.stdout


def _add_modules(work: Path, base: Path, extra: Mapping[str, Path]) -> None:
    """Copy the base tree by hard links (its files never change), and add the extra modules, with the shared libraries that they need."""
    if wrong := inventory.find_damage(base, whole=True):  # The trees share files, so damage to one is damage to both.
        raise _DamagedBase(base, wrong)
    for part in base.iterdir():
        if part.name not in ("bot", "dev"):  # Skip files of live bots, and those left by a killed worker.
            shutil.copytree(part, work / part.name, copy_function=os.link)
    for name in ("bot", "dev"):
        (work / name).mkdir()
    _make_mount_points(work / "dev")
    place = work / "python" / "extra"
    for name, source in extra.items():
        tree.copy(source, place / name, shutil.ignore_patterns("__pycache__", ".*", *_UNUSED_IN_PACKAGES))
    for path in (place / name for name in _HELP_TEXTS):
        if path.exists():
            path.write_bytes(b"")
    if (path := place / _ANNOTATED).exists():
        path.write_text(path.read_text(encoding="utf-8").replace(_CHECKERS, _ARRAYS), encoding="utf-8")
    program = next((work / "python" / "bin").iterdir())
    _copy_libraries(work, sorted(place.rglob("*.so")))
    version = program.name.removeprefix("python") + ".0"
    _compile(work, {"version": version}, place)


def why_no_numpy() -> str:
    """Return why this machine cannot run bots with numpy, or ""."""
    if importlib.util.find_spec("numpy") is None:
        return "numpy is not installed on this host; install it (pip install numpy)"
    if platform.machine() == "x86_64" and not {"avx2", "fma"} <= _processor_features():
        return "bots with numpy need a processor with AVX2 and FMA; this one has not both, or its virtual machine hides them"
    return ""


@cache
def _processor_features() -> frozenset[str]:
    flags = re.search(
        r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"), re.MULTILINE
    )
    return frozenset(flags[1].split() if flags else ())


def numpy_modules() -> dict[str, Path]:
    """Return numpy and its libraries, from the environment of this process, as extra modules of `python`. Raise SandboxError if it is missing."""
    if reason := why_no_numpy():
        raise SandboxError(reason)
    spec = importlib.util.find_spec("numpy")  # Located, not imported.
    folder = Path((spec and spec.origin) or "").parent
    libraries = folder.with_name("numpy.libs")  # Where a wheel has them.
    return {"numpy": folder} | ({libraries.name: libraries} if libraries.is_dir() else {})


def python_numpy(state_dir: Path, extra: Mapping[str, Path] | None = None) -> Runtime:
    """Return the runtime of `python` with numpy, which is imported before the gate, has one thread, and computes the same on every processor.

    Raise what `python` raises, and SandboxError if this host lacks numpy.
    """
    runtime = python(state_dir, {**(extra or {}), **numpy_modules()})
    version, features = _numpy_facts(runtime.root, runtime.version.rpartition(".")[0])
    kernels, usable = _KERNELS[platform.machine()]
    return replace(
        runtime,
        name="python-numpy",
        version=f"{runtime.version}, numpy {version}",
        argv_prefix=(*runtime.argv_prefix, "-X", "warm=numpy"),
        environment={
            **runtime.environment,
            "OPENBLAS_NUM_THREADS": "1",
            "OPENBLAS_CORETYPE": kernels,
            "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(set(features) - set(usable.split()))),
        },
        memory_mb=128,
        threads=0,
    )


@cache
def _numpy_facts(root: Path, series: str) -> tuple[str, list[str]]:
    """Return the version of numpy in a tree, and the processor features for which it has code of its own. Raise SandboxError if it does not run."""
    version, features = json.loads(_run(root, series, "-c", _NUMPY_FACTS, str(root / "python" / "extra")))
    return version, features


def binary(state_dir: Path) -> Runtime:
    """Return the runtime of static executables: a tree with a locale. The bot's own file is the program. Raise SandboxError."""
    root = tree.build_once(directory(state_dir), "binary", "empty", _empty_places)
    return Runtime(
        name="binary",
        version="static",
        root=root,
        argv_prefix=(),
        runs_bot_files=True,
        sealable=True,
        # Go reserves 1.2 GiB, and 8 MiB more for each thread if the program has C in it: a busy machine makes it start many.
        address_space_mb=4096,
    )


def _build_node(work: Path, program: Path) -> None:
    _copy_program(work, program, "node/node", [])
    tree.copy(_GATES / "gate.js", work / _NODE_GATE)
    (work / _NODE_OPENSSL).touch()
    _copy_own_modules(work)


def _copy_own_modules(work: Path) -> None:
    """Copy the modules that Debian's Node.js opens at its start to the paths named in its program: without these files it aborts."""
    for program in (work / "node" / "node", *(work / "lib").glob("libnode.so*")):
        for name in set(_NODE_OWN_MODULE.findall(program.read_bytes())):
            source = Path(name.decode())
            if source.is_file():
                target = work / source.relative_to("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def _own_modules(root: Path) -> tuple[Path, ...]:
    """Return the paths on the host of the modules that `_copy_own_modules` copied into the tree."""
    return tuple(sorted(Path("/") / path.relative_to(root) for path in (root / "usr").rglob("*.js")))


def node(state_dir: Path) -> Runtime:
    """Return the runtime of Node.js. Raise SandboxError, with a remedy, if it is not installed.

    The heap is limited below the memory limit, so that a bot that needs too much ends with Node's own message.
    """
    path = shutil.which("node")
    if not path:
        raise SandboxError("Node.js is not installed on this host; install the package nodejs or enter no node bots")
    real = Path(path).resolve()
    result = subprocess.run([real, "--version"], capture_output=True, text=True, timeout=30, check=True, env={})
    version = result.stdout.strip().removeprefix("v")
    key = tree.signature({"node": real, "gates": _GATES}, f"{version} with its own modules and settings")
    name = f"node-{version.partition('.')[0]}"
    root = tree.build_once(directory(state_dir), name, key, lambda work: _build_node(work, real))
    return Runtime(
        name="node",
        version=version,
        root=root,
        argv_prefix=(
            *_by_loader("node/node"),
            *("--max-old-space-size=128", "--single-threaded"),
        ),
        environment={"OPENSSL_CONF": "{root}/" + _NODE_OPENSSL},
        gate=("--require", "{root}/" + _NODE_GATE),
        needs_pipes=True,
        parts=("lib", "node", "usr"),
        host_files=_own_modules(root),
        memory_mb=256,
        address_space_mb=16384,
    )


def why_no_java() -> str:
    """Return why this machine cannot run bots in Java, or ""."""
    jlink = shutil.which("jlink")
    if not jlink:
        return "no Java is installed on this host; install the package default-jdk-headless or enter no java bots"
    version = _java_version(Path(jlink).resolve())
    return "" if version >= _OLDEST_JAVA else f"Java {version} is too old; install {_OLDEST_JAVA} or newer"


@cache
def _java_version(jlink: Path) -> int:
    release = jlink.parents[1] / "release"
    version = re.search(r'^JAVA_VERSION="(\d+)', release.read_text() if release.is_file() else "", re.MULTILINE)
    return int(version[1]) if version else 0


def _run_java(*argv: str | Path) -> str:
    """Run a program of the JDK on this machine. Return its output. Raise SandboxError."""
    result = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, env={"LANG": "C.UTF-8"})
    if result.returncode != 0:
        raise SandboxError(f"{argv[0]} failed: {(result.stderr or result.stdout).strip()[:500]}")
    return result.stdout


def _add_java(work: Path, base: Path, jlink: Path) -> None:
    """Add to Python a JVM with java.base alone, and its class-data archive, without which it starts five times as slowly."""
    _add_modules(work, base, {f"{_JAVA_GATE}.py": _GATES / "java.py"})
    home = work / "java"
    _run_java(jlink, *("--add-modules", "java.base", "--strip-debug", "--no-header-files"), "--output", home)
    _copy_libraries(work, [home / "lib" / "server" / "libjvm.so", home / "lib" / "libjli.so"])
    _run_java(home / "bin" / "java", *_JVM, "-Xshare:dump")


# One small JVM: it compiles once and lightly, and has one thread for garbage, and no files or sockets for tools.
_JVM = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1", "-Xrs", "-XX:-UsePerfData"),
    *("-XX:+DisableAttachMechanism", "-XX:-UseContainerSupport", "-XX:ErrorFile=/dev/null", "-XX:-PrintWarnings"),
    *("-Xms8m", "-Xmx128m", "-Xss512k", "-XX:ReservedCodeCacheSize=16m", "-XX:CompressedClassSpaceSize=32m"),
    # Without it a bot that draws a secure number computes for seconds, as there is no /dev/random.
    "-Djava.security.egd=file:/dev/urandom",
    *("-XX:MaxMetaspaceSize=48m", "-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=error:stderr"),
)


def java(state_dir: Path) -> Runtime:
    """Return the runtime of Java. Raise SandboxError, with a remedy, if it is not installed.

    Its parts together stay below the memory limit, so that a bot that needs too much ends with Java's own message.
    """
    if reason := why_no_java():
        raise SandboxError(reason)
    host = python(state_dir)
    jlink = Path(shutil.which("jlink") or "").resolve()
    version = _run_java(jlink, "--version").strip()
    key = tree.signature({"jlink": jlink, "gates": _GATES}, version, host.root.name, *_JVM)
    name = f"java-{version.partition('.')[0]}"
    root = tree.build_once(directory(state_dir), name, key, lambda work: _add_java(work, host.root, jlink))
    java = _hosted(host, "java", version, root, _JAVA_GATE, *_JVM, **_ONE_ARENA)
    return replace(java, parts=(*host.parts, "java"), memory_mb=256, own_threads=12, sealable=False)


def why_no_mono() -> str:
    """Return why this machine cannot run bots in C#, or ""."""
    if MONO_LIBRARY.is_file() and (MONO_ASSEMBLIES / "mscorlib.dll").is_file():
        return ""
    return (
        "Mono is not installed on this host; install the packages libmonosgen-2.0-1 and mono-mcs or enter no mono bots"
    )


def _add_mono(work: Path, base: Path) -> None:
    """Add to Python the library of Mono, and the assemblies that a bot may use."""
    _add_modules(work, base, {f"{_MONO_GATE}.py": MONO_GATE})
    native = MONO_LIBRARY.with_name("libmono-native.so")
    _copy_libraries(work, [MONO_LIBRARY, native])
    tree.copy(native.resolve(), work / "lib" / native.name)
    series = next((work / "python" / "bin").iterdir()).name.removeprefix("python")
    _run(work, series, str(MONO_GATE), "--adapt", str(MONO_LIBRARY), str(work / "lib" / MONO_LIBRARY.name))
    for name in _MONO_NAMES:
        tree.copy((MONO_ASSEMBLIES / f"{name}.dll").resolve(), work / "mono" / "4.5" / f"{name}.dll")


MONO_GATE = _GATES / "mono.py"
MONO_LIBRARY = Path("/usr/lib/libmonosgen-2.0.so.1")
MONO_ASSEMBLIES = Path("/usr/lib/mono/4.5")
# Assemblies for bots, with those that they need; all others are for systems that a bot does not have.
_MONO_NAMES = (
    "mscorlib",
    "System",
    "System.Core",
    "System.Numerics",
    "Mono.Security",
    "System.Configuration",
    "System.Xml",
)


def mono(state_dir: Path) -> Runtime:
    """Return the runtime of C#. Raise SandboxError, with a remedy, if it is not installed.

    The heap is limited below the memory limit, so that a bot that needs too much ends with Mono's own message.
    """
    if reason := why_no_mono():
        raise SandboxError(reason)
    host = python(state_dir)
    native = MONO_LIBRARY.with_name("libmono-native.so")
    key = tree.signature(
        {"mono": MONO_LIBRARY, "native": native, "corlib": MONO_ASSEMBLIES / "mscorlib.dll", "gates": _GATES},
        host.root.name,
    )
    root = tree.build_once(directory(state_dir), "mono", key, lambda work: _add_mono(work, host.root))
    environment = {
        "MONO_PATH": "{root}/mono/4.5",
        "MONO_CFG_DIR": "{root}/mono",
        "MONO_DISABLE_SHARED_AREA": "1",
        "MONO_GC_PARAMS": "max-heap-size=128m,nursery-size=4m,major=marksweep",
    }
    version = MONO_LIBRARY.resolve().name.partition(".so.")[2]
    library = "{root}/lib/" + MONO_LIBRARY.name
    mono = _hosted(host, "mono", version, root, _MONO_GATE, library, **_ONE_ARENA, **environment)
    return replace(mono, parts=(*host.parts, "mono"), memory_mb=128, sealable=False)
