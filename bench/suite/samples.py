"""Measurements: cases that take turns, their samples, and progress with an estimate of the time left."""

import statistics
import sys
import time
from typing import Callable, NamedTuple, Optional


class Case(NamedTuple):
    """One thing to be timed.  The action returns its figure; if it returns None, its time in seconds is the figure."""

    workload: str
    variant: str
    action: Callable[[], Optional[float]]


class Samples:
    """Figures by workload and variant, one for each round."""

    def __init__(self, unit="s"):
        self.unit = unit
        self.figures = {}

    def add(self, workload, variant, figure):
        self.figures.setdefault((workload, variant), []).append(figure)

    def workloads(self):
        return list(dict.fromkeys(workload for workload, _ in self.figures))

    def variants(self, workload):
        return [variant for name, variant in self.figures if name == workload]

    def of(self, workload, variant):
        return self.figures[workload, variant]

    def median(self, workload, variant):
        return statistics.median(self.of(workload, variant))

    def ratios(self, workload, variant, base):
        """The ratio to another variant in the same round, for each round."""
        return [mine / other for mine, other in zip(self.of(workload, variant), self.of(workload, base))]

    def ratio(self, workload, variant, base):
        return statistics.median(self.ratios(workload, variant, base))


class Progress:
    """A bar with the time left, on standard error; without a terminal, a line now and then."""

    def __init__(self, title, costs):
        """costs: how long each step may take, in any unit."""
        self.title, self.costs, self.done = title, costs, 0
        self.start = self.told = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.show("")

    def step(self, label):
        self.done += 1
        self.show(label)

    def left(self):
        """Seconds; none is known before the first step."""
        spent = sum(self.costs[:self.done])
        return (time.monotonic() - self.start) * sum(self.costs[self.done:]) / spent if spent else None

    def show(self, label):
        last, now, left = self.done == len(self.costs), time.monotonic(), self.left()
        if not self.terminal and not last and now - self.told < 15:
            return
        self.told = now
        share = self.done / len(self.costs) if self.costs else 1
        eta = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
        text = f"bench: {self.title} [{'#' * round(20 * share):<20}] {100 * share:3.0f} %{eta} {label}"
        print(f"\r{text[:118]:<118}" if self.terminal else text, end="" if self.terminal and not last else "\n",
              file=sys.stderr, flush=True)


def measure(title, cases, rounds, warmup=1, unit="s"):
    """Time the cases in turns, so that what disturbs the machine disturbs all of them; the first rounds warm up."""
    samples = Samples(unit)
    progress = Progress(title, [1] * (len(cases) * (rounds + warmup)))
    for turn in range(warmup + rounds):
        for number, case in enumerate(cases):
            begin = time.perf_counter()
            figure = case.action()
            took = time.perf_counter() - begin
            if turn >= warmup:
                samples.add(case.workload, case.variant, took if figure is None else figure)
            # the same case takes as long in the next rounds
            progress.costs[progress.done::len(cases)] = [took] * len(progress.costs[progress.done::len(cases)])
            progress.step(f"{case.workload} {case.variant}")
    return samples
