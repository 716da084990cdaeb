"""Opens the test vectors of docs/format.md by another library (cryptography, from PyPI) and that page alone: gcm, with salt and without, padded or not."""
import re
import sys
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

DATA_KEY = bytes(range(32))
TYPE_TAG = bytes(range(0xf0, 0x100))
KEY_SIZE = {"aes128": 16, "aes192": 24, "aes256": 32}
VECTOR = re.compile(r"^\| (\w+),(\w+),(\w+),(\w+)(,padded)? \| `([^`]*)` \| `([0-9a-f]+)` \|$", re.M)


def derive(cipher, spec_byte):
    info = b"tde_column/1" + b"enc" + bytes([spec_byte & 0x3f]) + TYPE_TAG
    return HKDF(hashes.SHA256(), KEY_SIZE[cipher], None, info).derive(DATA_KEY)


def open_value(cipher, salt, value):
    spec, body = value[:1], value[2:]       # the key's number is 1
    key = derive(cipher, spec[0])
    if salt == "salt":
        return AESGCM(key).decrypt(body[:12], body[12:], spec)
    return AESGCMSIV(key).decrypt(bytes(12), body, spec)


def unpad(plain):
    plain = plain.rstrip(b"\0")
    assert plain[-1] == 0x80
    return plain[:-1]


def refused(cipher, salt, value):
    try:
        open_value(cipher, salt, value)
    except InvalidTag:
        return True
    return False


def main():
    page = Path(__file__).parents[3] / "docs" / "format.md"
    count = failed = 0
    for cipher, _, salt, mac, padded, plain, value in VECTOR.findall(page.read_text(encoding="utf-8")):
        if mac != "gcm":
            continue
        value = bytes.fromhex(value)
        opened = open_value(cipher, salt, value)
        good = (unpad(opened) if padded else opened) == plain.encode() and refused(cipher, salt, value[:-1] + bytes([value[-1] ^ 1]))
        count += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {count} - values: {cipher},{salt},gcm{padded} of {len(plain)} bytes")
    print(f"1..{count}")
    sys.exit(failed > 0 or count != 24)


main()
