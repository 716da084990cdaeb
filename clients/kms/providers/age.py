"""age - an age identity, by a plugin on a hardware token or TPM (age-plugin-yubikey, age-plugin-tpm), whose file is a mere handle.

[age]
key = age1yubikey1...                        the recipient
identity_file = /etc/tde_column/age.txt      a native identity in it is a secret in a file in clear
"""

REFUSED = 'no identity matched'
NOISE = 'report unexpected'


def describe(s):
    return s['key']


def wrap(s, key, secret, context):
    return s.run('age', '--encrypt', '--recipient', key, data=secret)


def unwrap(s, key, blob, context):
    s.secret_file('identity_file')      # is it safe?
    return s.run('age', '--decrypt', '--identity', s['identity_file'], data=blob)
