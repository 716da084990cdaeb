"""wallet.py - does this passphrase open this wallet file?  Computes the file's MAC, PBMAC1 (RFC 9579), as the server does.

So an envelope is not taken for that of another wallet, and of two envelopes, while the passphrase is changed, the right one is found.
"""

import hashlib
import hmac

MOST_ITERATIONS = 20_000_000    # as the server has it

PBMAC1 = bytes.fromhex('2a864886f70d01050e')
PBKDF2 = bytes.fromhex('2a864886f70d01050c')
HMAC_SHA256 = bytes.fromhex('2a864886f70d0209')


def element(der, at):
    """The content of the DER element that begins there, and where the next one does."""
    length = der[at + 1]
    at += 2
    if length >= 0x80:
        size = length & 0x7f
        if not 1 <= size <= 3:
            raise ValueError
        length = int.from_bytes(der[at:at + size], 'big')
        at += size
    if at + length > len(der):
        raise ValueError
    return der[at:at + length], at + length


def parts(der):
    """The contents of the elements inside of one."""
    found, at = [], 0
    while at < len(der):
        content, at = element(der, at)
        found.append(content)
    return found


def mac_of(der, passphrase):
    """The MAC that the file has, and the one that it should have."""
    _, content, mac_data = parts(element(der, 0)[0])
    content = element(parts(content)[1], 0)[0]
    algorithm, stored = parts(parts(mac_data)[0])
    oid, parameters = parts(algorithm)
    derivation, scheme = parts(parameters)[:2]
    kdf, derived = parts(derivation)
    salt, iterations, *size, prf = parts(derived)
    iterations = int.from_bytes(iterations, 'big')
    if (oid, kdf, parts(scheme)[0], parts(prf)[0]) != (PBMAC1, PBKDF2, HMAC_SHA256, HMAC_SHA256) or iterations > MOST_ITERATIONS:
        raise ValueError
    key = hashlib.pbkdf2_hmac('sha256', passphrase, salt, iterations, int.from_bytes(size[0], 'big') if size else 32)
    return stored, hmac.new(key, content, 'sha256').digest()


def opens(der, passphrase):
    """A file of another form is under no passphrase of ours: earlier versions wrote it, or nobody."""
    try:
        return hmac.compare_digest(*mac_of(der, passphrase))
    except (ValueError, IndexError):
        return False
