"""Running contestants in turn, each in a process of its own, and comparing their times."""

import contextlib
import importlib.util
import io
import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor

from featurekit.io.columns import native_active


class Contest:
    """Contestants that do the same work.

    Args:
        contestants: By name, what gives the function to time for given arguments; featurekit
            comes first.
        needs: Modules that a contestant cannot do without.
        rounds: How often each runs, after once to warm up.
    """

    def __init__(self, contestants, needs, rounds):
        self._missing = {
            name: module
            for name, module in needs.items()
            if name in contestants and not importlib.util.find_spec(module)
        }
        context = multiprocessing.get_context("spawn")
        self._processes = {
            name: ProcessPoolExecutor(1, context)
            for name in contestants
            if name not in self._missing
        }
        self._contestants = contestants
        self._rounds = rounds

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in self._processes.values():
            process.shutdown()

    def medians(self, *arguments, names=None):
        """Seconds of each contestant, the median of the rounds; None for one that cannot do it.

        `names` are those that can, by default all.
        """
        results = {name: [] for name in self._processes}
        for _ in range(self._rounds + 1):
            for name, process in self._processes.items():
                if names is None or name in names:
                    make = self._contestants[name]
                    results[name].append(process.submit(_seconds, make, arguments).result())
        return {name: _median(values[1:]) for name, values in results.items()}

    def run(self, name, function, *arguments):
        """What a function gives in a contestant's process; None if it does not take part."""
        process = self._processes.get(name)
        return process and process.submit(function, *arguments).result()

    def print_header(self):
        """The first lines of the table."""
        names = list(self._processes)
        print(f"compiled kernels: {'in use' if native_active() else 'NOT in use'}\n")
        print(f"{'':34}" + "".join(f"{name:>22}" for name in names))
        print(f"{'':34}{'us an example':>22}" + f"{'times as long':>22}" * (len(names) - 1))

    def print_row(self, title, count, results):
        """One line: our time for an example, and how many times as long others take."""
        ours, *others = results.values()
        row = "".join(f"{other / ours:>21.1f}x" if other else f"{'-':>22}" for other in others)
        print(f"{title:34}{ours / count * 1e6:>22.2f}{row}", flush=True)

    def print_missing(self):
        """Which contestants did not take part."""
        for name, module in self._missing.items():
            print(f"\n{name} did not take part: {module} is not installed")


def _median(values):
    return statistics.median(values) if values and None not in values else None


def _seconds(make, arguments):
    with contextlib.redirect_stdout(io.StringIO()):  # what peers print is not for the table
        function = make(*arguments)
        if function is None:
            return None
        start = time.perf_counter()
        function()
        return time.perf_counter() - start
