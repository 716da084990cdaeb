import os

DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}}   # PGHOST and its like say where
INSTALLED_APPS = ["staff"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
