"""service.py - what a provider needs to call its service: settings, programs, HTTP; and a limit of time for all of it.

A provider is a module with three functions, called in a process of their own, which is ended when it takes too long:

    describe(s)                             the key that wraps now, with its version, as the service calls it
    wrap(s, key, secret, context)           secret, of 64 bytes, under that key; context: a text to bind it to, if the service can
    unwrap(s, key, blob, context)           the secret

REFUSED, if it is there, is a pattern for what the service's program says when the service is reached and does not want to; NOISE one for
lines of it that say nothing.
"""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from custody import files
from custody.failure import CONFIG, DATA, REFUSED, TIMEOUT, UNAVAILABLE, Failure, one_line

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
LARGEST_ANSWER = 256 * 1024
SECRET_NAME = re.compile('SECRET|PASSW|TOKEN|PIN$|API_?KEY')

libc = ctypes.CDLL(None) if sys.platform == 'linux' else None


def die_with_parent():
    """What a worker has started ends with it."""
    if libc:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def no_dumps():
    if libc:
        libc.prctl(PR_SET_DUMPABLE, 0)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None     # another host is not to see the token


class Service:
    def __init__(self, name, module, settings, owner):
        self.name, self.module, self.settings, self.owner = name, module, settings, owner

    # ---- settings: in capitals they are environment, for the service's program ----

    def __getitem__(self, name):
        if name not in self.settings:
            raise Failure(CONFIG, f'section [{self.name}] of the settings has no "{name}"')
        return self.settings[name]

    def get(self, name, default=None):
        return self.settings.get(name, default)

    def set_environment(self):
        for name, value in self.settings.items():
            if name.isupper():
                if SECRET_NAME.search(name) and not value.startswith('/'):
                    raise Failure(CONFIG, f'{name} in section [{self.name}] is a secret in clear: name a file, or use an identity of the machine')
                os.environ[name] = value

    def secret_file(self, name):
        """What the service knows this server by: in a file that nobody else can read, or a credential of its unit, which systemd guards."""
        folder = os.environ.get('CREDENTIALS_DIRECTORY')
        of_unit = folder is not None and not os.path.isabs(self[name])
        path = os.path.join(folder, self[name]) if of_unit else self[name]
        return files.read(path, self.owner, CONFIG, secret=not of_unit).rstrip(b'\r\n')

    # ---- calling it ----

    def refuse(self, text, code=REFUSED):
        raise Failure(code, f'the service refuses: {one_line(text)}')

    def run(self, *command, data=b''):
        """The output of a program; secrets come and go by pipes."""
        try:
            done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=die_with_parent, check=False)
        except OSError as e:
            raise Failure(CONFIG, f'could not run "{command[0]}": {e.strerror}') from None
        if done.returncode != 0:
            self.explain(command[0], done)
        return done.stdout

    def explain(self, program, done):
        said = done.stderr.decode('utf-8', 'replace')
        refused = re.search(getattr(self.module, 'REFUSED', '(?!)'), said, re.IGNORECASE)
        noise = getattr(self.module, 'NOISE', '(?!)')
        said = one_line(' '.join(line for line in said.splitlines() if not re.search(noise, line))) or f'exit code {done.returncode}'
        if refused:
            self.refuse(said)
        raise Failure(UNAVAILABLE, said if program in said else f'{program}: {said}')

    def http(self, url, body=None, headers=None, secure=True):
        """The answer, as JSON, to a GET, or to a POST of body."""
        host = urllib.parse.urlsplit(url).hostname
        if secure and not url.startswith('https://') and host not in ('localhost', '127.0.0.1', '::1'):
            raise Failure(CONFIG, f'{url} is not https')
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), {'Content-Type': 'application/json', **(headers or {})})
        try:
            with urllib.request.build_opener(NoRedirects).open(request) as response:
                return json.loads(response.read(LARGEST_ANSWER))
        except urllib.error.HTTPError as e:
            said = f'{host}: HTTP {e.code}: {self.reason_in(e.read(LARGEST_ANSWER))}'
            if 400 <= e.code < 500 and e.code not in (408, 429):
                self.refuse(said)
            raise Failure(UNAVAILABLE, one_line(said)) from None
        except ValueError:
            raise Failure(DATA, f'{host} answered something else than JSON') from None
        except (urllib.error.URLError, OSError) as e:
            raise Failure(UNAVAILABLE, one_line(f'{host}: {getattr(e, "reason", e)}')) from None

    @staticmethod
    def reason_in(answer):
        """Vault has {"errors": [...]}, Google and Azure {"error": {"message": ...}}."""
        try:
            answer = json.loads(answer)
            return answer['error']['message'] if 'error' in answer else '; '.join(answer['errors'])
        except (ValueError, KeyError, TypeError):
            return 'no reason given'

    # ---- one call, in a process of its own ----

    def call(self, function, *args, timeout):
        """The result of a function of the provider, as bytes."""
        # for programs that want files; what they put there is wrapped
        with tempfile.TemporaryDirectory(prefix='tde-passphrase.') as self.folder:
            answer = self.fork(function, args, timeout)
        if answer is None:
            raise Failure(TIMEOUT, f'the service did not answer within {timeout:g} s')
        if not answer:
            raise Failure(UNAVAILABLE, 'the provider has ended without an answer')
        if answer[0]:
            raise Failure(answer[0], answer[1:].decode())
        return answer[1:]

    def fork(self, function, args, timeout):
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            self.work(theirs, function, args)
        os.close(theirs)
        try:
            return self.read_until(ours, time.monotonic() + timeout)
        finally:
            os.close(ours)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def work(self, pipe, function, args):
        die_with_parent()
        try:
            self.set_environment()
            result = getattr(self.module, function)(self, *args)
            answer = b'\0' + (result if isinstance(result, bytes) else result.encode())
        except Failure as f:
            answer = bytes([f.code]) + f.text.encode()
        except Exception as e:      # whatever it is: the text of an error could quote a secret, and this process ends here
            answer = bytes([DATA]) + f'the service\'s answer makes no sense ({type(e).__name__})'.encode()
        os.write(pipe, answer)
        os._exit(0)

    @staticmethod
    def read_until(pipe, deadline):
        answer = b''
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(pipe, 65536)
            if not chunk:
                return answer
            answer += chunk

