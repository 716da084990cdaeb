"""pkcs11 - an RSA key pair in an HSM or token, by its PKCS#11 library, which this calls itself: no program sees the PIN.

[pkcs11]
module = /usr/lib/softhsm/libsofthsm2.so
token = NAME                 the token's label
key = tde_column             the label of both keys
pin_file = /etc/tde_column/pin        0600; or the name of a credential of the server's unit in systemd
hash = sha256                of OAEP; SoftHSM2 has sha1 alone
"""

import ctypes
import hashlib
from ctypes import POINTER, byref, c_ulong, c_void_p

from custody.failure import CONFIG, DATA, UNAVAILABLE, Failure

OAEP = {'sha1': (0x220, 1), 'sha256': (0x250, 2)}
REFUSALS = {0x60: 'KEY_HANDLE_INVALID', 0x68: 'KEY_FUNCTION_NOT_PERMITTED', 0xA0: 'PIN_INCORRECT', 0xA1: 'PIN_INVALID', 0xA3: 'PIN_EXPIRED',
            0xA4: 'PIN_LOCKED', 0x40: 'ENCRYPTED_DATA_INVALID', 0x41: 'ENCRYPTED_DATA_LEN_RANGE', 0x70: 'MECHANISM_INVALID', 0x71: 'MECHANISM_PARAM_INVALID'}


class Attribute(ctypes.Structure):
    _fields_ = [('type', c_ulong), ('value', c_void_p), ('size', c_ulong)]


class Parameters(ctypes.Structure):
    _fields_ = [('hash', c_ulong), ('mgf', c_ulong), ('source', c_ulong), ('data', c_void_p), ('size', c_ulong)]


class Mechanism(ctypes.Structure):
    _fields_ = [('mechanism', c_ulong), ('parameters', c_void_p), ('size', c_ulong)]


class Token:
    """A session, logged in."""

    def __init__(self, s):
        self.s = s
        try:
            self.module = ctypes.CDLL(s['module'])
        except OSError as e:
            raise Failure(CONFIG, f'could not load the PKCS#11 library: {e}') from None
        self('C_Initialize', None)
        self.session = c_ulong()
        self('C_OpenSession', self.slot(), c_ulong(4), None, None, byref(self.session))
        pin = s.secret_file('pin_file')
        self('C_Login', self.session, c_ulong(1), pin, c_ulong(len(pin)))

    def __call__(self, function, *arguments):
        rv = getattr(self.module, function)(*arguments)
        if rv in REFUSALS:
            self.s.refuse(f'{function}: CKR_{REFUSALS[rv]}')
        if rv != 0:
            raise Failure(UNAVAILABLE, f'{function} failed: PKCS#11 error {rv:#x}')

    def slot(self):
        count = c_ulong(0)
        self('C_GetSlotList', ctypes.c_ubyte(1), None, byref(count))
        slots = (c_ulong * count.value)()
        self('C_GetSlotList', ctypes.c_ubyte(1), slots, byref(count))
        for slot in slots[:count.value]:
            info = ctypes.create_string_buffer(512)     # it begins with the label, of 32 bytes
            self('C_GetTokenInfo', c_ulong(slot), info)
            if info.raw[:32].decode('utf-8', 'replace').rstrip(' \0') == self.s['token']:
                return c_ulong(slot)
        raise Failure(UNAVAILABLE, f'no slot has the token "{self.s["token"]}"')

    def modulus(self, handle):
        buffer = ctypes.create_string_buffer(2048)
        attribute = Attribute(0x120, ctypes.cast(buffer, c_void_p), len(buffer))
        self('C_GetAttributeValue', self.session, c_ulong(handle), byref(attribute), c_ulong(1))
        return buffer.raw[:attribute.size]

    def keys(self, kind, label):
        """Of this class and label: handles by the hash of the key."""
        values = c_ulong(kind), ctypes.create_string_buffer(label.encode(), len(label.encode()))
        template = (Attribute * 2)(*(Attribute(t, ctypes.cast(POINTER(type(v))(v), c_void_p), ctypes.sizeof(v)) for t, v in zip((0, 3), values)))
        found, count = (c_ulong * 64)(), c_ulong()
        self('C_FindObjectsInit', self.session, template, c_ulong(2))
        self('C_FindObjects', self.session, found, c_ulong(64), byref(count))
        self('C_FindObjectsFinal', self.session)
        handles = {hashlib.sha256(self.modulus(handle)).hexdigest()[:32]: handle for handle in found[:count.value]}
        if not handles:
            self.s.refuse(f'token "{self.s["token"]}" has no key "{label}"')
        return handles

    def compute(self, start, function, handle, data):
        digest, mgf = OAEP[self.s.get('hash', 'sha256')]
        parameters = Parameters(digest, mgf, 1, None, 0)
        mechanism = Mechanism(9, ctypes.cast(POINTER(Parameters)(parameters), c_void_p), ctypes.sizeof(parameters))
        result, size = ctypes.create_string_buffer(2048), c_ulong(2048)
        self(start, self.session, byref(mechanism), c_ulong(handle))
        self(function, self.session, data, c_ulong(len(data)), result, byref(size))
        return result.raw[:size.value]


def describe(s):
    return f'{s["key"]} sha256 {next(iter(Token(s).keys(2, s["key"])))}'


def handle_of(token, kind, key):
    label, _, fingerprint = key.rsplit(' ', 2)
    handles = token.keys(kind, label)
    if fingerprint not in handles:
        raise Failure(DATA, f'key "{label}" of token "{token.s["token"]}" is another one: sha256 {", ".join(handles)}')
    return handles[fingerprint]


def wrap(s, key, secret, context):
    token = Token(s)
    return token.compute('C_EncryptInit', 'C_Encrypt', handle_of(token, 2, key), secret)


def unwrap(s, key, blob, context):
    token = Token(s)
    return token.compute('C_DecryptInit', 'C_Decrypt', handle_of(token, 3, key), blob)
