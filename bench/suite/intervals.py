"""Is one of two builds slower?  Intervals from order statistics, which an outlier or a skewed distribution does not mislead."""

from math import comb, exp, log, sqrt
from statistics import median
from typing import NamedTuple

# that all intervals of a report hold
CONFIDENCE = 0.95
# the same code in two processes differs by this much, from where its memory and its instructions happen to lie
NEGLIGIBLE = 0.02


def enough(comparisons=1):
    """How many figures each of so many intervals needs to be certain of anything."""
    return next(count for count in range(1, 100) if 2 / 2**count <= (1 - CONFIDENCE) / comparisons)


def interval(figures, comparisons=1):
    """
    Between which of the figures the true median lies.  That so many intervals all hold is certain to at least 95 %: each may fail
    in a part of the remaining 5 % (Bonferroni's correction).
    """
    count = len(figures)
    outside = [2 * sum(comb(count, below) for below in range(rank + 1)) / 2**count for rank in range(count // 2)]
    rank = max(rank for rank, chance in enumerate(outside) if chance <= (1 - CONFIDENCE) / comparisons)
    ordered = sorted(figures)
    return ordered[rank], ordered[count - 1 - rank]


class Comparison(NamedTuple):
    """The ratio of two builds' times, between what it lies, and the noise: how far such a ratio strays if nothing differs."""

    ratio: float
    low: float
    high: float
    noise: float

    def verdict(self):
        """A ratio counts if its whole interval is further from 1 than the noise reaches."""
        least = max(self.noise, NEGLIGIBLE)
        if self.low > 1 + least:
            return "slower"
        return "faster" if self.high < 1 / (1 + least) else "no difference shown"


def compare(old, new, comparisons=1):
    """old, new: for each round the times of two runs, of which the faster one was disturbed less; one of so many comparisons."""
    ratios = [min(mine) / min(other) for mine, other in zip(new, old)]
    low, high = interval(ratios, comparisons)
    return Comparison(median(ratios), low, high, max(noise(old), noise(new)))


def noise(runs):
    """
    What a build's second run differs by from its first, as a standard deviation (from the median of the deviations, which
    disturbed runs do not move); a constant difference, as of caches, is none.  Of two runs the better one has less of it.
    """
    logs = [log(second / first) for first, second in runs]
    middle = median(logs)
    return exp(1.4826 * median(abs(one - middle) for one in logs) / sqrt(2)) - 1
