"""unittest_outcomes.py MODULE... - runs the tests of unittest's in these modules; each test's outcome goes to the file OUTCOMES."""
import os
import sys
import unittest


class Outcomes(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.outcomes = {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.outcomes.setdefault(test.id(), "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcomes[test.id()] = "skipped"

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcomes[test.id()] = "failed"

    def addError(self, test, err):
        super().addError(test, err)
        self.outcomes[test.id()] = "failed"

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcomes[test.id()] = "failed"


def main():
    sys.path.insert(0, os.getcwd())
    result = unittest.TextTestRunner(resultclass=Outcomes).run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]))
    with open(os.environ["OUTCOMES"], "w", encoding="utf-8") as file:
        for name, outcome in sorted(result.outcomes.items()):
            file.write(f"{name}\t{outcome}\n")


main()
