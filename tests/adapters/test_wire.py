import os
import time

import pytest

from delta_adapters.wire import MAGIC, Channel, Closed, Disturbed, Frame, Garbage, TooLate


@pytest.fixture
def ends():
    here_read, there_write = os.pipe()
    there_read, here_write = os.pipe()
    watch_read, watch_write = os.pipe()
    descriptors = {here_read, there_write, there_read, here_write, watch_read, watch_write}
    here, there = Channel(here_read, here_write, watch=watch_read), Channel(there_read, there_write)

    def close(*which):
        for descriptor in which:
            descriptors.remove(descriptor)
            os.close(descriptor)

    yield here, there, watch_write, there_write, close
    for descriptor in descriptors:
        os.close(descriptor)


def test_a_frame_arrives_as_it_was_sent(ends):
    here, there, *_ = ends
    here.send({"call": "read", "text": "é\udcff\x00"}, (b"abc", b"", b"\x00\xff"))
    frame = there.receive()
    assert frame.header == {"call": "read", "text": "é\udcff\x00", "parts": [3, 0, 2]}
    assert [bytes(part) for part in frame.parts] == [b"abc", b"", b"\x00\xff"]


def test_frames_keep_their_order_and_their_borders(ends):
    here, there, *_ = ends
    for number in range(50):
        here.send({"id": number}, (b"x" * number,))
    assert [there.receive().header["id"] for _ in range(50)] == list(range(50))


def test_an_answer_that_comes_too_late_is_reported(ends):
    here, *_ = ends
    with pytest.raises(TooLate):
        here.receive(time.monotonic() + 0.01)


def test_a_reader_that_does_not_read_can_not_block_the_writer_for_ever(ends):
    here, *_ = ends
    with pytest.raises(TooLate):
        here.send({"id": 1}, (bytes(1 << 20),), time.monotonic() + 0.05)


def test_a_closed_end_is_reported(ends):
    here, _, _, there_write, close = ends
    close(there_write)
    with pytest.raises(Closed):
        here.receive()


def test_the_watched_descriptor_ends_a_wait_but_never_hides_an_answer(ends):
    here, there, watch, *_ = ends
    there.send({"id": 1})
    os.write(watch, b"!")
    assert here.receive() == Frame({"id": 1})
    with pytest.raises(Disturbed):
        here.receive()


@pytest.mark.parametrize(
    "junk",
    (
        b"Exception in thread main: this is a log line",
        MAGIC + b"\xff\xff\xff\xff" + bytes(8) + b"{}",
        MAGIC + b"\x02\x00\x00\x00" + bytes(8) + b"{]",
        MAGIC + b"\x02\x00\x00\x00" + bytes(8) + b"[]",
        MAGIC + b"\x0b\x00\x00\x00" + bytes(8) + b'{"parts":3}',
        MAGIC + b"\x0d\x00\x00\x00" + bytes(8) + b'{"parts":[3]}',
    ),
    ids=("text", "endless header", "no JSON", "no object", "no lengths", "wrong lengths"),
)
def test_what_is_no_frame_is_garbage(ends, junk):
    here, _, _, there_write, _ = ends
    os.write(there_write, junk)
    with pytest.raises(Garbage):
        here.receive(time.monotonic() + 5)
