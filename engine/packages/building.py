"""Build a package of source: one recipe a language, run in the sandbox with the toolchain of this machine.

A recipe says which compiler, which flags and where the program is. The same sources, toolchain and recipe give the same bytes, and `Toolchain.digest`
names the last two. The toolchains are Debian's; see docs/builds.md.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from engine.packages import manifest
from engine.packages.archive import BotPackage
from engine.packages.manifest import PackageRefused
from engine.sandbox import BuildLimits, SandboxError, SandboxUnavailable, run_build
from engine.sandbox.files import elf, runtimes
from engine.sandbox.policy import DAY
from engine.sandbox.tiers import namespaces
from engine.sandbox.tiers.building import compilers

_OUT = "/tmp/program"  # noqa: S108 - inside the sandbox
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "SOURCE_DATE_EPOCH": str(DAY),
}
# Standard output is the result, so the compiler's own output goes to the log.
_SCRIPT = f"set -e; exec 3>&1 1>&2\n{{script}}\nexec cat {_OUT} >&3"
_OLDEST_GO = (1, 22)  # An older one makes a pipe when it sleeps, which no bot may.
_ASK_S = 60.0
_PYTHON_FACTS = "import platform, sysconfig as s; print(s.get_path('stdlib'), s.get_path('include'), platform.python_version(), sep='\\n')"
_REQUIRED = re.compile(r"[\w.-]+")
_ERROR = re.compile(r"\berror(\[\w+\]| TS\d+)?:|^\S+:\d+:\d+: (?!warning|note|error)|^java\.lang\.\w+Error\b")


@dataclass(frozen=True)
class Toolchain:
    """A compiler of this machine. version: for people; files: its programs and libraries; paths: what a build sees of this machine.

    compiler: its program, if it has to find its own file; linker: the toolchain that it needs; stamps: of the files, when it was found.
    """

    version: str
    files: Sequence[Path]
    paths: tuple[Path, ...]
    environment: Mapping[str, str]
    compiler: Path | None = None
    linker: Toolchain | None = None
    stamps: list[tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stamps", _stamps(self.files))

    @property
    def is_current(self) -> bool:
        """True unless a file was exchanged or removed since: another version was installed. Reads no file."""
        return _stamps(self.files) == self.stamps and (self.linker is None or self.linker.is_current)

    @cached_property
    def digest(self) -> str:
        """The hash of version and files. Only a build needs it: those of all languages take a second of a core."""
        whole = hashlib.sha256(self.version.encode() + (self.linker.digest.encode() if self.linker else b""))
        try:
            for path in self.files:
                with path.open("rb") as file:
                    whole.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise SandboxUnavailable(f"{self.version} cannot be read: {error}") from error
        return whole.hexdigest()


def _stamps(files: Sequence[Path]) -> list[tuple[int, ...]]:
    """Return what changes when a package is upgraded: inode, size and time of each file; () for a missing one."""
    stamps: list[tuple[int, ...]] = []
    for path in files:
        try:
            facts = path.stat()
        except OSError:
            stamps.append(())
        else:
            stamps.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
    return stamps


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The build of one language, from source to program.

    title: the language for people; packages: of Debian that have the compiler; script: for sh, with the words of `words` as "$@", leaves the program
    in _OUT; look: looks for the toolchain, or raises SandboxUnavailable.
    """

    title: str
    packages: str
    script: str
    words: Callable[[BotPackage], Sequence[str]]
    look: Callable[[], Toolchain]


@dataclass(frozen=True)
class Built:
    """The end of a build. package: what plays, None if it failed; why: one sentence for the author then; digest: of source, toolchain and recipe."""

    package: BotPackage | None
    log: str
    why: str
    toolchain: str
    digest: str


def _ask(*argv: str) -> str:
    """Return what a compiler of this machine says about itself. Raise SandboxUnavailable."""
    try:
        result = subprocess.run(argv, capture_output=True, text=True, timeout=_ASK_S, check=True, cwd="/")
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{argv[0]} does not run here: {error}") from error
    return result.stdout.strip()


def _program(name: str, packages: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise SandboxUnavailable(f"{name} is not installed; Debian, Ubuntu: apt-get install {packages}")
    return path


def _toolchain(
    version: str, files: Sequence[Path], paths: Sequence[Path] = (), environment: Mapping[str, str] | None = None
) -> Toolchain:
    here = compilers()
    more = [path for path in paths if path != Path("/usr") and not any(map(path.is_relative_to, here))]
    return Toolchain(version, files, (*here, *more), {**_ENVIRONMENT, **(environment or {})})


def _gnu(compiler: str, front: str, library: str, packages: str) -> Toolchain:
    path = _program(compiler, packages)
    programs = [Path(shutil.which(_ask(path, f"-print-prog-name={name}")) or name) for name in (front, "as", "ld")]
    libraries = [Path(_ask(path, f"-print-file-name={name}")) for name in ("libc.a", "libgcc.a", library)]
    for file in (*programs, *libraries):
        if not file.is_file():
            raise SandboxUnavailable(f"{file} is missing; Debian, Ubuntu: apt-get install {packages}")
    return _toolchain(_ask(path, "--version").splitlines()[0], [*programs, *libraries])


def _find_clang() -> Toolchain:
    packages = RECIPES["c-wasm"].packages
    path = _program("clang", packages)
    names = ("-print-prog-name=wasm-ld", "-print-file-name=libc.a", "-print-libgcc-file-name")
    linker, *libraries = (Path(_ask(path, _WASI, name)) for name in names)
    compiler = Path(path).resolve()
    compiler_libraries = [
        file
        for name, file in elf.libraries_of(_loader(compiler), compiler).items()
        if "LLVM" in name or "clang" in name
    ]
    for file in (linker, *libraries):
        if not file.is_absolute() or not file.is_file():
            raise SandboxUnavailable(f"{file} is missing; Debian, Ubuntu: apt-get install {packages}")
    files = [compiler, *compiler_libraries, linker, *libraries]
    return _toolchain(_ask(path, "--version").splitlines()[0], files)


def _loader(program: Path) -> Path:
    loader = elf.loader_of(program)
    if loader is None:
        raise SandboxUnavailable(f"{program} is not Debian's: it is static")
    return loader


def _find_rust(language: str) -> Toolchain:
    packages = RECIPES[language].packages
    path = _program("rustc", packages)
    is_wasm = language != "rust"
    linker = find("c-wasm" if is_wasm else "c")
    root = Path(_ask(path, "--print", "sysroot"))
    libraries = sorted(root.glob(f"lib/rustlib/{'wasm32-wasi*' if is_wasm else '*'}/lib/lib*.rlib"))
    program = root / "bin" / "rustc"
    if not libraries or not program.is_file():
        raise SandboxUnavailable(f"{root} has no standard library; Debian, Ubuntu: apt-get install {packages}")
    version = f"{_ask(path, '--version')}, {linker.version}"
    environment = {
        "PATH": f"/tmp/bin:{root}/bin:/usr/bin:/bin",  # noqa: S108
        "LD_LIBRARY_PATH": f"{root}/lib",  # A program finds its libraries by its own place only where there is a /proc.
        "CARGO_HOME": "/tmp/cargo",  # noqa: S108
        "CARGO_INCREMENTAL": "0",
    }
    files = [program, *sorted(root.glob("lib/librustc_driver*")), *libraries]
    return replace(_toolchain(version, files, [root], environment), compiler=program, linker=linker)


def _find_go() -> Toolchain:
    path = _program("go", RECIPES["go"].packages)
    root, version = _ask(path, "env", "GOROOT", "GOVERSION").splitlines()
    if tuple(int(part) for part in version.removeprefix("go").split(".")[:2]) < _OLDEST_GO:
        raise SandboxUnavailable(
            f"{version} is too old; install Go 1.22 or newer, in Debian 12 from bookworm-backports"
        )
    top = Path(root)
    shared = {path.resolve() for path in (top / "src", top / "pkg", top / "pkg" / "tool") if path.is_symlink()}
    environment = {
        "PATH": f"{root}/bin:/usr/bin:/bin",
        "GOROOT": root,
        "GOPATH": "/tmp/go",  # noqa: S108
        "GOCACHE": "/tmp/cache",  # noqa: S108
        "GOENV": "off",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOTELEMETRY": "off",
        "GOMAXPROCS": "2",
        "CGO_ENABLED": "0",
    }
    programs = [top / "bin" / "go", *sorted((top / "pkg" / "tool").resolve().glob("*/*"))]
    sources = sorted((top / "src" / "runtime").resolve().glob("*.go"))
    return _toolchain(version, [*programs, *sources], [top, *sorted(shared)], environment)


def _find_typescript() -> Toolchain:
    packages = RECIPES["typescript"].packages
    node = Path(_program("node", packages)).resolve()
    top = Path(_program("tsc", packages)).resolve().parents[1]
    library = sorted((top / "lib").glob("lib*.d.ts"))
    facts = f"require({json.dumps(str(top / 'package.json'))}).version + ' ' + process.version"
    return _toolchain(
        "TypeScript {}, Node {}".format(*_ask(str(node), "-p", facts).split()),
        [node, top / "lib" / "tsc.js", *library],
        [top, node],
        {"NODE": str(node), "TSC": str(top / "bin" / "tsc")},
    )


def _find_java() -> Toolchain:
    packages = RECIPES["java"].packages
    path = Path(_program("javac", packages)).resolve()
    home = path.parents[1]
    settings = {
        file.resolve().parent for file in home.glob("lib/*.cfg") if file.is_symlink()
    }  # Debian's are below /etc.
    files = [home / "lib" / name for name in ("modules", "server/libjvm.so", "ct.sym")]
    for file in (*files, home / "bin" / "jar"):
        if not file.is_file():
            raise SandboxUnavailable(f"{file} is missing; Debian, Ubuntu: apt-get install {packages}")
    toolchain = _toolchain(_ask(str(path), "-version"), files, [home, *sorted(settings)], {"JDK": str(home)})
    return replace(toolchain, compiler=path)


def _java(package: BotPackage) -> list[str]:
    """Return the main class, which is named by its folder and file, the class path, the manifest of the jar, and the sources."""
    jars = [name for name in package.files if name.endswith(".jar")]
    main = package.manifest.entry.removesuffix(".java").replace("/", ".")
    libraries = "".join(
        f"\n  {quote(name)}" for name in jars
    )  # A line each, because a manifest limits the length of lines.
    text = f"Main-Class: {main}\n" + (f"Class-Path: {libraries}\n" if jars else "")
    return [main, ":".join(f"./{name}" for name in jars), text, *_sources(package)]


@dataclass(frozen=True)
class _Interpreter:
    """A Python that the user of a build may start. paths: its program, libraries and modules; headers: their folder."""

    version: str
    paths: tuple[Path, ...]
    headers: Path
    environment: Mapping[str, str]


def _interpreter() -> _Interpreter:
    """Return the Python of this process, in whose copy bots run, or that of the system, with the same interface, if others cannot pass its folder."""
    system = Path("/usr/bin/python{}.{}".format(*sys.version_info))
    pythons = [path for path in (Path(sys.executable).resolve(), system) if path.is_file()]
    python = min(pythons, key=lambda path: namespaces.unreachable(path) is not None)
    modules, headers, version = _ask(str(python), "-I", "-S", "-c", _PYTHON_FACTS).splitlines()
    libraries = [file for file in elf.libraries_of(_loader(python), python).values() if "python" in file.name]
    folders = ":".join(sorted({str(library.parent) for library in libraries}))
    environment = {"PYTHON": str(python), "PYTHONHASHSEED": "0", "LD_LIBRARY_PATH": folders}
    return _Interpreter(version, (python, *libraries, Path(modules)), Path(headers), environment)


def _find_csharp() -> Toolchain:
    """Return the toolchain of C#: its compiler runs in Mono, which Python starts (gates/mono.py)."""
    packages = RECIPES["c#"].packages
    compiler, python = runtimes.MONO_ASSEMBLIES / "mcs.exe", _interpreter()
    for file in (compiler, runtimes.MONO_LIBRARY):
        if not file.is_file():
            raise SandboxUnavailable(f"{file} is missing; Debian, Ubuntu: apt-get install {packages}")
    assemblies = sorted(runtimes.MONO_ASSEMBLIES.glob("*.dll"))
    version = runtimes.MONO_LIBRARY.resolve().name.partition(".so.")[2]
    return _toolchain(
        f"Mono {version}",
        [runtimes.MONO_LIBRARY, compiler, *assemblies],
        python.paths,
        {
            "MONO": str(runtimes.MONO_LIBRARY),
            "MCS": str(compiler),
            "MONO_DISABLE_SHARED_AREA": "1",
            **python.environment,
        },
    )


def _find_python(build: str) -> Toolchain:
    """Return the compilers of Python's modules: wheels beside the league, and the C compiler of this machine."""
    gnu = find("c++" if build == "pybind11" else "c")
    wheels = list(_wheels({"mypyc": ("mypy", "setuptools")}.get(build, (build,))))
    python = _interpreter()
    headers = sorted(python.headers.rglob("*.h"))
    if not headers:
        raise SandboxUnavailable("Python.h is missing; Debian, Ubuntu: apt-get install python3-dev")
    parts = {
        Path(str(wheel.locate_file(top)))
        for wheel in wheels
        for top in {file.parts[0] for file in wheel.files or ()} - {"..", "__pycache__"}
        if top[-4:] != ".pth"
    }
    contents = [f"{file} {file.hash.value}" for wheel in wheels for file in wheel.files or () if file.hash]
    digest = hashlib.sha256("\n".join(sorted(line for line in contents if line[0] != ".")).encode())
    # These tell an upgrade of the wheels.
    facts = [
        Path(str(wheel.locate_file(file))) for wheel in wheels for file in wheel.files or () if file.name == "METADATA"
    ]
    names = ", ".join(f"{wheel.name} {wheel.version}" for wheel in wheels[:1])
    toolchain = _toolchain(
        f"{names}, CPython {python.version}, {gnu.version}, {digest.hexdigest()[:12]}",
        [*python.paths[:-1], *headers, *facts],
        [*python.paths, python.headers, *sorted(parts)],
        {**python.environment, "PYTHONPATH": ":".join(sorted({str(part.parent) for part in parts}))},
    )
    return replace(toolchain, linker=gnu)


def _wheels(names: Sequence[str]) -> Iterator[importlib.metadata.Distribution]:
    """Yield installed packages and, after them, what they import. Raise SandboxUnavailable."""
    waiting = list(names)
    for name in waiting:
        try:
            wheel = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name in names:
                raise SandboxUnavailable(f"{name} is not installed here; pip install tute-league[compiled]") from None
            continue  # Needed by other releases of Python only
        yield wheel
        needs = (_REQUIRED.match(line) for line in wheel.requires or () if "extra ==" not in line)
        waiting += [need[0] for need in needs if need and need[0] not in waiting]


def _sources(package: BotPackage) -> list[str]:
    """Return all files of the language, each as a path that no compiler takes for an option."""
    endings = manifest.BUILDS[package.manifest.build]
    return [f"./{name}" for name in package.files if name.endswith(endings)]


def _parts(package: BotPackage) -> list[str]:
    """Return the folder of a bot in Python, from which it imports, and the files in it that are compiled, without the entry and copies of the SDK."""
    endings = {"cython": (".pyx",), "pybind11": manifest.BUILDS["c++"], "mypyc": (".py",)}[package.manifest.build]
    entry = PurePosixPath(package.manifest.entry)
    inside = (
        path.relative_to(entry.parent)
        for path in map(PurePosixPath, package.files)
        if path.is_relative_to(entry.parent)
    )
    own = (str(path) for path in inside if str(path) != entry.name and not str(path).startswith("tute_"))
    return [f"./{entry.parent}", *(f"./{name}" for name in own if name.endswith(endings))]


def _entry(package: BotPackage) -> list[str]:
    return [f"./{package.manifest.entry}"]


def _go_package(package: BotPackage) -> list[str]:
    folder = PurePosixPath(package.manifest.entry).parent
    if "go.mod" in package.files:
        return [f"./{folder}"]
    inside = (PurePosixPath(name) for name in package.files)
    return [
        f"./{name}"
        for name in inside
        if name.parent == folder and name.suffix == ".go" and not name.stem.endswith("_test")
    ]


_WASI = "--target=wasm32-wasi"
_STACK = (
    f"-Wl,--stack-first -Wl,-z,stack-size={1 << 20}"  # Below the data, so that a stack that overflows ends the program.
)
_RUST_FLAGS = "-C opt-level=3 -C panic=abort -C strip=symbols"


def _rust(target: str, flags: str = "") -> str:
    """Return the script for Rust. target: words of sh that print the name of the target."""
    # Debian's cc leads through /etc, and lld wants a /proc. With --target, build scripts and macros, which run here, are linked as usual.
    return f"""mkdir /tmp/bin
printf '#!/usr/bin/sh\\nexec gcc "$@" -fuse-ld=bfd\\n' > /tmp/bin/cc
chmod +x /tmp/bin/cc
target="$({target})"
case "$1" in
*Cargo.toml)
    RUSTFLAGS="{_RUST_FLAGS} {flags}" cargo build --release --offline --locked --target "$target" --target-dir /tmp/target --manifest-path "$1"
    for file in "/tmp/target/$target/release/"*; do if [ -f "$file" ] && [ -x "$file" ]; then cp "$file" {_OUT}; fi; done;;
*) rustc --edition 2021 --target "$target" {_RUST_FLAGS} {flags} -o {_OUT} "$1";;
esac"""


# The modules leave as one JSON object. The compiler's messages go to the log; a type error ends the build.
_TYPESCRIPT = f"""mkdir /tmp/out
"$NODE" "$TSC" --strict --target es2022 --module nodenext --moduleResolution nodenext --rootDir /src --outDir /tmp/out "$1" >&2
cat > /tmp/collect.cjs <<'END'
const fs = require("fs"), path = require("path"), modules = {{}};
const collect = (folder) => {{
  for (const entry of fs.readdirSync(folder, {{ withFileTypes: true }}).sort((a, b) => (a.name < b.name ? -1 : 1))) {{
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) collect(full);
    else modules[path.relative("/tmp/out", full)] = fs.readFileSync(full, "base64");
  }}
}};
collect("/tmp/out");
fs.writeFileSync("{_OUT}", JSON.stringify(modules));
END
"$NODE" /tmp/collect.cjs"""
# No annotation processor runs. The result must run on the oldest Java of any worker, with java.base alone.
_JAVA_TOOL = "-J-Xmx512m -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -J-XX:CompressedClassSpaceSize=128m"
_JAVA = f"""main="$1" jars="$2"
printf '%s' "$3" > /tmp/manifest
shift 3
mkdir /tmp/out
"$JDK/bin/javac" {_JAVA_TOOL} -J-Xss4m -proc:none -XDstringConcat=inline --release 17 --limit-modules java.base \\
    -encoding UTF-8 -cp "$jars" -d /tmp/out "$@"
if ! [ -f "/tmp/out/$(printf '%s' "$main" | tr . /).class" ]; then
    echo "error: there is no class $main; the folders of its file must be its package, from the top of the bot" >&2
    exit 1
fi
"$JDK/bin/jar" {_JAVA_TOOL} --create --no-compress --file {_OUT} --manifest /tmp/manifest --date 2026-01-01T00:00:00Z -C /tmp/out .
"""
_CSHARP = f"""cat > /tmp/mono.py <<'END'
{runtimes.MONO_GATE.read_text(encoding="utf-8")}END
"$PYTHON" -sSB /tmp/mono.py --adapt "$MONO" /tmp/mono.so
echo | "$PYTHON" -sSB /tmp/mono.py /tmp/mono.so "$MCS" -optimize+ -deterministic -out:{_OUT} "$@\""""
_EXTENSIONS = Path(__file__).with_name("extensions.py").read_text(encoding="utf-8")


def _python(build: str) -> Recipe:
    """Return the recipe for compiled parts of bots in Python."""
    return Recipe(
        title=f"Python with {build}",
        packages=RECIPES["c++" if build == "pybind11" else "c"].packages,
        script=f"""cat > /tmp/extensions.py <<'END'
{_EXTENSIONS}END
"$PYTHON" -sSB /tmp/extensions.py {build} "$@\"""",
        words=_parts,
        look=lambda: _find_python(build),
    )


RECIPES: dict[str, Recipe] = {
    "c": Recipe(
        title="C",
        packages="gcc libc6-dev",
        script=f'gcc -std=gnu17 -O2 -static -s -I. -o {_OUT} "$@" -lm',
        words=_sources,
        look=lambda: _gnu("gcc", "cc1", "libm.a", RECIPES["c"].packages),
    ),
    "c++": Recipe(
        title="C++",
        packages="g++ libc6-dev",
        script=f'g++ -std=c++20 -O2 -static -s -I. -o {_OUT} "$@"',
        words=_sources,
        look=lambda: _gnu("g++", "cc1plus", "libstdc++.a", RECIPES["c++"].packages),
    ),
    "rust": Recipe(
        title="Rust",
        packages="rustc cargo libstd-rust-dev gcc libc6-dev",
        script=_rust("rustc -vV | sed -n 's/^host: //p'", "-C target-feature=+crt-static"),
        words=_entry,
        look=lambda: _find_rust("rust"),
    ),
    "go": Recipe(
        title="Go",
        packages="golang-go",
        script=f'go build -p 2 -trimpath -buildvcs=false -ldflags "-s -w" -o {_OUT} "$@"',
        words=_go_package,
        look=_find_go,
    ),
    "java": Recipe(
        title="Java",
        packages="default-jdk-headless",
        script=_JAVA,
        words=_java,
        look=_find_java,
    ),
    "c#": Recipe(
        title="C#",
        packages="mono-mcs libmonosgen-2.0-1",
        script=_CSHARP,
        words=_sources,
        look=_find_csharp,
    ),
    "typescript": Recipe(
        title="TypeScript",
        packages="nodejs node-typescript",
        script=_TYPESCRIPT,
        words=lambda package: [f"./{package.manifest.entry}"],
        look=_find_typescript,
    ),
    "c-wasm": Recipe(
        title="C, WebAssembly",
        packages="clang lld wasi-libc libclang-rt-dev-wasm32",
        script=f'clang {_WASI} -std=gnu17 -O2 -s -I. {_STACK} -o {_OUT} "$@" -lm',
        words=_sources,
        look=_find_clang,
    ),
    "rust-wasm": Recipe(
        title="Rust, WebAssembly",
        packages="rustc cargo libstd-rust-dev-wasm32 clang lld wasi-libc libclang-rt-dev-wasm32",
        script=_rust(
            "rustc --print target-list | grep -x -e wasm32-wasi -e wasm32-wasip1 | tail -n 1", "-C linker=wasm-ld"
        ),
        words=_entry,
        look=lambda: _find_rust("rust-wasm"),
    ),
}
RECIPES |= {build: _python(build) for build in ("cython", "pybind11", "mypyc")}


@cache
def _found(language: str) -> Toolchain:
    return RECIPES[language].look()


def find(language: str) -> Toolchain:
    """Return the toolchain of a language, looked for again after an upgrade. Raise SandboxUnavailable if this machine has none."""
    toolchain = _found(language)
    if not toolchain.is_current:
        _found.cache_clear()
        toolchain = _found(language)
    return toolchain


def installed() -> dict[str, str]:
    """Return the languages that this machine can build, each with the version of its compiler."""
    versions = {}
    for language in RECIPES:
        try:
            versions[language] = find(language).version
        except SandboxError:
            continue
    return versions


def digest(package: BotPackage) -> str:
    """Return the hash of source, toolchain and recipe, which names the result. Raise SandboxUnavailable without the toolchain."""
    recipe, toolchain = RECIPES[package.manifest.build], find(package.manifest.build)
    parts = (package.sha256, toolchain.digest, recipe.script, *sorted(map(str, toolchain.environment.items())))
    return hashlib.sha256("\n".join(("tute-build/1", *parts)).encode()).hexdigest()


def build(
    package: BotPackage,
    folder: Path,
    state_dir: Path,
    *,
    limits: BuildLimits | None = None,
    tell: Callable[[str], None] = lambda log: None,
    stop: Callable[[], bool] = lambda: False,
) -> Built | None:
    """Build a package that is unpacked in `folder`. Return None if `stop` returned True. Raise SandboxError for a fault of this machine.

    tell: called with the log so far.
    """
    recipe, toolchain = RECIPES[package.manifest.build], find(package.manifest.build)
    name = digest(package)
    argv = ["/usr/bin/sh", "-c", _SCRIPT.replace("{script}", recipe.script), "build", *recipe.words(package)]
    end = run_build(
        argv,
        folder,
        state_dir,
        toolchain=toolchain.paths,
        environment=toolchain.environment,
        compiler=toolchain.compiler,
        limits=limits,
        tell=tell,
        stop=stop,
    )
    if end is None:
        return None
    if not toolchain.is_current:
        raise SandboxError(f"{toolchain.version} was exchanged while it built; the build is repeated")
    result, why = None, ""
    if end.excess:
        why = f"the build was ended: {end.excess}"
    elif not end.succeeded:
        why = _first_error(end.log) or f"the build ended with status {end.code}, and no program"
    else:
        try:
            result = package.with_result(end.result)
        except PackageRefused as refused:
            why = str(refused)
    return Built(result, end.log, why, toolchain.version, name)


def _first_error(log: str) -> str:
    """Return the line of a compiler's log that names the first error; without one, the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next(filter(_ERROR.search, lines), lines[-1] if lines else "")[:300]
