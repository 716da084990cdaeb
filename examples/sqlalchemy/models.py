from decimal import Decimal

from sqlalchemy import Numeric, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

URL = "postgresql+psycopg://"       # PGHOST and its like say where


class Base(DeclarativeBase):
    pass


class Employee(Base):
    __tablename__ = "employee"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    card: Mapped[str] = mapped_column(Text, unique=True)
    salary: Mapped[Decimal] = mapped_column(Numeric(10, 2))
