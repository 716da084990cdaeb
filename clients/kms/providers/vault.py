"""vault - the transit engine of OpenBao or HashiCorp Vault.  The policy: read keys/KEY, update encrypt/KEY and decrypt/KEY.

[vault]
url = https://vault.example.com:8200
key = tde_column
mount = transit
token_file = /run/vault-agent/token     written by the agent, with mode 0600
namespace =
SSL_CERT_FILE = /etc/tde_column/ca.pem
"""

import base64


def ask(s, path, body=None):
    headers = {'X-Vault-Token': s.secret_file('token_file').decode(), 'X-Vault-Request': 'true'}
    if s.get('namespace'):
        headers['X-Vault-Namespace'] = s['namespace']
    return s.http(f'{s["url"].rstrip("/")}/v1/{s.get("mount", "transit")}/{path}', body, headers)['data']


def b64(data):
    return base64.b64encode(data).decode()


def describe(s):
    return f'{s["key"]} version {ask(s, "keys/" + s["key"])["latest_version"]}'


def wrap(s, key, secret, context):
    return ask(s, 'encrypt/' + key.split()[0], {'plaintext': b64(secret), 'associated_data': b64(context.encode())})['ciphertext'].encode()


def unwrap(s, key, blob, context):
    answer = ask(s, 'decrypt/' + key.split()[0], {'ciphertext': blob.decode(), 'associated_data': b64(context.encode())})
    return base64.b64decode(answer['plaintext'], validate=True)
