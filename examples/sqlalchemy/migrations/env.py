from alembic import context
from sqlalchemy import create_engine

from models import URL, Base

with create_engine(URL).connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        context.run_migrations()
