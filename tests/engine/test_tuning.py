"""Parameters on their way from bot.toml to the bot, and `tute tune`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.packages import manifest
from engine.packages.manifest import PackageRefused
from engine.runner.line_protocol import LineTranslator
from engine.runner.protocol import with_parameters
from engine.spsa import BotParameter
from tests.support.tuned import BOT, TOML

HEAD = 'name = "x"\nruntime = "python"\nentry = "bot.py"\n'
HELLO = (
    b'{"type":"hello","protocol":1,"game":"a_dos","revision":1,"options":{},"seats":2,"seat":0,"sides":[[0],[1]],'
    b'"boards":1,"limits":{"start_s":5,"move_s":1,"bank_s":3},"seed":7}\n'
)


def parse(text: str) -> manifest.Manifest:
    return manifest.parse((HEAD + text).encode(), ["bot.toml", "bot.py"], ["a_dos"])


def test_a_manifest_declares_parameters_and_writes_them() -> None:
    declared = parse(
        "[parameters]\nn = { start = 3, least = 0, most = 9, step = 1 }\n[parameters.x]\nstart = 0.5\nleast = 0\nmost = 1\nstep = 1e-1\n"
    )
    assert declared.parameters == (BotParameter("n", 3, 0, 9, 1, whole=True), BotParameter("x", 0.5, 0, 1, 0.1))
    assert manifest.parse(declared.toml().encode(), ["bot.toml", "bot.py"], ["a_dos"]) == declared
    assert "n = { start = 4, least = 0, most = 9, step = 1 }\nx = { start = 0.25," in manifest.parameters_toml(
        declared.parameters, {"n": 4, "x": 0.25}
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("parameters = 3", "a table of at most 16"),
        ("\n".join(f"parameters.p{n} = {{}}" for n in range(17)), "a table of at most 16"),
        ("[parameters]\nX = {}", "needs a name of up to 30"),
        (f"[parameters]\n{'x' * 31} = {{}}", "needs a name of up to 30"),
        ("[parameters]\nx = 1", "exactly these numbers"),
        ("[parameters.x]\nstart = 1\nleast = 0\nmost = 2", "exactly these numbers"),
        ("[parameters.x]\nstart = true\nleast = 0\nmost = 2\nstep = 1", "exactly these numbers"),
        ("[parameters.x]\nstart = 3\nleast = 0\nmost = 2\nstep = 1", "start must lie"),
        ("[parameters.x]\nstart = 1\nleast = 0\nmost = 2\nstep = 0", "step must be more than 0"),
        ("[parameters.x]\nstart = 1\nleast = 0\nmost = 2\nstep = 3", "step must be more than 0"),
        ("[parameters.x]\nstart = 1\nleast = 0\nmost = inf\nstep = 1", "must lie between"),
        ("[parameters.x]\nstart = nan\nleast = 0\nmost = 2\nstep = 1", "must lie between"),
        (f"[parameters.x]\nstart = 1\nleast = 0\nmost = 1{'0' * 400}\nstep = 1", "must lie between"),
    ],
)
def test_a_manifest_with_other_parameters_is_refused(text: str, why: str) -> None:
    with pytest.raises(PackageRefused, match=why):
        parse(text)


def test_hello_has_the_values_in_both_protocols() -> None:
    line = with_parameters(HELLO, {"n": 3, "x": 0.5})
    assert json.loads(line) == json.loads(HELLO) | {"parameters": {"n": 3, "x": 0.5}}
    assert LineTranslator().request(line).endswith(b"; seed 7; parameters n=3 x=0.5\n")
    assert LineTranslator().request(HELLO).endswith(b"; seed 7\n")


@pytest.mark.slow
@pytest.mark.parametrize(("against", "least"), [([], 5), (["--against", "random"], 4)])
def test_tute_tune_finds_the_best_value(
    against: list[str], least: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bot.toml").write_text(TOML)
    (tmp_path / "bot.py").write_text(BOT)
    words = ["tune", str(tmp_path), "-g", "a_dos", "--boards", "160", "--test", "24", "--seed", "1", *against]
    assert main([*words, "--json", "--sandbox", "none"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert least < printed["values"]["care"] < 9
    assert (printed["boards"], len(printed["course"])) == (160, 20)
    test = printed["test"]
    assert test["won"] > 3 * test["lost"]
    assert parse(printed["toml"]).parameters[0].start == printed["values"]["care"]
