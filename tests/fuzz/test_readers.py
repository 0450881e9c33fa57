"""No reader of text from outside ends in anything but its value or gitmem's own error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import GitmemError
from tests.fuzz.mutations import broken
from tests.fuzz.readers import READERS, Reader, attempt

NAMES = [reader.name for reader in READERS]


@pytest.mark.parametrize("reader", READERS, ids=NAMES)
def test_whole_input_is_read_and_whatever_is_broken_is_refused_by_name(reader: Reader) -> None:
    for seed in reader.seeds:
        assert not isinstance(attempt(reader, seed), GitmemError)

    @given(broken(*reader.seeds))
    def read(data: bytes) -> None:
        attempt(reader, data)

    read()


@given(st.data())
def test_no_reader_trips_over_what_is_meant_for_another(data: st.DataObject) -> None:
    reader = data.draw(st.sampled_from(READERS))
    attempt(reader, data.draw(broken(*(seed for other in READERS for seed in other.seeds))))
