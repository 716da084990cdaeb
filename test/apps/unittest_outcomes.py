"""unittest_outcomes.py MODULE... - runs the tests of unittest's in these modules, and writes the outcome of each."""
import os
import sys
import unittest

import outcomes


def main():
    sys.path.insert(0, os.getcwd())
    runner = unittest.TextTestRunner(resultclass=outcomes.RecordingResult)
    outcomes.write(runner.run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])).outcomes)


main()
