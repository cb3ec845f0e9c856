"""Makes serialized Examples at random, as odd as protobuf allows, and damages them."""

KEYS = {"a": 3, "b": 2, "key/long_name_0": 1, "key/long_name_1": 3, "": 2, "é": 1, "x" * 9: 3}
"""The keys that most entries have, with the kind that most of their values are of."""


def varint(number):
    number &= 2**64 - 1
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


class MessageMaker:
    """Makes Examples and SequenceExamples.

    Args:
        rng: A `random.Random`.
        odd: How often to write what no writer would: 0 (never) to 1.
    """

    def __init__(self, rng, odd=0.05):
        self.rng = rng
        self.odd = odd

    def message(self, sequence=False):
        parts = [self.field(1, self.map(steps=False))]
        if sequence:
            parts.append(self.field(2, self.map(steps=True)))
        if self.oddly():
            parts.append(self.field(1, self.map(steps=False)))
        if self.oddly():
            parts.append(self.unknown())
        if self.oddly():
            self.rng.shuffle(parts)
        return b"".join(parts)

    def map(self, steps):
        keys = [key for key in KEYS if self.rng.random() < 0.8]
        if self.rng.random() < 0.3:
            keys += [self.rng.choice([*KEYS, "other", "z/z"]) for _ in range(3)]
        entries = [self.field(1, self.entry(key, steps)) for key in keys]
        return b"".join(entries) + (self.unknown() if self.oddly() else b"")

    def entry(self, key, steps):
        kind = KEYS.get(key, 1)
        parts = [(1, key.encode()), (2, self.steps(kind) if steps else self.feature(kind))]
        if self.oddly():
            parts += [(2, self.steps(kind) if steps else self.feature(kind)), (1, b"b")]
            parts = self.rng.sample(parts, self.rng.randrange(len(parts)))
        return b"".join(self.field(*part) for part in parts)

    def steps(self, kind):
        features = (self.field(1, self.feature(kind)) for _ in range(self.rng.randrange(4)))
        return b"".join(features) + (self.unknown() if self.oddly() else b"")

    def feature(self, kind):
        if self.oddly():
            return b""
        kinds = [kind]
        if self.oddly():
            kinds = [kind, self.rng.choice([1, 2, 3]), self.rng.choice([1, 2, 3, kind])]
        features = (self.field(kind, self.values(kind)) for kind in kinds)
        return b"".join(features) + (self.unknown() if self.oddly() else b"")

    def values(self, kind):
        count = self.rng.choice([0, 1, 1, 2, 3, 9, 40])
        if kind == 1:
            return b"".join(
                self.field(1, self.rng.randbytes(self.rng.randrange(4))) for _ in range(count)
            )
        if kind == 2:
            items, wire_type = [self.rng.randbytes(4) for _ in range(count)], 5
        else:
            small = self.rng.random() < 0.5
            limit = 130 if small else 2**64
            bits = self.rng.randrange(1, 65)
            items = [
                varint(self.rng.randrange(limit) >> (0 if small else bits)) for _ in range(count)
            ]
            wire_type = 0
        if self.oddly():
            return b"".join(self.tag(1, wire_type) + item for item in items)
        middle = self.rng.randrange(count + 1) if self.oddly() else count
        chunks = [items[:middle], items[middle:]] if middle < count else [items]
        return b"".join(self.field(1, b"".join(chunk)) for chunk in chunks)

    def unknown(self):
        number = self.rng.choice([1, 2, 3, 4, 15, 16, 2**29 - 1])
        wire_type = self.rng.choice([0, 1, 2, 3, 5])
        value = {
            0: lambda: varint(self.rng.getrandbits(self.rng.randrange(1, 65))),
            1: lambda: self.rng.randbytes(8),
            2: lambda: varint(3) + self.rng.randbytes(3),
            3: lambda: self.unknown() + self.tag(number, 4),
            5: lambda: self.rng.randbytes(4),
        }[wire_type]()
        return self.tag(number, wire_type) + value

    def field(self, number, data):
        return self.tag(number, 2) + self.padded(varint(len(data))) + data

    def tag(self, number, wire_type):
        return self.padded(varint(number << 3 | wire_type))

    def padded(self, data):
        """A varint with zeros on top, which change its length but not its value."""
        if self.rng.random() >= self.odd / 10:
            return data
        return data[:-1] + bytes([data[-1] | 0x80]) + b"\x80" * self.rng.randrange(4) + b"\0"

    def oddly(self):
        return self.rng.random() < self.odd


def damaged(rng, data):
    """The same bytes with some flipped, set, cut out, put in, or copied elsewhere."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        place = rng.randrange(len(data) + 1)
        way = rng.randrange(6)
        if way == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif way == 1 and place < len(data):
            data[place] = rng.choice([0, 1, 2, 8, 0x0A, 0x0B, 0x0C, 0x12, 0x1A, 0x7F, 0x80, 0xFF])
        elif way == 2:
            del data[place : place + rng.randrange(1, 6)]
        elif way == 3:
            data[place:place] = rng.randbytes(rng.randrange(1, 4))
        elif way == 4:
            start = rng.randrange(len(data) + 1)
            data[place:place] = data[start : start + rng.randrange(1, 20)]
        elif rng.random() < 0.5:
            del data[place:]
    return bytes(data)
