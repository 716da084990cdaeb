"""azure - an RSA key of Azure Key Vault or Managed HSM.  The managed identity of the machine needs get, wrapKey and unwrapKey.

[azure]
url = https://NAME.vault.azure.net        or https://NAME.managedhsm.azure.net
key = tde-column
"""

import base64

VERSION = 'api-version=7.4'


def ask(s, url, body=None):
    audience = 'https://managedhsm.azure.net' if '.managedhsm.' in s['url'] else 'https://vault.azure.net'
    token = s.http(s.get('token_url', 'http://169.254.169.254/metadata/identity/oauth2/token') + f'?api-version=2018-02-01&resource={audience}',
                   headers={'Metadata': 'true'}, secure=False)['access_token']
    return s.http(f'{url}?{VERSION}', body, {'Authorization': 'Bearer ' + token})


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def describe(s):
    """Its URL, with the version."""
    return ask(s, f'{s["url"].rstrip("/")}/keys/{s["key"]}')['key']['kid']


def wrap(s, key, secret, context):
    return ask(s, key + '/wrapkey', {'alg': 'RSA-OAEP-256', 'value': b64(secret)})['value'].encode()


def unwrap(s, key, blob, context):
    if not key.startswith(s['url'].rstrip('/') + '/keys/'):
        s.refuse(f'{key} is not in {s["url"]}')
    value = ask(s, key + '/unwrapkey', {'alg': 'RSA-OAEP-256', 'value': blob.decode()})['value']
    return base64.urlsafe_b64decode(value + '=' * (-len(value) % 4))
