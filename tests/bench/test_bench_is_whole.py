"""The bench at its smallest: every row is there, nothing is lost or out of order. No figure is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.measures import ALL
from bench.measuring import SMALL

QUICK = ("flood", "starting")
"""Of the measures those that take a second; the others are run by `make bench`."""


@pytest.mark.parametrize("name", QUICK)
def test_a_measure_has_all_of_its_rows(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "rows.json"
    assert main([name, "--small", "--runs", "1", "--json", str(kept)]) == 0, capsys.readouterr().err
    rows = {row["row"] for row in json.loads(kept.read_text())["rows"]}
    assert rows == set(ALL[name].rows(SMALL))


def test_a_measure_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["nothing"])
    assert refused.value.code == 2
    assert "no measurement nothing" in capsys.readouterr().err
