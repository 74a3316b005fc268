"""Damaged model files end in a System or in words: some here, 10,000 by `python -m tests.opensim.damage`."""

from tests.opensim.damage import models, originals, tried


def test_some_damaged_files():
    files = models(originals()[:1])
    odd = [found for found in tried(200, 1, files) if found[2] not in ("read", "refused")]
    assert odd == []
