"""Django's PostgreSQL backend, but for new columns: they are encrypted.  All other statements are the stock backend's."""
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor

from encrypted_types import encrypted


class EncryptingSchemaEditor(DatabaseSchemaEditor):
    def _iter_column_sql(self, column_db_type, params, model, field, *rest):
        plain = field.db_type_suffix(connection=self.connection) or field.generated
        declared = column_db_type if plain else encrypted(column_db_type) or column_db_type
        yield from super()._iter_column_sql(declared, params, model, field, *rest)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = EncryptingSchemaEditor
