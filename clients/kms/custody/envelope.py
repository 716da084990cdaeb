"""envelope.py - the file beside the wallet that holds its passphrase, wrapped by a key of the service.

It names the provider and the key, so that a wrong key is told from a wrong answer, and has a MAC under the passphrase over all of it:
not every service authenticates what it wraps.  ID goes to the services that bind what they wrap to a context.
"""

import base64
import binascii
import hmac
import json
import re

from custody.failure import DATA, Failure

FORMAT = 'tde_column envelope 1'
PASSPHRASE = re.compile(rb'[0-9a-f]{64}')
PROVIDER = re.compile(r'[a-z0-9_]+(\.[a-z0-9_]+)?')
FIELDS = ('format', 'id', 'provider', 'key', 'blob')


def mac(fields, passphrase):
    return hmac.new(passphrase, json.dumps([fields[name] for name in FIELDS]).encode(), 'sha256').hexdigest()


class Envelope:
    def __init__(self, ident, provider, key, blob):
        self.id, self.provider, self.key, self.blob = ident, provider, key, blob

    def encode(self, passphrase):
        fields = dict(zip(FIELDS, (FORMAT, self.id, self.provider, self.key, base64.b64encode(self.blob).decode())))
        fields['mac'] = mac(fields, passphrase)
        return json.dumps(fields, indent=1).encode() + b'\n'

    @classmethod
    def decode(cls, content, path):
        try:
            fields = json.loads(content)
            texts = [fields[name] for name in FIELDS + ('mac',)]
            if set(map(type, texts)) != {str} or fields['format'] != FORMAT or not PROVIDER.fullmatch(fields['provider']):
                raise ValueError
            self = cls(fields['id'], fields['provider'], fields['key'], base64.b64decode(fields['blob'], validate=True))
        except (ValueError, KeyError, TypeError, binascii.Error):
            raise Failure(DATA, f'"{path}" is no envelope, or a damaged one') from None
        self.path, self.fields = path, fields
        return self

    def verify(self, passphrase):
        """The service's answer is what was put into this envelope, and nobody has changed the envelope since."""
        if not PASSPHRASE.fullmatch(passphrase):
            raise Failure(DATA, 'the service answered with something that is no passphrase of ours')
        if not hmac.compare_digest(mac(self.fields, passphrase), self.fields['mac']):
            raise Failure(DATA, 'the envelope was changed, or the service has unwrapped it by another key')
