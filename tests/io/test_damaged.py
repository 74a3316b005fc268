"""Damaged files, a few hundred of the ten thousand that tests/io/fuzz.py tries by hand."""

from __future__ import annotations

from tests.io.fuzz import run


def test_damaged_files_are_read_or_refused_in_words(tmp_path):
    outcome, _ = run(300, 7, tmp_path)
    assert outcome["read"] and outcome["DescriptionError"] and not outcome["without words"]
