"""employee"""
import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import UserDefinedType

revision = "0001"
down_revision = None


class Encrypted(UserDefinedType):
    def __init__(self, declaration):
        self.declaration = declaration

    def get_col_spec(self):
        return f"encrypted_{self.declaration}"


def upgrade():
    op.create_table(
        "employee",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("card", Encrypted("text(nosalt)"), nullable=False),
        sa.Column("salary", Encrypted("numeric(10,2)"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("card"),
    )


def downgrade():
    op.drop_table("employee")
