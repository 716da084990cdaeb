"""Claims of a study, each tested on samples: rows (claim, what was measured, verdict) for a report's table."""

# how much the figures of a flat curve may differ, and how much of a curve its line must explain
FLAT = 1.25
STRAIGHT = 0.95


def claim(text, measured, holds):
    return [text, measured, "holds" if holds else "**does not hold**"]


def least(samples, workload, variant):
    """The figure of the quietest round, which shows best what the code itself takes."""
    return min(samples.of(workload, variant))


def quotient(samples, workload, variant, other):
    return least(samples, workload, variant) / least(samples, workload, other)


def extras(samples, workloads, variant, base="plain"):
    """What a variant takes more than the base, for each workload."""
    return [least(samples, workload, variant) - least(samples, workload, base) for workload in workloads]


def flat(text, figures):
    """The claim that these do not depend on what varies."""
    if min(figures) <= 0:
        return claim(text, "the least figure is lost in the noise", False)
    spread = max(figures) / min(figures)
    return claim(text, f"{min(figures):,.0f} .. {max(figures):,.0f} ns, greatest / least {spread:.2f}", spread <= FLAT)


def proportional(text, sizes, figures):
    """The claim that these grow along a line, to more than twice what they are at first."""
    slope, start, explained = straight_line(sizes, figures)
    return claim(text, f"{start:,.0f} ns + {slope:.3f} ns per byte; the line explains {100 * explained:.0f} % of the variance",
                 explained >= STRAIGHT and figures[-1] > 2 * figures[0])


def straight_line(xs, ys):
    """Slope, value at 0, and the share of the variance that the line through the points explains."""
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    x_square = sum((x - x_mean) ** 2 for x in xs)
    y_square = sum((y - y_mean) ** 2 for y in ys)
    product = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    slope = product / x_square
    return slope, y_mean - slope * x_mean, product ** 2 / (x_square * y_square) if y_square else 0
