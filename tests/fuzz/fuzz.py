"""Fuzzes what reads bytes: the kernels against the Python code that specifies them.

    python tests/fuzz/fuzz.py --seconds 600

With atheris installed, atheris chooses the inputs; else, or with --own, the mutations of
this file do. Ends with an exception and the input in its text where the two differ.
With --metadata, the inputs are features.json files: they give features or an error of ours.
With --png, the inputs are PNG files, and the mutations always those of the helpers.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "helpers"))

from wire_messages import MessageMaker, damaged

CORPUS = pathlib.Path(__file__).parent / "corpus"
SEEDS = [path.read_bytes() for path in sorted(CORPUS.iterdir())]


def mutated(rng, data):
    """Another input: a damaged one, two spliced, or a new message."""
    way = rng.randrange(8)
    if way < 4:
        return damaged(rng, data)
    other = rng.choice(SEEDS)
    if way == 4:
        return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    message = MessageMaker(rng, rng.choice([0, 0.02, 0.1])).message(rng.random() < 0.4)
    return message if way < 7 else damaged(rng, message)


def run_own(seconds, seed):
    import differential

    rng = random.Random(seed)
    end, count = time.monotonic() + seconds, 0
    pool = list(SEEDS)
    while time.monotonic() < end:
        data = mutated(rng, rng.choice(pool))
        differential.check(data)
        count += 1
        if len(data) < 4096 and rng.random() < 0.01:  # so that damage adds up
            pool.append(data)
            del pool[len(SEEDS) : -500]
    print(f"{count} inputs in {seconds} seconds, all the same")


def run_png(seconds, seed):
    import differential_png
    import png_files

    rng = random.Random(seed)
    end, count, taken = time.monotonic() + seconds, 0, 0
    pool = [png_files.random_png(rng) for _ in range(200)]
    while time.monotonic() < end:
        data = png_files.random_png(rng) if rng.random() < 0.2 else rng.choice(pool)
        for _ in range(rng.choice([0, 1, 1, 2])):
            data = png_files.damaged_png(rng, data)
        taken += differential_png.check(data)
        differential_png.check_encoding(data)
        count += 1
        if len(data) < 4096 and rng.random() < 0.02:
            pool[rng.randrange(len(pool))] = data
    print(f"{count} files in {seconds} seconds, all the same; the kernel took {taken}")


def run_metadata(seconds, seed):
    import logging

    import metadata

    logging.getLogger("featurekit").setLevel(logging.ERROR)  # of each unknown field it would say so
    rng = random.Random(seed)
    pool = metadata.seeds()
    end, count, read = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        read += metadata.check(metadata.mutated(rng, rng.choice(pool)))
        count += 1
    print(f"{count} features.json in {seconds} seconds; {read} described features")


def run_atheris(seconds):
    import atheris

    with atheris.instrument_imports(include=["featurekit", "differential"]):
        import differential

    def mutate(data, max_size, seed):
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return atheris.Mutate(data, max_size)
        return mutated(rng, data)[:max_size]

    # New finds go to the first folder.
    options = [f"-max_total_time={seconds}", "-print_final_stats=1", tempfile.mkdtemp()]
    atheris.Setup([sys.argv[0], *options, str(CORPUS)], differential.check, custom_mutator=mutate)
    atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="of the own mutations")
    parser.add_argument("--own", action="store_true", help="do not use atheris")
    parser.add_argument("--png", action="store_true", help="PNG files instead of records")
    parser.add_argument("--metadata", action="store_true", help="features.json instead")
    options = parser.parse_args()
    if options.metadata:
        run_metadata(options.seconds, options.seed)
        return
    if options.png:
        run_png(options.seconds, options.seed)
        return
    try:
        import atheris  # noqa: F401
    except ImportError:
        options.own = True
    if options.own:
        run_own(options.seconds, options.seed)
    else:
        run_atheris(options.seconds)


if __name__ == "__main__":
    main()
