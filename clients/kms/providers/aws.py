"""aws - AWS KMS, by the program aws.  The identity of the instance is enough; the role needs kms:Encrypt, Decrypt and DescribeKey.

[aws]
key = alias/tde_column       or an ARN
AWS_DEFAULT_REGION = eu-central-1    and whatever else the program reads from its environment
"""

import base64
import os

REFUSED = 'AccessDenied|not authorized|DisabledException|IncorrectKeyException|InvalidCiphertextException|KMSInvalidStateException|NotFoundException|' \
    'UnrecognizedClientException|ExpiredTokenException|InvalidClientTokenId'

STDIN = 'fileb:///dev/stdin'


def kms(s, operation, *arguments, query, data=b''):
    os.environ['AWS_PAGER'] = ''
    return s.run('aws', 'kms', operation, *arguments, '--query', query, '--output', 'text', data=data).strip()


def describe(s):
    return kms(s, 'describe-key', '--key-id', s['key'], query='KeyMetadata.Arn')


def wrap(s, key, secret, context):
    return base64.b64decode(kms(s, 'encrypt', '--key-id', key, '--plaintext', STDIN, '--encryption-context', f'tde_column={context}',
                                query='CiphertextBlob', data=secret), validate=True)


def unwrap(s, key, blob, context):
    return base64.b64decode(kms(s, 'decrypt', '--key-id', key, '--ciphertext-blob', STDIN, '--encryption-context', f'tde_column={context}',
                                query='Plaintext', data=blob), validate=True)
