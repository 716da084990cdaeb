"""The parts of bench/suite that need no server: options, samples, progress, reports, the verdict on two builds."""

import argparse
import contextlib
import csv
import io
import os
import random
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from suite import BenchError, options, require_space, samples  # noqa: E402 (the path is set first)
from suite.intervals import compare, enough, interval  # noqa: E402
from suite.report import Report, digits  # noqa: E402


class OptionTypes(unittest.TestCase):
    def refuses(self, parse, *texts):
        for text in texts:
            with self.subTest(text), self.assertRaises(argparse.ArgumentTypeError):
                parse(text)

    def test_whole(self):
        self.assertEqual(options.whole("12"), 12)
        self.refuses(options.whole, "0", "-1", "1.5", "", "x", "nan", "inf")
        self.assertEqual(options.at_least(6)("6"), 6)
        self.refuses(options.at_least(6), "5")

    def test_positive(self):
        self.assertEqual(options.positive("0.25"), 0.25)
        self.refuses(options.positive, "0", "-0.1", "nan", "inf", "-inf", "", "x")

    def test_millions(self):
        self.assertEqual(options.millions("0.5"), 500_000)
        self.assertEqual(options.millions("1e-9"), 1)
        self.refuses(options.millions, "0", "nan")

    def test_some_of(self):
        parse = options.some_of(["load", "queries", "storage"])
        self.assertEqual(parse("storage,load"), ["load", "storage"])
        self.refuses(parse, "", "load,", "Load", "x")


class Space(unittest.TestCase):
    def test_require_space(self):
        with tempfile.TemporaryDirectory() as folder:
            require_space(1e-6, folder)
            with self.assertRaisesRegex(BenchError, "GB are free"):
                require_space(1e9, folder)


class Measuring(unittest.TestCase):
    def setUp(self):
        stderr = contextlib.redirect_stderr(io.StringIO())
        self.stderr = stderr.__enter__()
        self.addCleanup(stderr.__exit__, None, None, None)

    def test_rounds_interleave_and_the_first_warms_up(self):
        done = []
        cases = [samples.Case("work", variant, lambda variant=variant: done.append(variant) or float(len(done)))
                 for variant in ("plain", "encrypted")]
        figures = samples.measure("title", cases, 2)
        self.assertEqual(done, ["plain", "encrypted"] * 3)
        self.assertEqual(figures.of("work", "plain"), [3.0, 5.0])
        self.assertEqual(figures.of("work", "encrypted"), [4.0, 6.0])
        self.assertEqual(figures.ratios("work", "encrypted", "plain"), [4 / 3, 6 / 5])
        self.assertEqual(figures.median("work", "plain"), 4)

    def test_ratios_are_to_the_base_just_before(self):
        done = []
        cases = [samples.Case("work", variant, lambda variant=variant: done.append(variant) or float(len(done)))
                 for variant in ("plain", "a", "b")]
        figures = samples.measure("title", cases, 1, warmup=0, base="plain")
        self.assertEqual(done, ["plain", "plain", "a", "plain", "b"])
        self.assertEqual(figures.of("work", "plain"), [1.0])
        self.assertEqual(figures.ratios("work", "a", "plain"), [3 / 2])
        self.assertEqual(figures.ratios("work", "b", "plain"), [5 / 4])
        self.assertEqual(figures.ratios("work", "b", "a"), [5 / 3])
        self.assertEqual(figures.ratios("work", "plain", "plain"), [1.0])
        both = samples.Samples()
        both.merge(figures)
        self.assertEqual(both.ratios("work", "b", "plain"), [5 / 4])

    def test_an_action_without_a_figure_is_timed(self):
        figures = samples.measure("title", [samples.Case("work", "plain", lambda: None)], 3)
        self.assertEqual(len(figures.of("work", "plain")), 3)
        self.assertTrue(all(0 <= figure < 1 for figure in figures.of("work", "plain")))

    def test_each_round_may_have_its_own_order(self):
        done = []

        def cases(number):
            order = ("a", "b") if number % 2 == 0 else ("b", "a")
            return [samples.Case("work", variant, lambda variant=variant: done.append(variant)) for variant in order]
        samples.measure("title", cases, 2)
        self.assertEqual("".join(done), "abbaab")

    def clock(self, start):
        """A clock that the test sets."""
        clock = mock.Mock(now=start)
        patch = mock.patch("time.monotonic", lambda: clock.now)
        patch.start()
        self.addCleanup(patch.stop)
        return clock

    def test_time_left(self):
        clock = self.clock(100)
        progress = samples.Progress("title", [2, 1, 3, None])
        self.assertEqual(progress.left(), None)
        clock.now = 110
        progress.step("one")
        self.assertAlmostEqual(progress.left(), 10 / 2 * (1 + 3 + 2))  # the last one counts as the mean of the others

    def test_lines_without_a_terminal(self):
        clock = self.clock(0)
        progress = samples.Progress("title", [1] * 4)
        for clock.now, label in ((1, "one"), (20, "two"), (21, "three"), (22, "four")):
            progress.step(label)
        lines = self.stderr.getvalue().splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["%", "two", "four"])
        self.assertTrue(all("\r" not in line for line in lines))

    def test_many_steps(self):
        progress = samples.Progress("title", [None] * 1_000_000)
        progress.costs[0] = 1
        progress.step("one")
        self.assertGreaterEqual(progress.left(), 0)


class Verdicts(unittest.TestCase):
    def rounds(self, factor, spread, count=12):
        """Two runs for each round; now and then one is disturbed."""
        def one():
            return factor * random.lognormvariate(0, spread) * (1.5 if random.random() < 0.03 else 1)
        return [(one(), one()) for _ in range(count)]

    def share(self, wanted, factor, spread):
        """How often the verdict is as wanted."""
        return sum(compare(self.rounds(1, spread), self.rounds(factor, spread)).verdict() == wanted for _ in range(300)) / 300

    def setUp(self):
        random.seed(4)

    def test_interval(self):
        self.assertEqual(interval([6, 1, 5, 2, 4, 3]), (1, 6))
        self.assertEqual(interval(list(range(1, 11))), (2, 9))
        self.assertEqual(interval(list(range(1, 21))), (6, 15))

    def test_intervals_of_many_comparisons_are_wider(self):
        self.assertEqual(interval(list(range(1, 21)), 15), (4, 17))
        self.assertEqual((enough(), enough(15)), (6, 10))
        self.assertEqual(interval(list(range(1, 11)), 15), (1, 10))
        self.assertRaises(ValueError, interval, list(range(1, 10)), 15)

    def test_a_report_without_a_difference_is_without_an_alarm(self):
        """Where the noise is within the rounds only, or between them, too: in one report of ten at most."""
        def alarms(between):
            def shifted():
                return [tuple(run * shift for run in runs) for runs in self.rounds(1, 0.02, 20)
                        for shift in [random.lognormvariate(0, between)]]
            return sum(compare(shifted(), shifted(), 15).verdict() != "no difference shown" for _ in range(15))
        for between in (0, 0.05, 0.2):
            with self.subTest(between):
                self.assertLess(sum(alarms(between) > 0 for _ in range(100)), 10)

    def test_no_false_alarm(self):
        for spread in (0.002, 0.02, 0.1):
            with self.subTest(spread):
                self.assertLess(self.share("slower", 1, spread), 0.005)
                self.assertLess(self.share("faster", 1, spread), 0.005)

    def test_a_difference_is_found(self):
        self.assertGreater(self.share("slower", 1.10, 0.02), 0.95)
        self.assertGreater(self.share("faster", 1 / 1.10, 0.02), 0.95)
        self.assertGreater(self.share("slower", 1.05, 0.005), 0.95)

    def test_second_runs_that_are_always_faster_are_no_noise(self):
        runs = [(1.2, 1.0)] * 10
        self.assertEqual(compare(runs, runs).noise, 0)
        self.assertEqual(compare(runs, [(1.32, 1.1)] * 10).verdict(), "slower")


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "work").mkdir()
        environment = mock.patch.dict(os.environ, BENCH_WORK=str(self.folder / "work"))
        environment.start()
        self.addCleanup(environment.stop)

    def report(self):
        figures = samples.Samples()
        for plain, encrypted in ((1.0, 3.0), (2.0, 3.0), (1.0, 2.5)):
            figures.add("scan", "plain", plain)
            figures.add("scan", "encrypted", encrypted)
        report = Report("Title", "Method.", {"setting": "value"})
        report.comparison("Times", figures, "plain", published={("scan", "encrypted"): "21.0"},
                          targets={("scan", "encrypted"): 2.4, ("scan", "plain"): 1.0})
        report.bars("ratios", "Ratios", "ratio", ["scan", "other"], {"plain": [1, 1], "encrypted": [2.5, None]},
                    marks={("scan", "encrypted"): 21.0}, spread={("scan", "encrypted"): (1.5, 3)})
        report.lines("sizes", "Sizes", "bytes", "ns", [16, 32], {"cbc": [1, 2]}, marks={"cbc": [1.5, 2.5]}, logx=True)
        return report

    def test_the_folder_is_whole(self):
        place = self.folder / "new" / "results" / "name"
        text = self.report().write(place)
        self.assertEqual({path.name for path in place.iterdir()}, {"report.md", "samples.csv", "ratios.svg", "sizes.svg"})
        self.assertEqual((place / "report.md").read_text(), text)
        self.assertIn("| scan | encrypted | 3.00 | 2.50 .. 3.00 | **2.50** | 1.50 .. 3.00 | 21.0 | <= 2.4 | **MISS** |", text)
        self.assertIn("| scan | plain | 1.00 | 1.00 .. 2.00 | **1.00** | 1.00 .. 1.00 |  | <= 1 | pass |", text)
        with open(place / "samples.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(len(rows), 7)
        self.assertEqual(rows[2], ["Times", "scan", "plain", "2", "2.0", "s"])
        for chart in ("ratios", "sizes"):
            self.assertTrue(ElementTree.parse(place / f"{chart}.svg").getroot().tag.endswith("svg"))
        self.assertIn("published", (place / "ratios.svg").read_text())

    def test_a_new_report_replaces_the_old_one(self):
        place = self.folder / "name"
        self.report().write(place)
        (place / "old.svg").touch()
        self.report().write(place)
        self.assertFalse((place / "old.svg").exists())
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"work", "name"})

    def test_a_report_that_fails_leaves_nothing(self):
        place = self.folder / "name"
        self.report().write(place)
        broken = self.report()
        broken.charts.append(("broken", None))
        with self.assertRaises(AttributeError):
            broken.write(place)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"work", "name"})
        self.assertTrue((place / "report.md").exists())
        self.assertEqual(list((self.folder / "work").iterdir()), [])

    def test_rates(self):
        rates = samples.Samples("tps")
        rates.add("lookup", "plain", 1000.0)
        rates.add("lookup", "encrypted", 900.0)
        report = Report("Title", "Method.", {})
        report.comparison("Rates", rates, "plain", targets={("lookup", "encrypted"): 0.95}, higher_is_better=True)
        self.assertIn("| lookup | encrypted | 900 | 900 .. 900 | **0.90** | 0.90 .. 0.90 | >= 0.95 | **MISS** |", report.text())

    def test_digits(self):
        self.assertEqual([digits(value) for value in (0, 0.01234, 1.234, 12.34, 1234.5)],
                         ["0", "0.0123", "1.23", "12.34", "1,234"])


if __name__ == "__main__":
    unittest.main()
