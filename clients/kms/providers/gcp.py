"""gcp - Google Cloud KMS.  The service account of the instance needs roles/cloudkms.cryptoKeyEncrypterDecrypter and viewer on the key.

[gcp]
key = projects/P/locations/L/keyRings/R/cryptoKeys/tde_column
"""

import base64


def ask(s, path, body=None):
    token = s.http(s.get('token_url', 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'),
                   headers={'Metadata-Flavor': 'Google'}, secure=False)['access_token']
    return s.http(f'{s.get("url", "https://cloudkms.googleapis.com")}/v1/{path}', body, {'Authorization': 'Bearer ' + token})


def b64(data):
    return base64.b64encode(data).decode()


def describe(s):
    return ask(s, s['key'])['primary']['name']


def key_of(version):
    return version.partition('/cryptoKeyVersions/')[0]


def wrap(s, key, secret, context):
    body = {'plaintext': b64(secret), 'additionalAuthenticatedData': b64(context.encode())}
    return base64.b64decode(ask(s, f"{key_of(key)}:encrypt", body)['ciphertext'], validate=True)


def unwrap(s, key, blob, context):
    body = {'ciphertext': b64(blob), 'additionalAuthenticatedData': b64(context.encode())}
    return base64.b64decode(ask(s, f'{key_of(key)}:decrypt', body)['plaintext'], validate=True)
