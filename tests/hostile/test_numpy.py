"""Hostile bots with numpy: its loaders, its memory maps, its libraries and its threads open nothing that Python does not."""

from __future__ import annotations

import pytest

from tests.engine.sandbox.support import StateDirectory
from tests.hostile import arena
from tests.hostile.attacks import ATTACKS, Attack
from tests.hostile.test_battery import PLAYED_AT, verdict

LOAD = """
import glob, io, pickle
import numpy as np
blas = ctypes.CDLL(glob.glob(os.path.dirname(np.__file__) + ".libs/*openblas*")[0])
class Payload:
    def __init__(self, *words):
        self.words = words
    def __reduce__(self):
        return self.words[0], self.words[1:]
"""
ATTACKS_BY_NUMPY = [
    ATTACKS["every forbidden system call"],
    ATTACKS["thread bomb"],
    Attack(
        name="numpy",
        source=LOAD
        + """
def unpickle(*words):
    file = io.BytesIO()
    np.save(file, np.array([Payload(*words)], dtype=object), allow_pickle=True)
    file.seek(0)
    return np.load(file, allow_pickle=True)
if unpickle(os.system, "id")[0] == 0:
    got.append("ran a pickled command")
attempt("pickled program", lambda: unpickle(os.execv, "/bin/sh", ["sh"]))
attempt("pickled file", lambda: unpickle(open, goal["sentinel"]))
for path in (goal["sentinel"], "/etc/passwd", "/proc/self/maps", "/proc/cpuinfo", "/dev/mem", "/sys/kernel/mm"):
    attempt("fromfile " + path, lambda: np.fromfile(path, np.uint8))
    attempt("memmap " + path, lambda: np.memmap(path, mode="r"))
    attempt("loadtxt " + path, lambda: np.loadtxt(path, dtype=str))
library = np.__file__
for path in (library, "bot.py", goal["sentinel"], "/tmp/new"):
    attempt("map " + path, lambda: np.memmap(path, mode="r+"))
    attempt("save " + path, lambda: np.save(path, np.zeros(3)))
    attempt("tofile " + path, lambda: np.zeros(3).tofile(path))
private = np.memmap(library, mode="c")
private[:] = 0
if not open(library, "rb").read(1).strip(b"\\0"):
    got.append("changed numpy itself")
attempt("download", lambda: np.lib.npyio.DataSource(None).open(f"http://127.0.0.1:{goal['port']}/x.npy"))
attempt("huge", lambda: np.ones(1 << 36, np.uint8))
attempt("thread", lambda: threading.Thread(target=int).start() or "started")
square = np.ones((300, 300))
if (square @ square)[0, 0] != 300 or abs(np.fft.ifft(np.fft.fft(square)) - square).max() > 1e-9:
    got.append("a wrong sum")
if blas.scipy_openblas_get_num_threads64_() != 1:
    got.append("several threads of OpenBLAS")
np.random.default_rng().random(3)
""",
    ),
    Attack(
        name="numpy in four threads",
        source=LOAD
        + """
blas.scipy_openblas_set_num_threads64_(4)
square = np.ones((2000, 2000))
for _ in range(20):
    square @ square
""",
        ends=frozenset({"crash", "memory", "timeout"}),
        budget_s=1.0,
    ),
    Attack(
        name="memory bomb of numpy",
        source="import numpy as np\nhoard = []\nwhile True:\n    hoard.append(np.ones(1 << 20))",
        ends=frozenset({"memory"}),
    ),
    Attack(
        name="one huge array",
        source="import numpy as np\nnp.ones(1 << 36)",
        ends=frozenset({"memory"}),
        detail="_ArrayMemoryError",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS_BY_NUMPY, ids=lambda attack: attack.name)
def test_attack_with_numpy_is_contained(attack: Attack, state: StateDirectory) -> None:
    tiers = [name for name in PLAYED_AT if state.reports[name].holds]
    wrong = {tier: verdict(attack, arena.play_attack(attack, tier, state.path, state.python_numpy)) for tier in tiers}

    assert tiers
    assert {tier: what for tier, what in wrong.items() if what} == {}
