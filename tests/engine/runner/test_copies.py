"""Damage by the disk to the files of bots costs no bot anything."""

import shutil
import tempfile
from pathlib import Path

import pytest

from engine.runner import Infrastructure, runtimes
from engine.runner.copies import Copies
from engine.runner.match import play_match
from engine.runner.spec import BotSpec
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import match


def test_a_bot_whose_files_the_disk_has_emptied_is_not_blamed(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    """Between its start for the first pass and that for the second: what the match began with was sound."""
    victim = make("def act(m): return good(m) # its own contents")
    code = (victim.path / victim.entry).read_bytes()

    def damage(number: int, seat: int, request: bytes, answer: bytes) -> None:
        (victim.path / victim.entry).write_bytes(b"")

    with pytest.raises(Infrastructure, match=r"was played from damaged files: .* is not what was written"):
        play_match(match(victim, honest), box, tap=damage, ahead=False)

    assert make("def act(m): return good(m) # its own contents") == victim
    assert (victim.path / victim.entry).read_bytes() == code
    assert not any(report.faults for report in play_match(match(victim, honest), box).parties)


def test_a_bot_whose_files_were_mended_while_it_failed_is_not_blamed(
    box: Sandbox, make: Maker, honest: BotSpec
) -> None:
    """Another worker may have been faster: what is sound now was not when the bot was started."""
    victim = make("def act(m): return good(m) # contents of another one")
    copies = Copies.snapshot([victim], {victim.runtime: runtimes.get(victim.runtime, box.state_dir)})
    assert copies.damage([0]) == ""

    (victim.path / victim.entry).unlink()
    make("def act(m): return good(m) # contents of another one")

    assert copies.damage([0]) == f"{victim.path} was damaged, and has been repaired meanwhile"


def test_a_runtime_that_was_damaged_is_found_after_the_fault_and_mended_before_the_next_bot() -> None:
    with tempfile.TemporaryDirectory(prefix="tute-state-") as folder:
        runtime = runtimes.get("binary", Path(folder))
        bot = BotSpec("one", Path(folder), "binary", "bot")
        copies = Copies.snapshot([bot], {"binary": runtime})
        shutil.rmtree(runtime.root / "lib")

        assert copies.damage([0]) == f"{runtime.root}/lib: No such file or directory"

        assert runtimes.get("binary", Path(folder)).root == runtime.root
        assert (runtime.root / "lib").is_dir()
