"""How statements are rewritten for pgcrypto's raw AES-256: CBC, a zero IV, no MAC, the key in the statement."""

KEY = "'0123456789abcdef0123456789abcdef'"


def encrypt(value):
    """The expression that is stored for a value."""
    return f"encrypt(({value})::text::bytea, {KEY}, 'aes')"


def decrypt(column, type_name):
    """The expression that reads it."""
    return f"convert_from(decrypt({column}, {KEY}, 'aes'), 'UTF8')::{type_name}"
