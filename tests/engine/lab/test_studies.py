"""The pages of docs/studies: their tables and pictures follow from the stored data."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STUDIES = ROOT / "docs" / "studies"
PAGES = ("luck", "lead", "exchange", "phases", "exploitability")
WRITE = "import benchmarks.studies as s; from pathlib import Path; s.STUDIES = Path({folder!r}); s.pages()"


def test_tables_and_pictures_are_those_of_the_data(tmp_path: Path) -> None:
    copied = tmp_path / "studies"
    shutil.copytree(STUDIES, copied)
    for name in PAGES:
        (copied / f"{name}.svg").unlink()
    subprocess.run([sys.executable, "-c", WRITE.format(folder=str(copied))], cwd=ROOT, check=True)

    for name in PAGES:
        for kind in ("md", "svg"):
            file = f"{name}.{kind}"
            assert (copied / file).read_text() == (STUDIES / file).read_text(), f"{file}: benchmarks/studies.py pages"


def test_probes_of_other_games_and_of_earlier_code_stay(tmp_path: Path) -> None:
    (tmp_path / "exploitability.json").write_text(
        '[\n{"bot": "random", "game": "two_player", "digest": "earlier"}\n]\n'
    )
    command = WRITE.format(folder=str(tmp_path)).replace("s.pages()", "s.exploitability(['partnership'], [])")
    subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True)

    assert '"earlier"' in (tmp_path / "exploitability.json").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_study_is_a_page_with_a_picture_and_the_command_that_makes_it(name: str) -> None:
    text = (STUDIES / f"{name}.md").read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 60
    assert f"]({name}.svg)" in text
    assert ".venv/bin/python benchmarks/studies.py" in text
