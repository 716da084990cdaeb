"""Types of command line options, for argparse: what is wrong with a value is told before anything runs."""

import argparse
import math


def at_least(least):
    """A type for whole numbers: repetitions, sizes."""
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return value
    return parse


whole = at_least(1)


def positive(text):
    """A finite number above 0: scale factors, seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def millions(text):
    """How many rows a number of millions is: at least one."""
    return max(round(positive(text) * 1e6), 1)


def some_of(known):
    """A type for lists with commas: a part of what is known, in its order."""
    def parse(text):
        wanted = [word.strip() for word in text.split(",")]
        wrong = [word for word in wanted if word not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"there is no {wrong[0]!r}; known are {', '.join(known)}")
        return [word for word in known if word in wanted]
    return parse
