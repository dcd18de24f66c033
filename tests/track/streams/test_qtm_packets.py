import random
import struct

import numpy as np
import pytest

from homodyn.track.streams import PacketError, StreamError
from homodyn.track.streams.qtm_packets import (
    PacketBuffer,
    PacketType,
    command_packet,
    parse_data,
    parse_labels,
)
from support.qtm_server import COMMAND, data_packet, packet, settings

POSITIONS = np.array([[0.5, -0.25, 1.0], [np.nan] * 3, [0.0, 0.125, 2.0]])


def test_packets_are_split_wherever_the_bytes_are_cut():
    content = packet(COMMAND, b"one\0") + data_packet(1.5, 3, POSITIONS) + packet(9, b"")
    for step in (1, 7, len(content)):
        buffer = PacketBuffer()
        found = [
            p for k in range(0, len(content), step) for p in buffer.feed(content[k : k + step])
        ]
        assert [each.type for each in found] == [PacketType.COMMAND, PacketType.DATA, 9]
        assert found[0].text == "one"


@pytest.mark.parametrize("size", [0, 7, 2**31])
def test_an_impossible_size_ends_the_connection(size):
    with pytest.raises(StreamError, match="not possible"):
        list(PacketBuffer().feed(struct.pack("<II", size, 3) + bytes(8)))


def test_labeled_markers():
    frame = parse_data(data_packet(1.5, 3, POSITIONS)[8:])
    assert (frame.time, frame.number) == (1.5, 3)
    np.testing.assert_allclose(frame.positions, POSITIONS)


def test_a_packet_without_markers_has_no_frame():
    assert parse_data(struct.pack("<qII", 0, 1, 0)) is None


def test_the_client_of_the_manufacturer_reads_the_same():
    qtm_rt = pytest.importorskip("qtm_rt")
    info, markers = qtm_rt.QRTPacket(data_packet(1.5, 3, POSITIONS)[8:]).get_3d_markers()
    assert info.marker_count == 3
    np.testing.assert_allclose(1e-3 * np.array(markers), POSITIONS)


def test_labels_and_axis():
    found = parse_labels(settings(("LASI", "RASI"), "+Y")[8:-1].decode())
    assert found.labels == ("LASI", "RASI")
    assert found.up == "y"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<broken", "cannot be read"),
        ("<a/>", "no section"),
        ("<a><The_3D/></a>", "0 labels"),
        ("<!DOCTYPE a><a/>", "declarations"),
    ],
)
def test_settings_that_cannot_be_used(text, reason):
    with pytest.raises(PacketError, match=reason):
        parse_labels(text)


def test_mutated_packets_are_frames_or_stream_errors():
    rng = random.Random(5)
    content = data_packet(1.0, 1, np.ones((4, 3))) + settings(("A", "B", "C", "D"))
    refused = 0
    for _ in range(10_000):
        mutated = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            mutated[rng.randrange(len(mutated))] = rng.randrange(256)
        try:
            for each in PacketBuffer().feed(bytes(mutated)):
                if each.type == PacketType.DATA:
                    frame = parse_data(each.content)
                    assert frame is None or frame.positions.shape[1] == 3
                elif each.type == PacketType.XML:
                    parse_labels(each.text)
        except StreamError:
            refused += 1
    assert refused > 100


def test_commands_end_with_zero():
    assert command_packet("Version 1.13") == packet(COMMAND, b"Version 1.13\0")
