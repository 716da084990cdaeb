from decimal import Decimal

from sqlalchemy import create_engine, select, update
from sqlalchemy.orm import Session

from models import URL, Employee

with Session(create_engine(URL)) as session:
    session.add_all([
        Employee(name="Ada Lovelace", card="4111111111111111", salary=Decimal("48123.45")),
        Employee(name="Grace Hopper", card="5500000000000004", salary=Decimal("65007.89")),
        Employee(name="Alan Turing", card="340000000000009", salary=Decimal("39000.00")),
    ])
    session.commit()

    grace = session.scalars(select(Employee).where(Employee.card == "5500000000000004")).one()
    print(f"{grace.name} has card {grace.card} and earns {grace.salary}")

    raised = session.execute(update(Employee).where(Employee.salary < 40000).values(salary=Employee.salary + 1000)).rowcount
    names = session.scalars(select(Employee.name).order_by(Employee.salary.desc())).all()
    print(f"{raised} raise: {', '.join(names)}")
    session.commit()
