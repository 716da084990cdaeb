from decimal import Decimal

from django.core.management.base import BaseCommand
from django.db.models import F

from staff.models import Employee


class Command(BaseCommand):
    def handle(self, **options):
        Employee.objects.bulk_create([
            Employee(name="Ada Lovelace", card="4111111111111111", salary=Decimal("48123.45")),
            Employee(name="Grace Hopper", card="5500000000000004", salary=Decimal("65007.89")),
            Employee(name="Alan Turing", card="340000000000009", salary=Decimal("39000.00")),
        ])
        grace = Employee.objects.get(card="5500000000000004")
        self.stdout.write(f"{grace.name} has card {grace.card} and earns {grace.salary}")

        raised = Employee.objects.filter(salary__lt=40000).update(salary=F("salary") + 1000)
        names = Employee.objects.order_by("-salary").values_list("name", flat=True)
        self.stdout.write(f"{raised} raise: {', '.join(names)}")
