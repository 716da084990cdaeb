"""Settings of Django's own test suite: both databases on the server of the environment, plain or, with ENCRYPTED, encrypted."""
import os

engine = "encrypted_backend" if os.environ.get("ENCRYPTED") else "django.db.backends.postgresql"
DATABASES = {
    alias: {
        "ENGINE": engine,
        "HOST": os.environ["PGHOST"],
        "USER": os.environ["PGUSER"],
        "NAME": f"{os.environ['PGDATABASE']}_{alias}",
        "TEST": {"TEMPLATE": os.environ["PGDATABASE"]},
    }
    for alias in ("default", "other")
}
TEST_RUNNER = "django_runner.RecordingRunner"
SECRET_KEY = "tests"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
