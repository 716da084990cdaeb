"""systemd - systemd-creds, by the TPM 2.0 or the secret of the host.  Before version 256 only root may call it.

[systemd]
with = host+tpm2             or host, tpm2; where it can be wrapped and unwrapped is this machine alone
command = systemd-creds      or sudo -n systemd-creds
"""

import hashlib
import shlex

REFUSED = 'permission denied|not permitted|does not match|decryption failed|bad message'


def describe(s):
    with open('/etc/machine-id', 'rb') as file:
        machine = hashlib.sha256(b'tde_column' + file.read()).hexdigest()[:16]
    return f'{s.get("with", "host+tpm2")} of machine {machine}'


def creds(s, verb, context, *options, data):
    return s.run(*shlex.split(s.get('command', 'systemd-creds')), verb, f'--name=tde_column-{context}', *options, '-', '-', data=data)


def wrap(s, key, secret, context):
    return creds(s, 'encrypt', context, '--with-key=' + key.split()[0], data=secret)


def unwrap(s, key, blob, context):
    return creds(s, 'decrypt', context, data=blob)
