"""A million segments through the sequence state saver, against padding whole sequences.

    python benchmarks/sequences.py [--segments 1000000] [--threads 4] [--size 0]

Sequences of 1 to 200 steps go through truncated back-propagation in batches of 32 rows of 8
steps. Two loops do the same work: that of `fk.sequences`, and a straightforward one in PyTorch
that pads 32 whole sequences to the longest and walks over them. Each reads the same examples and
hands a state on; with `--size n` it also runs an LSTM of n units forward and backward. Counted
are segments that hold data: where sequences differ in length, the other loop computes padding.

Prints segments/s of both and the peak memory of the process on the way. Needs
`pip install torch`.
"""

import argparse
import itertools
import resource
import time

import numpy as np
import torch

import featurekit as fk

ROWS, UNROLL, WIDTH = 32, 8, 4
LENGTHS = np.random.default_rng(0).integers(1, 201, 1000)
DATA = [np.ones((length, WIDTH), np.float32) for length in LENGTHS]


def examples(segments):
    """Examples until there are so many segments."""
    for steps in itertools.cycle(DATA):
        segments -= -(-len(steps) // UNROLL)
        yield steps
        if segments <= 0:
            return


def make_step(size):
    """What is done with a segment: gives the state after it."""
    if not size:
        return lambda steps, state: state + 1
    model = torch.nn.LSTM(WIDTH, size, batch_first=True)

    def step(steps, state):
        outputs, (_, cell) = model(torch.as_tensor(steps), (state[None], state[None]))
        outputs.mean().backward()
        return cell[0].detach()

    return step


def with_saver(segments, threads, step, size):
    saver = fk.sequences.batch_sequences_with_states(
        fk.TensorInfo((), np.str_),
        {"x": fk.TensorInfo((None, WIDTH), np.float32)},
        {},
        None,
        {"state": torch.zeros(size or 1)},
        num_unroll=UNROLL,
        batch_size=ROWS,
        capacity=4 * ROWS,
    )
    saver.feed(({"x": steps} for steps in examples(segments)), num_threads=threads)
    for batch in saver:
        batch.save_state("state", step(batch.sequences["x"], batch.state("state")))
        yield batch.batch_size


def with_padding(segments, step, size):
    source = examples(segments)
    while chunk := list(itertools.islice(source, ROWS)):
        padded = torch.nn.utils.rnn.pad_sequence(
            [torch.from_numpy(steps) for steps in chunk], batch_first=True
        )
        lengths = np.array([len(steps) for steps in chunk])
        state = torch.zeros(len(chunk), size or 1)
        for start in range(0, padded.shape[1], UNROLL):
            state = step(padded[:, start : start + UNROLL], state)
            yield int((lengths > start).sum())


def run(title, counts, report_every):
    start, done, due = time.perf_counter(), 0, report_every
    for count in counts:
        done += count
        if done >= due:
            due += report_every
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"  {done:9,} segments, peak memory {peak} MB", flush=True)
    speed = done / (time.perf_counter() - start)
    print(f"{title}: {done:,} segments, {speed:,.0f} segments/s")
    return speed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--size", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    step = make_step(options.size)
    ours = run(
        f"fk.sequences, {options.threads} feeder threads",
        with_saver(options.segments, options.threads, step, options.size),
        options.segments // 5,
    )
    theirs = run(
        "padding whole sequences",
        with_padding(options.segments, step, options.size),
        options.segments // 5,
    )
    print(f"ratio: {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
