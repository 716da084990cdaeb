"""gnupg - an OpenPGP key, on a smart card or token, or in the agent of another machine that is forwarded here.

[gnupg]
key = tde@example.com            its address or fingerprint; the newest subkey that encrypts is taken
GNUPGHOME = /etc/tde_column/gnupg
"""

REFUSED = 'no secret key|no public key|unusable public key|no pinentry|bad PIN|PIN blocked|card (removed|error)|expired|revoked|bad passphrase'

GPG = ('gpg', '--batch', '--no-tty', '--quiet', '--no-auto-key-locate')


def describe(s):
    """The newest subkey that is good and encrypts."""
    found, newest = '', ''
    good = False
    for line in s.run(*GPG, '--with-colons', '--list-keys', s['key']).decode().splitlines():
        field = line.split(':')
        if field[0] in ('pub', 'sub'):
            good, made = field[1] not in 'reind' and 'e' in field[11], field[5].zfill(12)
        elif field[0] == 'fpr' and good and made >= newest:
            found, newest, good = field[9], made, False
    if not found:
        s.refuse(f'{s["key"]} has no subkey that encrypts, and is neither expired nor revoked')
    return found


def wrap(s, key, secret, context):
    return s.run(*GPG, '--trust-model', 'always', '--encrypt', '--recipient', key + '!', data=secret)


def unwrap(s, key, blob, context):
    return s.run(*GPG, '--decrypt', data=blob)
