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

    def __init__(self, unit="s", base=None):
        self.unit, self.base = unit, base
        self.figures = {}
        self.before = {}  # what the base variant took just before, for each figure

    def add(self, workload, variant, figure):
        self.figures.setdefault((workload, variant), []).append(figure)

    def merge(self, other):
        """Take over those of other workloads, measured in the same way."""
        self.base = other.base
        self.figures |= other.figures
        self.before |= other.before

    def workloads(self):
        return list(dict.fromkeys(workload for workload, _ in self.figures))

    def variants(self, workload):
        return [variant for name, variant in self.figures if name == workload]

    def of(self, workload, variant):
        return self.figures[workload, variant]

    def median(self, workload, variant):
        return statistics.median(self.of(workload, variant))

    def ratios(self, workload, variant, base):
        """The ratio to another variant in the same round, for each round; to its run just before where there is one."""
        neighbours = self.before.get((workload, variant)) if base == self.base else None
        return [mine / other for mine, other in zip(self.of(workload, variant), neighbours or self.of(workload, base))]

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


def timed(case):
    """The case's figure."""
    begin = time.perf_counter()
    figure = case.action()
    return time.perf_counter() - begin if figure is None else figure


def neighbours(cases, base):
    """For each case the one of the base variant that is to be run before it, or None."""
    bases = {case.workload: case for case in cases if case.variant == base}
    return [None if case.variant == base else bases.get(case.workload) for case in cases]


def measure(title, cases, rounds, warmup=1, unit="s", base=None):
    """
    Time the cases in turns, so that what disturbs the machine disturbs all of them; the first rounds warm up.  cases: a list, or
    a function of the round's number that returns one, always as long.  base: a variant that is run once more before each other
    one of its workload.  A machine that changes its speed every few seconds is as fast for both, so ratios are to these runs.
    """
    samples = Samples(unit, base)
    progress = None
    for turn in range(warmup + rounds):
        now = cases(turn) if callable(cases) else cases
        progress = progress or Progress(title, [None] * (len(now) * (rounds + warmup)))
        for case, neighbour in zip(now, neighbours(now, base)):
            begin = time.perf_counter()
            before = timed(neighbour) if neighbour else None
            figure = timed(case)
            if turn >= warmup:
                samples.add(case.workload, case.variant, figure)
                if neighbour:
                    samples.before.setdefault((case.workload, case.variant), []).append(before)
            # the same case takes as long in the next rounds
            took = time.perf_counter() - begin
            progress.costs[progress.done::len(now)] = [took] * len(progress.costs[progress.done::len(now)])
            progress.step(f"{case.workload} {case.variant}")
    return samples
