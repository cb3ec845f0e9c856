"""The scripts of the documentation, and raw data for them."""

import pathlib
import re

import numpy as np

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"


def write_scripts(page, folder):
    """Write the scripts of a page below a folder."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, script in re.findall(r'^```python title="(\S+)"\n(.*?)^```', text, re.S | re.M):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)


def write_episodes(folder):
    """Raw episodes for the robot's builder."""
    rng = np.random.default_rng(0)
    for split, lengths in (("train", (3, 1, 4)), ("val", (2,))):
        (folder / split).mkdir(parents=True)
        for number, length in enumerate(lengths):
            steps = [
                {
                    "image": rng.integers(0, 256, (64, 64, 3), np.uint8),
                    "wrist_image": rng.integers(0, 256, (64, 64, 3), np.uint8),
                    "state": rng.random(8, np.float32),
                    "action": rng.random(7, np.float32),
                    "language_instruction": f"put cube {number} in the box",
                }
                for _ in range(length)
            ]
            np.save(folder / split / f"episode_{number}.npy", np.array(steps, object))
