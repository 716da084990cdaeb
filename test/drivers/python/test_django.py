"""Django's ORM: a model whose columns were encrypted, with the indexes that Django makes, answers as one with plain columns does."""
import datetime
import io
import os
import re
from decimal import Decimal
from uuid import UUID

import django
from django.conf import settings

from tap import TRANSPARENT, Tap

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}}, USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField",
                   INSTALLED_APPS=["django.contrib.postgres"])
django.setup()

from django.contrib.postgres.aggregates import ArrayAgg  # noqa: E402 (Django is set up first)
from django.contrib.postgres.expressions import ArraySubquery  # noqa: E402
from django.contrib.postgres.indexes import GinIndex, OpClass  # noqa: E402
from django.contrib.postgres.search import SearchQuery, SearchVector, TrigramSimilarity  # noqa: E402
from django.core.exceptions import ValidationError  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, models, transaction  # noqa: E402
from django.db.models import Avg, Case, Count, Exists, F, Max, Min, OuterRef, Q, StdDev, Subquery, Sum, Value, When, Window  # noqa: E402
from django.db.models import functions as fn  # noqa: E402
from django.db.models.fields.json import KeyTextTransform  # noqa: E402

tap = Tap("django")
DAY = datetime.timedelta(days=1)
FIELDS = {
    "name": (models.CharField, {"max_length": 40, "db_index": True}),
    "slug": (models.SlugField, {"unique": True}),
    "note": (models.TextField, {}),
    "number": (models.IntegerField, {"db_index": True}),
    "big": (models.BigIntegerField, {}),
    "price": (models.DecimalField, {"max_digits": 10, "decimal_places": 2}),
    "ratio": (models.FloatField, {}),
    "active": (models.BooleanField, {}),
    "born": (models.DateField, {}),
    "at": (models.TimeField, {}),
    "seen": (models.DateTimeField, {}),
    "took": (models.DurationField, {}),
    "data": (models.BinaryField, {}),
    "key": (models.UUIDField, {"unique": True}),
    "doc": (models.JSONField, {}),
    "address": (models.GenericIPAddressField, {}),
}
NUMBERS = ["number", "big", "price", "ratio"]
STRINGS = ["name", "slug", "note"]


def model(name):
    meta = type("Meta", (), {"app_label": "shop", "db_table": f"django_{name}"})
    fields = {field: kind(null=True, **options) for field, (kind, options) in FIELDS.items()}
    return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, "n": models.IntegerField(unique=True), **fields})


PLAIN, ENCRYPTED = model("plain"), model("enc")


def row(k):
    """The fields of row k."""
    return {
        "name": ("Anna", "bob", "Änne", "anna%", "O'Neil", "_x")[k % 6], "slug": f"slug-{k}", "note": f"text {k}", "number": k - 5,
        "big": k * 10**10, "price": k * Decimal("1.25"), "ratio": k / 4, "active": k % 2 == 0, "born": datetime.date(2024, 1, 1) + 40 * k * DAY,
        "at": datetime.time(k, 30, 5), "seen": datetime.datetime(2024, 1, 1, 5, 6, 7, tzinfo=datetime.timezone.utc) + 40 * k * DAY,
        "took": datetime.timedelta(hours=7 * k), "data": bytes([k, 255 - k]), "key": UUID(int=k), "address": f"10.0.0.{k}",
        "doc": {"a": k, "b": [1, {"c": f"x{k}"}], "n": None} if k % 3 else [k, "z"],
    }


def fill(table):
    with connection.schema_editor() as editor:
        editor.create_model(table)
    table.objects.bulk_create(table(n=k, **row(k)) for k in range(11))
    table.objects.create(n=11)


def both(kind, what, function):
    def of(table):
        with transaction.atomic():
            return function(table.objects.order_by("n"))
    tap.same(kind, what, lambda: of(ENCRYPTED), lambda: of(PLAIN))


def found(**condition):
    """Which rows a filter finds."""
    both("where", str(condition), lambda rows: list(rows.filter(**condition).values_list("n", flat=True)))


def computed(**expressions):
    both("select", str(expressions), lambda rows: list(rows.annotate(**expressions).values_list("n", *expressions)))


def filters():
    for field in FIELDS:
        value = row(4)[field]
        found(**{field: value})
        found(**{f"{field}__in": [value, row(5)[field]]})
        found(**{f"{field}__isnull": True})
        if field not in ("active", "data", "doc"):
            found(**{f"{field}__gt": value})
            found(**{f"{field}__range": (value, row(6)[field])})
    for lookup in ("iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "regex", "iregex"):
        for field in (*STRINGS, "number", "price", "born", "key"):
            found(**{f"{field}__{lookup}": "an"})
            found(**{f"{field}__{lookup}": "4"})
    for part, value in {"year": 2024, "month": 3, "week_day": 2, "quarter__gt": 2}.items():
        found(**{f"born__{part}": value})
        found(**{f"seen__{part}": value})
    found(seen__date__gte=datetime.date(2024, 5, 1))
    found(at__hour=4)
    for key, value in {"a": 4, "b__1__c": "x4", "n": None, "0": 3, "a__gt": 2, "contains": {"a": 4}, "has_key": "a", "b__1__c__icontains": "X"}.items():
        found(**{f"doc__{key}": value})
    found(price__gt=F("number"))
    found(seen__lt=fn.Now() - F("took"))
    found(name__contains=F("slug"))
    both("where", "Q", lambda rows: list(rows.filter(Q(name="bob") | Q(number__gt=2) & ~Q(active=True)).values_list("n", flat=True)))


def expressions():
    text = models.TextField()
    for field in FIELDS:
        computed(x=F(field), c=fn.Coalesce(field, field), w=Window(fn.Lag(field), order_by="n"))
        computed(x=Case(When(n__lt=3, then=F(field)), default=None), t=fn.Cast(field, text))
        both("select", f"order by {field}", lambda rows: list(rows.order_by(field, "n").values_list("n", field)))
        both("select", f"group by {field}", lambda rows: sorted(map(str, rows.order_by().values_list(field).annotate(Count("n")))))
        both("select", f"subqueries of {field}", lambda rows: (
            list(rows.filter(**{f"{field}__in": rows.filter(n__lt=4).order_by().values(field)}).values_list("n", flat=True)),
            list(rows.filter(Exists(rows.filter(**{field: OuterRef(field)}, n__gte=OuterRef("n")))).values_list("n", flat=True)),
            list(rows.annotate(x=Subquery(rows.filter(n=OuterRef("n")).values(field))).values_list("x"))))
        if field not in ("data", "doc", "active", "key"):
            both("select", f"min and max of {field}", lambda rows: rows.aggregate(Min(field), Max(field), Count(field, distinct=True)))
    for field in NUMBERS:
        zero = {"price": Decimal(0), "ratio": 0.0}.get(field, 0)
        both("select", f"aggregates of {field}", lambda rows: rows.aggregate(Sum(field), Avg(field), StdDev(field), x=Sum(field, filter=Q(active=True))))
        computed(x=F(field) + 1, y=F(field) * 2, c=fn.Coalesce(field, zero), m=fn.Mod(field, 3), p=fn.Power(field, 2))
        computed(a=fn.Abs(field), f=fn.Floor(field), s=fn.Sqrt(fn.Abs(field)), g=fn.Greatest(field, field))
        computed(x=Case(When(**{f"{field}__gt": 2}, then=Value(1)), default=Value(0)), w=Window(Sum(field), order_by="n"))
    for field in STRINGS:
        computed(u=fn.Upper(field), l=fn.Length(field), t=fn.Trim(field), h=fn.MD5(field), c=fn.Coalesce(field, Value("none"), output_field=text))
        computed(c=fn.Concat(field, Value("-"), field, output_field=text), s=fn.Substr(field, 2, 3), i=fn.StrIndex(field, Value("n")))
        computed(r=fn.Replace(field, Value("n"), Value("m"), output_field=text))
        both("select", f"order by lower({field})", lambda rows: list(rows.order_by(fn.Lower(field), "n").values_list("n")))
    for field in ("born", "seen"):
        computed(x=fn.Trunc(field, "month"), y=fn.ExtractYear(field), d=models.ExpressionWrapper(F(field) - F(field), output_field=models.DurationField()))
        both("select", f"latest {field}", lambda rows: rows.exclude(**{field: None}).latest(field).n)
    computed(d=fn.TruncDate("seen"), x=F("seen") + F("took"))
    computed(x=fn.JSONObject(number="number", name="name", born="born"))


def writes():
    def updated(rows, **values):
        return rows.filter(n__lt=3).update(**values), list(rows.values_list("n", *values))

    for field in FIELDS:
        unique = FIELDS[field][1].get("unique")
        both("write", f"update {field}", lambda rows: updated(rows, **{field: None if unique else row(7)[field]}))
    for field in NUMBERS:
        both("write", f"update {field} by an expression", lambda rows: updated(rows, **{field: F(field) + 1}))
    both("write", "get_or_create", lambda rows: rows.get_or_create(slug="new", defaults={"n": 20, "price": Decimal("1.5")})[1])
    both("write", "update_or_create", lambda rows: rows.update_or_create(slug="new", defaults={"note": "changed"})[1])

    def upsert(rows):
        new = [rows.model(n=21, slug="new", note="twice"), rows.model(n=22, slug="other", key=UUID(int=99))]
        rows.bulk_create(new[:1], ignore_conflicts=True)
        rows.bulk_create(new, update_conflicts=True, unique_fields=["slug"], update_fields=["note"])
        return list(rows.values_list("n", "slug", "note", "key"))

    def bulk_update(rows):
        changed = list(rows.filter(n__gt=5, n__lt=11))
        for one in changed:
            for field, value in row(one.n - 4).items():
                setattr(one, field, f"{value}-" if field == "slug" else UUID(int=one.n + 50) if field == "key" else value)
        rows.bulk_update(changed, list(FIELDS))
        return [tuple(map(str, values)) for values in rows.values_list(*FIELDS)]

    both("write", "ON CONFLICT", upsert)
    both("write", "bulk_update", bulk_update)
    both("write", "delete", lambda rows: (rows.filter(name__startswith="A").delete()[0], list(rows.values_list("n", flat=True))))
    both("cursor", "iterator", lambda rows: [one.name for one in rows.iterator(chunk_size=2)])
    # outside of a transaction, where Django's cursor is WITH HOLD
    held = [lambda table=table: [[getattr(one, field) for field in FIELDS] for one in table.objects.order_by("n").iterator(chunk_size=2)]
            for table in (ENCRYPTED, PLAIN)]
    tap.same("cursor", "iterator, held", *held)


def inspected(table):
    """The fields that inspectdb writes, in the order of the columns' names."""
    output = io.StringIO()
    call_command("inspectdb", table, stdout=output)
    fields = re.findall(r"^    (\w+ = models.*)$", output.getvalue(), re.M)
    assert len(fields) == len(FIELDS) + 1    # with n; Django adds id itself
    return sorted(fields)


def longer(table):
    """A migration that knows nothing of encryption."""
    field = models.CharField(max_length=60, db_index=True, null=True)
    field.set_attributes_from_name("name")
    with connection.schema_editor() as editor:
        editor.alter_field(table, table._meta.get_field("name"), field)


def index(table):
    """Indexes over expressions and with conditions, as models declare them, in a migration that knows nothing of encryption."""
    name = table._meta.db_table
    with connection.schema_editor() as editor:
        for declared in (
                models.UniqueConstraint(fn.Lower("slug"), name=f"{name}_slug"), models.UniqueConstraint(fn.Upper("name"), "n", name=f"{name}_pair"),
                models.UniqueConstraint(fields=["n"], condition=Q(active=True), name=f"{name}_active")):
            editor.add_constraint(table, declared)
        for declared in (
                models.Index(fn.Lower("name"), name=f"{name}_lower"), models.Index(fn.Length("note"), name=f"{name}_length"),
                models.Index(F("number") + 1, name=f"{name}_next"), models.Index(KeyTextTransform("a", "doc"), name=f"{name}_doc"),
                models.Index(fields=["n"], condition=Q(name__startswith="A") & ~Q(active=False), name=f"{name}_some")):
            editor.add_index(table, declared)


def refused(write):
    """The name of the error."""
    try:
        with transaction.atomic():
            write()
    except (IntegrityError, ValidationError) as error:
        return type(error).__name__
    return "accepted"


def indexed():
    for lookup in ({"name__iexact": "ANNA"}, {"slug__iexact": "SLUG-3"}, {"doc__a": 4}, {"born__year": 2024}, {"active": True}, {"name__startswith": "A"}):
        found(**lookup)
    both("where", "lower()", lambda rows: list(rows.annotate(x=fn.Lower("name")).filter(x__in=["anna", "bob"]).values_list("n", flat=True)))
    both("write", "UNIQUE (lower(slug))", lambda rows: refused(lambda: rows.create(n=100, slug="SLUG-3")))
    both("write", "validate()", lambda rows: refused(lambda: rows.model(n=101, slug="SLUG-3").validate_constraints()))
    both("array", "ArrayAgg", lambda rows: rows.aggregate(x=ArrayAgg("number", ordering="n"), y=ArrayAgg("born", ordering="n"), z=ArrayAgg("name", distinct=True)))
    both("array", "ArraySubquery", lambda rows: list(rows.annotate(x=ArraySubquery(rows.filter(n__lte=OuterRef("n")).values("price"))).values_list("x")))


def search_index(table):
    """Gin indexes, as Django's documentation has them."""
    name = table._meta.db_table
    with connection.schema_editor() as editor:
        for declared in (
                GinIndex(fields=["doc"], name=f"{name}_document"), GinIndex(fields=["note"], opclasses=["gin_trgm_ops"], name=f"{name}_part"),
                GinIndex(OpClass(fn.Upper("name"), name="gin_trgm_ops"), name=f"{name}_upper"),
                GinIndex(SearchVector("note", config="english"), name=f"{name}_words")):
            editor.add_index(table, declared)


def searched():
    """Searches find the same rows, by the index of that name."""
    def plan(rows):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
        return re.findall(r"Bitmap Index Scan on django_[a-z]+_(\w+)", rows.order_by().explain())

    def search(index, what, narrow):
        both("search", what, lambda rows: list(narrow(rows).values_list("n", flat=True)))
        for table in (ENCRYPTED, PLAIN):
            with transaction.atomic():
                tap.same("search", f"{what}: index of {table.__name__}", lambda: plan(narrow(table.objects)), lambda: [index])

    search("upper", "icontains", lambda rows: rows.filter(name__icontains="nna"))
    search("part", "contains", lambda rows: rows.filter(note__contains="ext 4"))
    search("part", "regex", lambda rows: rows.filter(note__regex="text [45]"))
    search("part", "trigram_similar", lambda rows: rows.filter(note__trigram_similar="text 4"))
    search("document", "JSON contains", lambda rows: rows.filter(doc__contains={"a": 4}))
    search("document", "JSON has_key", lambda rows: rows.filter(doc__has_key="b"))
    search("words", "SearchVector", lambda rows: rows.annotate(words=SearchVector("note", config="english")).filter(words=SearchQuery("texts & 4", config="english", search_type="raw")))
    both("search", "TrigramSimilarity", lambda rows: list(rows.annotate(x=TrigramSimilarity("note", "text 4")).filter(x__gt=0.5).values_list("n", "x")))


def referring(name, target):
    """A table that a later migration makes, with a foreign key to one whose key is encrypted."""
    meta = type("Meta", (), {"app_label": "shop", "db_table": f"django_{name}"})
    return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, "of": models.ForeignKey(target, models.CASCADE, to_field="slug", null=True)})


for each in (PLAIN, ENCRYPTED):
    fill(each)
with connection.cursor() as cursor:
    for column in FIELDS:
        cursor.execute(f"CALL tde_encrypt_column('django_enc', '{column}')")
filters()
if TRANSPARENT:
    expressions()
    writes()
    tap.same("metadata", "inspectdb", *(lambda name=name: inspected(f"django_{name}") for name in ("enc", "plain")))
for each in (PLAIN, ENCRYPTED):
    longer(each)
with connection.cursor() as cursor:
    cursor.execute("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'django_enc'::regclass AND attname = 'name'")
    tap.same("metadata", "after a migration", lambda: cursor.fetchone()[0], lambda: "encrypted_varchar(60,aes256,salt,gcm)")
both("where", "after a migration", lambda rows: list(rows.filter(name__startswith="A").values_list("name")))
if TRANSPARENT:
    for each in (PLAIN, ENCRYPTED):
        index(each)
        search_index(each)
    indexed()
    searched()
REFERRING = [referring(f"to_{each._meta.db_table}", each) for each in (PLAIN, ENCRYPTED)]
for each, target in zip(REFERRING, (PLAIN, ENCRYPTED)):
    with connection.schema_editor() as editor:
        editor.create_model(each)
    each.objects.create(of=target.objects.get(n=3))
with connection.cursor() as cursor:
    cursor.execute("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'django_to_django_enc'::regclass AND attname = 'of_id'")
    tap.same("metadata", "a foreign key", lambda: cursor.fetchone()[0], lambda: "encrypted_varchar(50,aes256,salt,gcm)")
tap.same("write", "a related row", *(lambda each=each: list(each.objects.filter(of__n=3).values_list("of__slug")) for each in reversed(REFERRING)))
with connection.schema_editor() as last:
    for each in (*REFERRING, PLAIN, ENCRYPTED):
        last.delete_model(each)
connection.close()
tap.end()
