"""Reports: a folder with the tables in Markdown, every sample as CSV, and charts with the published figures as marks."""

import csv
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# the same picture for the same figures, with text that can be searched
matplotlib.rcParams.update({"svg.hashsalt": "tde_column", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
                            "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": "#dddddd"})
from matplotlib import pyplot  # noqa: E402 (the backend is chosen first)

COLOURS = ["#9aa5b1", "#2b6cb0", "#dd6b20", "#2f855a", "#805ad5", "#b83280", "#718096", "#d69e2e", "#319795", "#c53030"]


def machine():
    """What the figures depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    openssl = subprocess.run(["openssl", "version"], capture_output=True, text=True).stdout.strip() or "unknown"
    return {
        "machine": f"{model}, {os.cpu_count()} cores, {memory:.0f} GB; {platform.system()} {platform.release()}",
        "OpenSSL": openssl,
        "commit": revision(),
    }


def revision():
    result = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
    return result.stdout.strip() or "not a checkout"


def digits(value):
    """Three significant digits, without an exponent."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3g}"


class Report:
    """Collects tables, notes and charts; write() puts the folder in its place when it is whole."""

    def __init__(self, title, method, settings):
        """method: paragraphs on what is measured and how; settings: name -> text."""
        self.title, self.settings = title, machine() | settings
        self.parts = [method]
        self.samples, self.charts = [], []
        self.command, self.status = "", 0

    def note(self, text):
        self.parts.append(text)

    def table(self, header, rows):
        """A Markdown table of texts."""
        lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, *rows]]
        self.parts.append("\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]))

    def comparison(self, title, samples, base, published=None, targets=None, scale=1, unit=None, higher_is_better=False,
                   extra=None):
        """
        A table of all samples, with each variant's ratio to the base variant (see Samples.ratios).

        published and targets: (workload, variant) -> text, and -> the ratio that must not be exceeded (for rates: that must be
        reached).  scale, unit: what figures are multiplied by for printing, and the unit's name then.  extra: a column's title ->
        what makes its figure of all samples of a variant.
        """
        published, targets, extra = published or {}, targets or {}, extra or {}
        header = ["workload", "variant", f"median, {unit or samples.unit}", "min .. max", *extra]
        header += [f"ratio to {base}", "min .. max"] + (["published"] if published else []) + (["wanted", ""] if targets else [])
        rows = []
        for workload in samples.workloads():
            for variant in samples.variants(workload):
                figures = [figure * scale for figure in samples.of(workload, variant)]
                ratios = samples.ratios(workload, variant, base) if base in samples.variants(workload) else []
                row = [workload, variant, digits(statistics.median(figures)), f"{digits(min(figures))} .. {digits(max(figures))}"]
                row += [digits(make(figures)) for make in extra.values()]
                row += [f"**{statistics.median(ratios):.2f}**", f"{min(ratios):.2f} .. {max(ratios):.2f}"] if ratios else ["", ""]
                row += [published.get((workload, variant), "")] if published else []
                row += verdict(statistics.median(ratios), targets.get((workload, variant)), higher_is_better) if targets else []
                rows.append(row)
        self.parts.append(f"## {title}")
        self.table(header, rows)
        self.keep(title, samples)

    def keep(self, title, samples):
        """Put samples into the CSV file."""
        for (workload, variant), figures in samples.figures.items():
            for turn, figure in enumerate(figures, 1):
                self.samples.append([title, workload, variant, turn, repr(figure), samples.unit])
            for turn, figure in enumerate(samples.before.get((workload, variant), []), 1):
                self.samples.append([title, workload, f"{samples.base} before {variant}", turn, repr(figure), samples.unit])

    def bars(self, name, title, label, groups, series, marks=None, log=False, spread=None, upright=False):
        """
        A chart of bars: series is name -> one value for each group (None: no bar).  marks: (group, series) -> the published
        value or (low, high).  spread: (group, series) -> (min, max), drawn as a whisker.  upright: long names of groups do not meet.
        """
        figure, axes = pyplot.subplots(figsize=(max(6.4, 0.9 + 0.28 * len(groups) * (len(series) + 1)), 3.8))
        width = 0.84 / len(series)
        for number, (variant, values) in enumerate(series.items()):
            for place, value in enumerate(values):
                if value is None:
                    continue
                x = place + (number - (len(series) - 1) / 2) * width
                axes.bar(x, value, width * 0.94, color=COLOURS[number % len(COLOURS)], label=variant if first(values) == place else None)
                whisker(axes, x, value, (spread or {}).get((groups[place], variant)))
                published(axes, x, width, (marks or {}).get((groups[place], variant)))
        axes.set_xticks(range(len(groups)), groups, **({"rotation": 90} if upright else {}))
        finish(axes, title, label, log, marks)
        self.save(name, title, figure)

    def lines(self, name, title, xlabel, label, xs, series, marks=None, logx=False, log=False):
        """A chart of lines: series is name -> values at xs; marks: name -> published values at xs (None: no mark)."""
        figure, axes = pyplot.subplots(figsize=(6.8, 4))
        for number, (variant, values) in enumerate(series.items()):
            colour = COLOURS[(number + 1) % len(COLOURS)]
            axes.plot(xs, values, "o-", color=colour, markersize=3, label=variant)
            if marks and variant in marks:
                axes.plot(xs, marks[variant], "_", color=colour, markersize=11, markeredgewidth=2)
        if logx:
            axes.set_xscale("log", base=2)
            axes.set_xticks(xs, [str(x) for x in xs])
            axes.minorticks_off()
        axes.set_xlabel(xlabel)
        finish(axes, title, label, log, marks)
        self.save(name, title, figure)

    def save(self, name, title, figure):
        self.charts.append((name, figure))
        self.parts.append(f"![{title}]({name}.svg)")

    def write(self, folder):
        """Make the report's folder, replacing an older one at the end; returns the report's text."""
        with tempfile.TemporaryDirectory(dir=os.environ["BENCH_WORK"]) as made:
            text = self.make(Path(made))
            # beside its place first, since that may be on another disk
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
                new, old = Path(beside, "new"), Path(beside, "old")
                shutil.copytree(made, new, copy_function=shutil.copyfile)
                new.chmod(0o755)
                if folder.exists():
                    folder.rename(old)
                new.rename(folder)
        return text

    def make(self, folder):
        text = self.text()
        (folder / "report.md").write_text(text)
        with open(folder / "samples.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([["experiment", "workload", "variant", "round", "figure", "unit"], *self.samples])
        for name, figure in self.charts:
            figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
            pyplot.close(figure)
        return text

    def text(self):
        settings = [f"* {name}: {value}" for name, value in self.settings.items()]
        head = [f"# {self.title}", f"`{self.command}`, {datetime.date.today()}", "\n".join(settings)]
        return "\n\n".join([*head, *self.parts]) + "\n"


def verdict(ratio, target, higher_is_better):
    if target is None:
        return ["", ""]
    passed = ratio >= target if higher_is_better else ratio <= target
    return [f"{'>=' if higher_is_better else '<='} {target:g}", "pass" if passed else "**MISS**"]


def first(values):
    return next(place for place, value in enumerate(values) if value is not None)


def whisker(axes, x, value, limits):
    if limits:
        low, high = limits
        axes.errorbar(x, value, [[max(value - low, 0)], [max(high - value, 0)]], color="#333333", linewidth=0.8)


def published(axes, x, width, mark):
    if mark is None:
        return
    low, high = mark if isinstance(mark, tuple) else (mark, mark)
    if low == high:
        axes.plot([x - width / 2, x + width / 2], [low, low], color="black", linewidth=1.8)
    else:
        axes.fill_between([x - width / 2, x + width / 2], low, high, color="none", edgecolor="black", hatch="////", linewidth=0.8)


def finish(axes, title, label, log, marks):
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(label)
    if log:
        axes.set_yscale("log")
    handles, labels = axes.get_legend_handles_labels()
    if marks:
        handles.append(pyplot.Line2D([], [], color="black", linewidth=1.8))
        labels.append("published")
    axes.legend(handles, labels, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
