"""The bounds that the reference engine writes for texts that are too long for statistics."""

from __future__ import annotations

import pytest

from delta_adapters.reference.value_serialization import NotSerializable, text_above


@pytest.mark.parametrize(
    ("begins", "bound"),
    (("abc", "abd"), ("a\ud7ff", "a\ue000"), ("a\U0010ffff", "b"), ("a\uffff", "a\U00010000")),
)
def test_a_cut_maximum_is_above_whatever_begins_like_it(begins: str, bound: str):
    assert text_above(begins) == bound
    assert bound > begins + "\U0010ffff" * 3


def test_there_is_no_maximum_above_a_text_of_last_characters():
    with pytest.raises(NotSerializable):
        text_above("\U0010ffff" * 32)
