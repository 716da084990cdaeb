"""kmip - a key manager that speaks KMIP (1.2), over TLS with a certificate for each side.  The key is an active AES key that encrypts and decrypts.

[kmip]
host = kmip.example.com
port = 5696
key = tde_column             its name
certificate = /etc/tde_column/kmip.crt
private_key = /etc/tde_column/kmip.key
ca = /etc/tde_column/ca.pem
"""

import secrets
import socket
import ssl

from custody.failure import DATA, UNAVAILABLE, Failure, one_line

LOCATE, ENCRYPT, DECRYPT = 8, 0x1f, 0x20
AES_CBC_PKCS5 = [(0x420011, 5, 1), (0x42005F, 5, 3), (0x420028, 5, 3)]     # our MAC authenticates


def encode(item):
    """(tag, type, value) as KMIP has it: structures (1), integers (2, 5), texts (7) and bytes (8), filled up to eight bytes."""
    tag, kind, value = item
    value = b''.join(map(encode, value)) if kind == 1 else value.to_bytes(4, 'big') if kind in (2, 5) else value.encode() if kind == 7 else value
    return tag.to_bytes(3, 'big') + bytes([kind]) + len(value).to_bytes(4, 'big') + value + bytes(-len(value) % 8)


def decode(data):
    """The values of all tags, in order; structures are entered."""
    found, at = [], 0
    while at < len(data):
        tag, kind, size = int.from_bytes(data[at:at + 3], 'big'), data[at + 3], int.from_bytes(data[at + 4:at + 8], 'big')
        value = data[at + 8:at + 8 + size]
        if len(value) < size:
            raise ValueError
        found += decode(value) if kind == 1 else [(tag, int.from_bytes(value, 'big') if kind in (2, 5) else value.decode() if kind == 7 else value)]
        at += 8 + size + -size % 8
    return found


def exchange(s, request):
    context = ssl.create_default_context(cafile=s['ca'])
    s.secret_file('private_key')        # is it safe?
    context.load_cert_chain(s['certificate'], s['private_key'])
    try:
        with socket.create_connection((s['host'], int(s.get('port', '5696')))) as plain, context.wrap_socket(plain, server_hostname=s['host']) as tls:
            tls.sendall(request)
            with tls.makefile('rb') as answers:
                head = answers.read(8)
                size = int.from_bytes(head[4:8], 'big')
                return decode(answers.read(size)) if head[:4] == b'\x42\x00\x7b\x01' and size < 65536 else [(0, 0)]
    except OSError as e:
        raise Failure(UNAVAILABLE, one_line(f'{s["host"]}: {e}')) from None


def ask(s, operation, payload):
    request = (0x420078, 1, [(0x420077, 1, [(0x420069, 1, [(0x42006A, 2, 1), (0x42006B, 2, 2)]), (0x42000D, 2, 1)]),
                             (0x42000F, 1, [(0x42005C, 5, operation), (0x420079, 1, payload)])])
    answer = exchange(s, encode(request))
    values = dict(reversed(answer))
    if 0x42007F not in values:
        raise Failure(DATA, f'{s["host"]} answered something else than KMIP')
    if values[0x42007F] != 0:
        s.refuse(f'{s["host"]}: {values.get(0x42007D, "no reason given")}')
    return values


def describe(s):
    name = (0x420008, 1, [(0x42000A, 7, 'Name'), (0x42000B, 1, [(0x420055, 7, s['key']), (0x420054, 5, 1)])])
    found = ask(s, LOCATE, [name])
    if 0x420094 not in found:
        s.refuse(f'{s["host"]} has no key named {s["key"]}')
    return f'{s["key"]} id {found[0x420094]}'


def wrap(s, key, secret, context):
    iv = secrets.token_bytes(16)
    payload = [(0x420094, 7, key.split()[-1]), (0x42002B, 1, AES_CBC_PKCS5), (0x4200C2, 8, secret), (0x42003D, 8, iv)]
    return iv + ask(s, ENCRYPT, payload)[0x4200C2]


def unwrap(s, key, blob, context):
    payload = [(0x420094, 7, key.split()[-1]), (0x42002B, 1, AES_CBC_PKCS5), (0x4200C2, 8, blob[16:]), (0x42003D, 8, blob[:16])]
    return ask(s, DECRYPT, payload)[0x4200C2]
