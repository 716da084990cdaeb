"""cloud.py PORT STATE-FILE - replays the documented exchanges of Google Cloud KMS, Azure Key Vault and Vault's transit engine, metadata included.

It is strict about what clients must send, and answers as the references show.  It encrypts nothing: a ciphertext is a random name.
The state file is JSON: {"versions": N, "disabled": bool, "epoch": N}; another epoch is another key of the same name.
"""

import base64
import http.server
import json
import re
import secrets
import sys
import urllib.parse

port, state_file = int(sys.argv[1]), sys.argv[2]
kept = {}       # by ciphertext: version, plaintext, context, epoch


def state():
    with open(state_file, encoding='ascii') as file:
        return json.load(file)


class Refused(Exception):
    pass


def put(version, plaintext, context):
    name = secrets.token_bytes(48)
    kept[name] = (version, plaintext, context, state()['epoch'])
    return name


def take(name, context, version=None):
    found = kept.get(name)
    if found is None or found[2] != context or found[3] != state()['epoch'] or version not in (None, found[0]):
        raise Refused(400, 'INVALID_ARGUMENT', 'Decryption failed: verify that \'name\' refers to the correct CryptoKey.')
    return found[1]


def b64(data):
    return base64.b64encode(data).decode()


def unb64(text):
    return base64.b64decode(text, validate=True)


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def unb64url(text):
    if not re.fullmatch('[A-Za-z0-9_-]+', text):
        raise Refused(400, 'BadParameter', 'Property value has invalid value')
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


# https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys
def gcp(path, body):
    key = 'projects/p/locations/l/keyRings/r/cryptoKeys/tde_column'
    now = state()
    primary = f'{key}/cryptoKeyVersions/{now["versions"]}'
    if path == f'/v1/{key}' and body is None:
        return {'name': key, 'primary': {'name': primary, 'state': 'DISABLED' if now['disabled'] else 'ENABLED'}, 'purpose': 'ENCRYPT_DECRYPT'}
    if now['disabled']:
        raise Refused(400, 'FAILED_PRECONDITION', f'{primary} is not enabled, current state is: DISABLED.')
    if path == f'/v1/{key}:encrypt' and set(body) == {'plaintext', 'additionalAuthenticatedData'}:
        return {'name': primary, 'ciphertext': b64(put(now['versions'], unb64(body['plaintext']), unb64(body['additionalAuthenticatedData']))),
                'ciphertextCrc32c': '1', 'protectionLevel': 'HSM'}
    if path == f'/v1/{key}:decrypt' and set(body) == {'ciphertext', 'additionalAuthenticatedData'}:
        return {'plaintext': b64(take(unb64(body['ciphertext']), unb64(body['additionalAuthenticatedData']))), 'plaintextCrc32c': '1', 'usedPrimary': True}
    raise Refused(404, 'NOT_FOUND', f'CryptoKey {path} not found.')


# https://learn.microsoft.com/rest/api/keyvault/keys
def azure(path, body, base):
    now = state()
    found = re.fullmatch(r'/keys/tde-column(?:/([0-9a-f]{32})/(wrapkey|unwrapkey))?', path)
    if not found:
        raise Refused(404, 'KeyNotFound', 'A key with (name/id) was not found in this key vault.')
    version = f'{now["epoch"]:016x}{now["versions"]:016x}'
    if body is None:
        return {'key': {'kid': f'{base}/keys/tde-column/{version}', 'kty': 'RSA-HSM', 'key_ops': ['wrapKey', 'unwrapKey']}, 'attributes': {'enabled': True}}
    if now['disabled']:
        raise Refused(403, 'Forbidden', 'Operation unwrapKey is not allowed on a disabled key.')
    if set(body) != {'alg', 'value'} or body['alg'] != 'RSA-OAEP-256':
        raise Refused(400, 'BadParameter', 'Property alg has invalid value')
    kid = f'{base}/keys/tde-column/{found[1]}'
    if found[2] == 'wrapkey':
        return {'kid': kid, 'value': b64url(put(found[1], unb64url(body['value']), b''))}
    return {'kid': kid, 'value': b64url(take(unb64url(body['value']), b'', found[1]))}


# https://openbao.org/api-docs/secret/transit/
def vault(path, body):
    now = state()
    if now['disabled']:
        raise Refused(403, 'vault', 'permission denied')
    if path == '/v1/transit/keys/tde_column' and body is None:
        return {'data': {'name': 'tde_column', 'type': 'aes256-gcm96', 'latest_version': now['versions'], 'min_decryption_version': 1}}
    if path == '/v1/transit/encrypt/tde_column':
        return {'data': {'ciphertext': f'vault:v{now["versions"]}:' + b64(put(now['versions'], unb64(body['plaintext']), unb64(body['associated_data']))),
                         'key_version': now['versions']}}
    if path == '/v1/transit/decrypt/tde_column':
        if not body['ciphertext'].startswith('vault:v'):
            raise Refused(400, 'vault', 'invalid ciphertext: no prefix')
        try:
            return {'data': {'plaintext': b64(take(unb64(body['ciphertext'].split(':')[2]), unb64(body['associated_data'])))}}
        except Refused:
            raise Refused(400, 'vault', 'cipher: message authentication failed') from None
    raise Refused(404, 'vault', 'no handler for route')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self, body):
        path, _, query = self.path.partition('?')
        query = dict(urllib.parse.parse_qsl(query))
        base = f'http://{self.headers["Host"]}'
        if path.endswith('/service-accounts/default/token'):
            return {'access_token': 'gcp-token', 'expires_in': 3599, 'token_type': 'Bearer'} if self.headers['Metadata-Flavor'] == 'Google' else self.no(403)
        if path == '/metadata/identity/oauth2/token':
            good = self.headers['Metadata'] == 'true' and query == {'api-version': '2018-02-01', 'resource': 'https://vault.azure.net'}
            return {'access_token': 'azure-token', 'expires_in': '86399', 'token_type': 'Bearer'} if good else self.no(400)
        if self.headers['X-Vault-Token'] == 'vault-token' and self.headers['X-Vault-Request'] == 'true':
            return vault(path, body)
        if self.headers['Authorization'] == 'Bearer gcp-token':
            return gcp(path, body)
        if self.headers['Authorization'] == 'Bearer azure-token' and query == {'api-version': '7.4'}:
            return azure(path, body, base)
        return self.no(401)

    @staticmethod
    def no(code):
        raise Refused(code, 'Unauthorized', 'Request is missing a valid token.')

    def do(self, body):
        try:
            code, answer = 200, self.answer(body)
        except Refused as e:
            code, kind, message = e.args
            answer = {'errors': [message]} if kind == 'vault' else {'error': {'code': code, 'status': kind, 'message': message}}
        text = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.do(None)

    def do_POST(self):
        self.do(json.loads(self.rfile.read(int(self.headers['Content-Length']))))


http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
