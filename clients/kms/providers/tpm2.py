"""tpm2 - sealed by the machine's TPM 2.0, by tpm2-tools.  The server's user needs /dev/tpmrm0 (group tss).

[tpm2]
key = 0x81010001             a persistent storage key: tpm2_createprimary -C o -G ecc -c c; tpm2_evictcontrol -C o -c c 0x81010001
pcrs = sha256:7              optional: opens only while these registers are as they were
TPM2TOOLS_TCTI = device:/dev/tpmrm0
"""

import os

REFUSED = 'integrity check failed|policy check failed|handle.*(not correct|does not exist)|authorization failure|lockout|disabled'
NOISE = '^WARNING|Unable to run|Esys Finish'


def describe(s):
    name = os.path.join(s.folder, 'name')
    s.run('tpm2_readpublic', '-Q', '-c', s['key'], '-n', name)
    with open(name, 'rb') as file:
        return f'{s["key"]} name {file.read().hex()}'


def policy(s):
    if not s.get('pcrs'):
        return []
    path = os.path.join(s.folder, 'policy')
    s.run('tpm2_createpolicy', '-Q', '--policy-pcr', '-l', s['pcrs'], '-L', path)
    return ['-L', path]


def wrap(s, key, secret, context):
    public, private = os.path.join(s.folder, 'public'), os.path.join(s.folder, 'private')
    s.run('tpm2_create', '-Q', '-C', key.split()[0], *policy(s), '-u', public, '-r', private, '-i', '-', data=secret)
    with open(public, 'rb') as a, open(private, 'rb') as b:
        public = a.read()
        return len(public).to_bytes(2, 'big') + public + b.read()


def unwrap(s, key, blob, context):
    size = 2 + int.from_bytes(blob[:2], 'big')
    public, private, loaded = (os.path.join(s.folder, name) for name in ('public', 'private', 'loaded'))
    with open(public, 'wb') as a, open(private, 'wb') as b:
        a.write(blob[2:size])
        b.write(blob[size:])
    s.run('tpm2_load', '-Q', '-C', key.split()[0], '-u', public, '-r', private, '-c', loaded)
    return s.run('tpm2_unseal', '-c', loaded, *(['-p', 'pcr:' + s['pcrs']] if s.get('pcrs') else []))
