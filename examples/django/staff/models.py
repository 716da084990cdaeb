from django.db import models


class EncryptedTextField(models.TextField):
    def db_type(self, connection):
        return "encrypted_text(nosalt)"


class EncryptedDecimalField(models.DecimalField):
    def db_type(self, connection):
        return f"encrypted_numeric({self.max_digits},{self.decimal_places})"


class Employee(models.Model):
    name = models.TextField()
    card = EncryptedTextField(unique=True)
    salary = EncryptedDecimalField(max_digits=10, decimal_places=2)
