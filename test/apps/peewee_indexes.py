"""Before peewee's tests on encrypted columns: no gin index for each BinaryJSONField, as docs/orms.md tells users of peewee."""
import os

from playhouse.postgres_ext import BinaryJSONField, IndexedFieldMixin


def without_index(self, *args, **kwargs):
    kwargs.setdefault("index", False)
    IndexedFieldMixin.__init__(self, *args, **kwargs)


if os.environ.get("ENCRYPTED"):
    BinaryJSONField.__init__ = without_index
