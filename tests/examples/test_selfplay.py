"""The example of self-play: it learns, it does so again from the same seed, and its bot plays what the network says."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import engine
from engine.adapters.vector import Matches
from engine.packages.archive import read_path
from engine.runner import Limits, load_package, runtimes
from engine.runner.audit import SAME, audit
from engine.runner.match import play_match
from engine.runner.rebuild import passes
from engine.runner.spec import POSSIBLE
from engine.sandbox import Sandbox
from engine.sandbox.files.runtimes import numpy_modules
from engine.search import encoding
from tests.bots import harness
from tests.support.bots import match
from tests.support.runtimes import lend

ROOT = Path(__file__).parents[2]


def loaded(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


selfplay = loaded("selfplay_example", ROOT / "examples" / "selfplay.py")


def trained(rounds: int) -> selfplay.Network:
    network = selfplay.Network(np.random.default_rng(1))
    selfplay.train(network, seed=2, rounds=rounds, tables=96, batch=128, explore=1)
    return network


@pytest.fixture(scope="module")
def network() -> selfplay.Network:
    return trained(24)


@pytest.mark.slow
def test_some_seconds_of_play_teach_something(network: selfplay.Network) -> None:
    """Against cards at random, over the same deals: points a deal before and after."""
    before = selfplay.against_random(selfplay.Network(np.random.default_rng(1)), 500, 7)
    assert selfplay.against_random(network, 500, 7) > before + 4


@pytest.mark.slow
def test_the_same_seed_learns_the_same() -> None:
    first, other = trained(2), trained(2)
    assert all((a == b).all() for a, b in zip(first.weights, other.weights, strict=True))
    assert first.updates > 4


@pytest.mark.slow
def test_a_checkpoint_goes_on_where_it_stopped(network: selfplay.Network, tmp_path: Path) -> None:
    network.save(tmp_path / "learned.npz", 123)
    again = selfplay.Network(np.random.default_rng(9))
    assert again.load(tmp_path / "learned.npz") == 123
    assert again.updates == network.updates
    for name in ("weights", "mean", "square"):
        assert all((a == b).all() for a, b in zip(getattr(again, name), getattr(network, name), strict=True))


def test_what_came_of_a_decision_is_counted_from_there_on() -> None:
    """Points to come and points already won add up to what lay between the sides at the end, from either side."""
    table = Matches("partnership", 8, seed=3, deals=1)
    inputs, cards, targets = selfplay.play(
        table, selfplay.Network(np.random.default_rng(1)), 1, np.random.default_rng(1)
    )
    assert inputs.shape == (len(cards), selfplay.INPUTS)
    assert inputs[np.arange(len(cards)), cards].all()  # the card that was played was in the hand
    first = inputs[:, 320 + 9] == 1  # ten cards in the hand
    assert 4 < first.sum() <= 32
    assert np.abs(targets[first] * selfplay.UNIT).max() <= 130 + 10 + 100
    assert (targets != 0).mean() > 0.9


@pytest.mark.slow
def test_the_bot_is_shown_what_the_network_is_shown(network: selfplay.Network, tmp_path: Path) -> None:
    """Over whole deals a bot's messages give the same inputs, and the same numbers for the cards."""
    selfplay.export(network, tmp_path)
    bot = loaded("selfplay_bot_exported", tmp_path / "bot.py")
    now: list[engine.State] = []
    decisions = 0

    class Watched(bot.LearnedBot):
        def act(self, view: harness.tute_bot.View, legal: list[str]) -> str:
            nonlocal decisions
            state = now[-1]
            inputs = selfplay.planes(np.frombuffer(encoding.observation(state, state.turn), np.uint8)[None])
            ours = bot.inputs(view)
            assert np.flatnonzero(inputs[0] != ours).tolist() == []
            assert np.allclose(bot.expected(self.arrays, ours), network.forward(inputs)[-1][0], atol=1e-4)
            decisions += 1
            return super().act(view, legal)

    for seed in range(3):
        harness.play(engine.load("partnership"), [Watched] * 4, seed, lambda state, seats: now.append(state))
    assert decisions > 60
    assert read_path(tmp_path).manifest.games == ("partnership",)


@pytest.mark.slow
def test_the_bot_plays_sealed_in_ten_milliseconds_a_decision_and_passes_an_audit(
    network: selfplay.Network, tmp_path: Path
) -> None:
    selfplay.export(network, tmp_path / "learned")
    with tempfile.TemporaryDirectory(prefix="tute-state-") as folder:
        state_dir = Path(folder)
        state_dir.chmod(0o755)
        lend(state_dir)
        lend(state_dir, runtimes.modules() | numpy_modules())
        box = Sandbox("auto", state_dir)
        learned, greedy = (
            load_package(path, state_dir / "packages")
            for path in (tmp_path / "learned", ROOT / "bots" / "house" / "greedy")
        )
        limits = Limits(move_s=0.01, bank_s=0.05)
        result = play_match(match(learned, greedy, boards=2, limits=limits, sealing=POSSIBLE), box)
        assert [party.faults for party in result.parties] == [[], []]
        assert result.parties[0].decisions > 40
        assert f"python-numpy {runtimes.get('python-numpy', state_dir).hash}" in result.host["runtime_hash"]
        assert "party 0" in result.host["sealed"] or box.report.unsealed
        replays = [sitting.replay for board in result.boards for sitting in board.sittings]
        group = passes(replays)[0]
        seat = group[0]["meta"]["seating"].index(0)
        report = audit(learned, box, group, seat, deterministic=True)
        assert report is not None
        assert (report.verdict, report.decisions > 10) == (SAME, True)
