"""Measurements: cases that take turns, their samples, and progress with an estimate of the time left."""

import statistics
import sys
import time
from typing import Callable, NamedTuple, Optional

INTERVAL = 15  # seconds between lines of progress where there is no terminal


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
        """costs: how long each step may take, in any unit; None if that is not known yet."""
        self.title, self.costs, self.done = title, costs, 0
        self.start = self.told = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.show("", always=True)

    def step(self, label):
        self.done += 1
        self.show(label, always=self.done == len(self.costs))

    def left(self):
        """Seconds; none is known before the first step.  Steps of unknown cost count as the mean of the others."""
        known = [cost for cost in self.costs if cost is not None]
        usual = statistics.fmean(known) if known else 0
        costs = [usual if cost is None else cost for cost in self.costs]
        spent = sum(costs[:self.done])
        return (time.monotonic() - self.start) * sum(costs[self.done:]) / spent if spent else None

    def show(self, label, always):
        last, now = self.done == len(self.costs), time.monotonic()
        if not always and now - self.told < (0.1 if self.terminal else INTERVAL):
            return
        self.told, left = now, self.left()
        share = self.done / len(self.costs) if self.costs else 1
        eta = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
        text = f"bench: {self.title} [{'#' * round(20 * share):<20}] {100 * share:3.0f} %{eta} {label}"
        print(f"\r{text[:118]:<118}" if self.terminal else text, end="" if self.terminal and not last else "\n",
              file=sys.stderr, flush=True)


def measure(title, cases, rounds, warmup=1, unit="s"):
    """
    Time the cases in turns, so that what disturbs the machine disturbs all of them; the first rounds warm up.  cases: a list, or
    a function of the round's number that returns one, always as long.
    """
    samples = Samples(unit)
    progress = None
    for turn in range(warmup + rounds):
        now = cases(turn) if callable(cases) else cases
        progress = progress or Progress(title, [None] * (len(now) * (rounds + warmup)))
        for case in now:
            begin = time.perf_counter()
            figure = case.action()
            took = time.perf_counter() - begin
            if turn >= warmup:
                samples.add(case.workload, case.variant, took if figure is None else figure)
            # the same case takes as long in the next rounds
            progress.costs[progress.done::len(now)] = [took] * len(progress.costs[progress.done::len(now)])
            progress.step(f"{case.workload} {case.variant}")
    return samples
