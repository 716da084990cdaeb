"""Runs Django's tests and writes the outcome of each."""
import outcomes
from django.test.runner import DiscoverRunner


class RecordingRunner(DiscoverRunner):
    def get_resultclass(self):
        return outcomes.RecordingResult

    def suite_result(self, suite, result, **kwargs):
        outcomes.write(result.outcomes)
        return super().suite_result(suite, result, **kwargs)
