"""What fuzzing checks: the compiled kernels and the Python code say the same of any bytes."""

import numpy as np
import wire_messages

from featurekit.errors import FeatureKitError
from featurekit.io import columns_native, columns_protobuf, framing
from featurekit.io.columns import ColumnSpec, Kind
from featurekit.native import columns as kernel
from featurekit.native import records

SPECS = tuple(
    ColumnSpec(key, Kind(kind), size - 1)
    for size, (key, kind) in enumerate(wire_messages.KEYS.items())
)


def outcome(function, *args):
    """What a call gives, or the error it raises, in a form that `==` compares to the bit."""
    try:
        return comparable(function(*args))
    except FeatureKitError as error:
        return type(error), str(error), {**vars(error)}


def comparable(value):
    if isinstance(value, np.ndarray):
        items = value.tolist() if value.dtype == object else value.tobytes()
        return str(value.dtype), value.shape, items
    if isinstance(value, dict):
        return [(key, comparable(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    return value


def check_records(batch, specs=SPECS):
    """Read as Examples and as SequenceExamples; gives whether the kernels took them."""
    for name, args in (
        ("read_columns", (batch, specs)),
        ("read_sequence_columns", (batch, specs, specs)),
    ):
        wanted = outcome(getattr(columns_protobuf, name), *args)
        assert outcome(getattr(columns_native, name), *args) == wanted, (name, batch)
        # The kernel's own verdict, since protobuf's hides it where it is "no".
        found = getattr(kernel, name)(*args)
        assert found is None or comparable(found) == wanted, (name, batch)
    lengths = np.array([len(record) for record in batch], np.int64)
    places = (np.cumsum(lengths) - lengths, lengths, specs)
    wanted = outcome(columns_protobuf.read_columns, batch, specs)
    joined = b"".join(batch)
    assert outcome(columns_native.read_columns_buffer, joined, *places) == wanted, batch
    assert outcome(columns_protobuf.read_columns_buffer, joined, *places) == wanted, batch


def check_example(data):
    """Read everything there is, and write it again."""
    wanted = outcome(columns_protobuf.read_example, data)
    assert outcome(columns_native.read_example, data) == wanted, data
    if (features := kernel.read_example(data)) is not None:
        assert comparable(features) == wanted, data
        written = columns_protobuf.write_example(features)
        assert columns_native.write_example(features) == written, data
        assert outcome(columns_protobuf.read_example, written) == wanted, data


def check_frames(data, start=0):
    """Take apart as the records of a file, from `start` on."""
    for check_crc in (True, False):
        for payloads, limit in ((True, len(data) - start), (False, len(data) - start + 99)):
            wanted = framing._scan_records(data, start, limit, check_crc, payloads)
            found = framing.Scan(*records.scan_records(data, start, limit, check_crc, payloads))
            assert comparable(found) == comparable(by_value(wanted)), data
        wanted = framing._scan_records(data, start, len(data) - start, check_crc, True)
        found = framing.Block(*records.read_block(data, start, check_crc))
        assert found[1:] == by_value(wanted)[1:], data
        ends = np.cumsum(wanted.lengths + framing.FRAME_BYTES) - framing.FOOTER_BYTES + start
        pairs = zip(ends.tolist(), wanted.lengths.tolist(), strict=True)
        assert found.payloads == [data[end - length : end] for end, length in pairs], data


def by_value(scan):
    """With the fault as the kernel names it."""
    return scan._replace(fault=None if scan.fault is None else scan.fault.value)


def check(data):
    """All of it, on one input, which its first byte cuts into records."""
    cut = data[0] + 1 if data else 1
    first, second = data[1 : cut + 1], data[cut + 1 :]
    check_example(data)
    check_records([data])
    check_records([first, second, data])
    framed = framing.frame(first) + framing.frame(second)
    check_frames(framed)
    check_frames(framed[:-cut])
    check_frames(framed + data, framing.FRAME_BYTES + len(first))
    check_frames(data)
