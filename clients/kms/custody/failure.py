"""failure.py - the one way in which a command ends badly: a line on standard error, and an exit code as sysexits.h has them."""

USAGE = 64          # called wrongly
DATA = 65           # an envelope, an answer or a key that does not belong here
NO_INPUT = 66       # no envelope
UNAVAILABLE = 69    # the service cannot be reached, or fails
OS_ERROR = 71       # something else that the system refuses
CANNOT_CREATE = 73  # the new envelope or the copy of the wallet cannot be written, or the wallet cannot be changed
TIMEOUT = 75        # the service does not answer in time
REFUSED = 77        # the service refuses, or a file may be written by others
CONFIG = 78         # the settings are wrong


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code
        self.text = text


def one_line(text, limit=300):
    """What another program said, such that it stays one line of the server's log."""
    if isinstance(text, bytes):
        text = text.decode('utf-8', 'replace')
    text = ' '.join(text.split())
    text = ''.join(c if c.isprintable() else '?' for c in text)
    return text if len(text) <= limit else text[:limit] + '...'
