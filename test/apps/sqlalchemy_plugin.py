"""A pytest plugin for SQLAlchemy's suite: with ENCRYPTED, the columns of CREATE TABLE are encrypted; outcomes go to the file OUTCOMES."""
import os

import outcomes
from encrypted_types import encrypted

seen = {}


def encrypt_columns(statement, context):
    """The text of CREATE TABLE with encrypted types.  Columns that number themselves or are generated stay plain."""
    from sqlalchemy.schema import CreateTable

    compiled = context.compiled
    element = compiled.statement if context.isddl and compiled is not None else None
    if not isinstance(element, CreateTable):
        return statement
    for column in element.element.columns:
        if column.computed is not None or column.identity is not None:
            continue
        name = compiled.preparer.format_column(column)
        plain = context.dialect.type_compiler_instance.process(
            column.type, type_expression=column, identifier_preparer=compiled.preparer)
        kind, collate, collation = plain.partition(" COLLATE ")
        declared = encrypted(kind)
        if declared:
            for end in (",", " ", "\n"):
                statement = statement.replace(f"\n\t{name} {plain}{end}", f"\n\t{name} {declared}{collate}{collation}{end}")
    return statement


def pytest_configure(config):
    if not os.environ.get("ENCRYPTED"):
        return
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    @event.listens_for(Engine, "before_cursor_execute", retval=True)
    def encrypt(connection, cursor, statement, parameters, context, executemany):
        return (encrypt_columns(statement, context) if context is not None else statement), parameters


def pytest_runtest_logreport(report):
    if report.failed:
        seen[report.nodeid] = "failed"
    elif report.when == "call" or report.skipped:
        seen.setdefault(report.nodeid, report.outcome)


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        outcomes.write(seen)
