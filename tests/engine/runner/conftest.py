"""A real sandbox and real bots."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.runner import BotSpec, cores, load_package
from engine.sandbox import Sandbox
from tests.support.bots import FRAME, HONEST

Maker = Callable[..., BotSpec]


@pytest.fixture(scope="session")
def box(state_dir: Path) -> Sandbox:
    return Sandbox(tier="auto", state_dir=state_dir)


@pytest.fixture
def make(tmp_path: Path, state_dir: Path) -> Maker:
    """Make a bot of the body of a FRAME, or of a whole source."""

    def make_bot(body: str = "", *, name: str = "bot", source: str | None = None) -> BotSpec:
        path = tmp_path / f"{name}.py"
        path.write_text(source if source is not None else FRAME.format(body=body))
        return load_package(path, state_dir / "packages")

    return make_bot


@pytest.fixture
def honest(make: Maker) -> BotSpec:
    return make(name="honest", source=HONEST)


@pytest.fixture
def own_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Reserve cores in a folder of this test: other programs on this machine hold cores, too. Users of bots stay reserved for the whole machine."""
    folder = tmp_path / "machine"
    folder.mkdir()
    monkeypatch.setattr(cores, "shared_folder", lambda: folder)
