"""The image and docker-compose.yml, run: all of `make compose` but the upgrade."""

from __future__ import annotations

import pytest

from tests.ops import containers


@pytest.mark.slow
@pytest.mark.timeout(3600)  # most of it for the image, where no layer of it is there yet
def test_the_league_runs_in_containers_as_the_documents_say(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        try:
            containers.run()
        except containers.NoContainersError as reason:
            print(f"\n{reason}")
