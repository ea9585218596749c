"""Compile the parts of a Python bot: a program that runs inside a build (engine.packages.building), so it imports nothing of this project.

extensions.py KIND FOLDER SOURCE...: KIND is cython, pybind11 or mypyc; the sources are paths in the folder, which is one below the current
directory. The modules go to RESULT, as a JSON object of Base64 by name, each beside its source.
"""

import base64
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

RESULT, WORK, OUT = Path("/tmp/program"), Path("/tmp/work"), Path("/tmp/out")  # noqa: S108 - inside the sandbox
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
# Paths and names are fixed; the runtime of bots has no library of C++. No code is generated for the processor of this machine.
FLAGS = ("-shared", "-fPIC", "-O2", "-s", "-fvisibility=hidden", f"-ffile-prefix-map={WORK}=.")
CPP = ("-std=c++17", "-static-libstdc++", "-static-libgcc")


def run(*argv: str) -> None:
    """Run a compiler; end with its status if it fails."""
    if code := subprocess.run(argv, check=False).returncode:
        sys.exit(code)


def link(compiler: str, name: str, sources: Iterable[str], *flags: str) -> None:
    """Make the module `name`, a path without ending, of C or C++."""
    module = OUT / f"{name}{SUFFIX}"
    module.parent.mkdir(parents=True, exist_ok=True)
    run(compiler, *FLAGS, f"-I{sysconfig.get_path('include')}", "-I.", "-o", str(module), *flags, *sources)


def cython(sources: list[str]) -> None:
    """Compile each source by way of C."""
    for source in sources:
        name = os.path.splitext(source)[0]  # noqa: PTH122 - a Path would drop nothing else
        code = WORK / f"{name}.c"
        code.parent.mkdir(parents=True, exist_ok=True)
        run(sys.executable, "-sSBP", "-m", "cython", "-3", "-o", str(code), source)
        link("gcc", name, [str(code)], "-lm")


def pybind11(sources: list[str]) -> None:
    """Compile each source to a module of its name."""
    import pybind11

    for source in sources:
        link("g++", os.path.splitext(source)[0], [source], *CPP, f"-I{pybind11.get_include()}")  # noqa: PTH122


def mypyc(sources: list[str]) -> None:
    """Compile all sources together, with one library that they share."""
    from mypyc.build import mypycify

    options = [
        "--config-file=",
        "--explicit-package-bases",
        "--ignore-missing-imports",
        "--follow-imports=silent",
        "--cache-dir=/tmp/cache",
    ]
    extensions = mypycify([*options, *sources], opt_level="2", debug_level="0", target_dir=str(WORK), group_name="all")
    for extension in extensions:
        folders = [f"-I{folder}" for folder in (*extension.include_dirs, WORK)]
        link("gcc", extension.name.replace(".", "/"), extension.sources, *extension.extra_compile_args, *folders)


def main(kind: str, folder: str, sources: list[str]) -> None:
    """Compile, and write the result."""
    if not sources:
        sys.exit(f"error: nothing to compile: the package has no source for {kind}")
    WORK.mkdir()
    os.chdir(folder)
    {"cython": cython, "pybind11": pybind11, "mypyc": mypyc}[kind](sources)
    modules = {
        str(Path(folder) / path.relative_to(OUT)): base64.b64encode(path.read_bytes()).decode()
        for path in sorted(OUT.rglob("*.so"))
    }
    RESULT.write_text(json.dumps(modules))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
