/* JDBC sees encrypted columns as native values: text and binary transfer, the simple protocol, and strings without a type as parameters. */

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;
import org.postgresql.PGResultSetMetaData;
import org.postgresql.copy.CopyManager;

public class Jdbc {
    static final boolean TRANSPARENT = !"off".equals(System.getenv("TRANSPARENT"));
    static int count = 0, failed = 0;

    final Connection conn;
    final String protocol;
    final List<String> names = new ArrayList<>();

    interface OfTable {
        Object get(String table) throws Exception;
    }

    Jdbc(String protocol, String... settings) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", System.getenv("PGUSER"));
        properties.setProperty("password", System.getenv("PGPASSWORD"));
        for (int i = 0; i < settings.length; i += 2)
            properties.setProperty(settings[i], settings[i + 1]);
        conn = DriverManager.getConnection("jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
            + System.getenv("PGDATABASE"), properties);
        this.protocol = protocol;
        for (List<Object> row : rows("SELECT name FROM kind ORDER BY position"))
            names.add((String) row.get(0));
    }

    /* One check: what two functions return must have the same class and value, or there must be no such operator. */
    void same(String kind, String what, OfTable got, OfTable expected) {
        String enc = outcome(got, "enc"), plain = outcome(expected, "plain");
        boolean error = plain.startsWith("error "), good = enc.equals(plain) && (!error || plain.equals("error 42883"));
        System.out.printf("%s %d - jdbc %s %s: %s%s%n", good ? "ok" : "not ok", ++count, protocol, kind, what,
            good && error ? " # both fail: 42883" : "");
        if (!good) {
            failed++;
            System.out.printf("#      got: %s%n# expected: %s%n", enc, plain);
        }
    }

    void both(String kind, String what, OfTable function) {
        same(kind, what, function, function);
    }

    static String outcome(OfTable function, String table) {
        try {
            return shown(function.get(table));
        } catch (SQLException error) {
            if (System.getenv("VERBOSE") != null)
                System.out.println("# " + error.getMessage().replace("\n", " "));
            return "error " + error.getSQLState();
        } catch (Exception error) {
            return "error " + error;
        }
    }

    /* A value and the classes of all its parts. */
    static String shown(Object value) {
        if (value == null)
            return "null";
        if (value instanceof List)
            return ((List<?>) value).stream().map(Jdbc::shown).collect(Collectors.joining(", ", "[", "]"));
        if (value instanceof byte[])
            return "byte[] " + Arrays.toString((byte[]) value);
        if (value instanceof Object[])
            return shown(Arrays.asList((Object[]) value));
        return value.getClass().getSimpleName() + " " + value;
    }

    PreparedStatement bound(String sql, Object... params) throws SQLException {
        PreparedStatement statement = conn.prepareStatement(sql);
        for (int i = 0; i < params.length; i++)
            if (params[i] == null)
                statement.setNull(i + 1, Types.NULL);
            else
                statement.setObject(i + 1, params[i]);
        return statement;
    }

    List<List<Object>> rows(String sql, Object... params) throws SQLException {
        try (PreparedStatement statement = bound(sql, params); ResultSet result = statement.executeQuery()) {
            return all(result);
        }
    }

    static List<List<Object>> all(ResultSet result) throws SQLException {
        List<List<Object>> found = new ArrayList<>();
        while (result.next()) {
            List<Object> row = new ArrayList<>();
            for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                Object value = result.getObject(i);
                row.add(value instanceof java.sql.Array ? ((java.sql.Array) value).getArray() : value);
            }
            found.add(row);
        }
        return found;
    }

    Object one(String sql, Object... params) throws SQLException {
        return rows(sql, params).get(0).get(0);
    }

    int run(String sql, Object... params) throws SQLException {
        try (PreparedStatement statement = bound(sql, params)) {
            return statement.executeUpdate();
        }
    }

    static String typed(String name) {
        return "CAST(? AS " + name + ")";
    }

    /* A parameter in SQL: with a cast, unless its type is inferred to be the base type. */
    static String param(String name) {
        return TRANSPARENT ? "?" : typed(name);
    }

    /* What a column is fetched by: a cast, where the driver would meet a type that it does not know. */
    static String fetched(String name) {
        return TRANSPARENT ? "c_" + name : "CAST(c_" + name + " AS " + name + ")";
    }

    String columns() {
        return names.stream().map(name -> "c_" + name).collect(Collectors.joining(", "));
    }

    void column(String name) throws SQLException {
        String c = "c_" + name;
        Object value = one("SELECT " + c + " FROM plain WHERE id = 1"), other = one("SELECT " + c + " FROM plain WHERE id = 2");
        both("select", name, t -> one("SELECT " + fetched(name) + " FROM " + t + " WHERE id = 1"));
        both("null", name, t -> one("SELECT " + fetched(name) + " FROM " + t + " WHERE id = 3"));
        // of a binary bytea the driver makes a string that says nothing of the value
        if (!name.equals("bytea"))
            same("select", name + ", as a string", t -> string("SELECT " + c + " FROM enc WHERE id = 1"),
                t -> string("SELECT " + (TRANSPARENT ? c : "shown(" + c + ")") + " FROM plain WHERE id = 1"));
        both("where", name + ", typed", t -> rows("SELECT id FROM " + t + " WHERE " + c + " = " + typed(name), value));
        // the driver names the types of numbers and of text, and leaves those of dates and times open: so, whatever the setting says
        both("where", name, t -> rows("SELECT id FROM " + t + " WHERE " + c + " = ?", value));
        both("write", name, t -> {
            run("DELETE FROM " + t + " WHERE id = 10");
            return Arrays.asList(
                one("INSERT INTO " + t + " (id, " + c + ") VALUES (10, " + param(name) + ") RETURNING " + fetched(name), value),
                one("UPDATE " + t + " SET " + c + " = " + param(name) + " WHERE id = 10 RETURNING " + fetched(name), other),
                one("SELECT " + c + "::text FROM " + t + " WHERE id = 10"),
                one("UPDATE " + t + " SET " + c + " = " + param(name) + " WHERE id = 10 RETURNING " + fetched(name), (Object) null));
        });
    }

    String string(String sql) throws SQLException {
        try (Statement statement = conn.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }

    void javaTime() {
        both("select", "java.time", t -> {
            try (Statement statement = conn.createStatement(); ResultSet result = statement.executeQuery(
                "SELECT " + fetched("date") + ", " + fetched("time") + ", " + fetched("timestamptz") + " FROM " + t + " WHERE id = 1")) {
                result.next();
                return Arrays.asList(result.getObject(1, LocalDate.class), result.getObject(2, LocalTime.class),
                    result.getObject(3, OffsetDateTime.class));
            }
        });
    }

    /* The methods that name a type, on the columns as they are. */
    void getters() {
        both("select", "getInt to getBytes", t -> {
            try (PreparedStatement statement = bound("SELECT c_int4, c_int8, c_numeric, c_float8, c_bool, c_date, c_timestamptz, c_bytea FROM " + t
                + " WHERE id = 1"); ResultSet result = statement.executeQuery()) {
                result.next();
                return Arrays.asList(result.getInt(1), result.getLong(2), result.getBigDecimal(3), result.getDouble(4), result.getBoolean(5),
                    result.getDate(6), result.getTimestamp(7),
                    // of a type that it does not know, the driver gives the bytes of the text
                    TRANSPARENT ? result.getBytes(8) : null);
            }
        });
    }

    void arrays() {
        both("array", "cast", t -> one("SELECT c_array::int4[] FROM " + t + " WHERE id = 1"));
        both("array", "parameter", t -> one("UPDATE " + t + " SET c_array = CAST(? AS int4[]) WHERE id = 2 RETURNING c_array::int4[]",
            conn.createArrayOf("int4", new Integer[] {5, null})));
        same("array", "as it is: its text", t -> string("SELECT c_array FROM enc WHERE id = 1").replace("\"", ""), t -> "{1,NULL,-3}");
    }

    /* Several rows in one round trip, and the values that an INSERT returns as generated keys. */
    void batch() {
        both("write", "batch, generated keys", t -> {
            run("DELETE FROM " + t + " WHERE id >= 20");
            try (PreparedStatement statement = conn.prepareStatement("INSERT INTO " + t + " (id, c_text, c_int8) VALUES (?, "
                + param("text") + ", " + param("int8") + ")", new String[] {"id", "c_text"})) {
                for (int i = 20; i < 23; i++) {
                    statement.setInt(1, i);
                    statement.setString(2, i == 21 ? null : "row " + i);
                    statement.setLong(3, i);
                    statement.addBatch();
                }
                statement.executeBatch();
                List<String> keys = new ArrayList<>();
                try (ResultSet result = statement.getGeneratedKeys()) {
                    while (result.next())
                        keys.add(result.getInt("id") + " " + result.getString("c_text"));
                }
                return Arrays.asList(keys, rows("SELECT c_text::text, c_int8::int8 FROM " + t + " WHERE id >= 20 ORDER BY id"));
            }
        });
    }

    void portal() {
        both("cursor", "fetch size 2", t -> {
            conn.setAutoCommit(false);
            try (Statement statement = conn.createStatement()) {
                statement.setFetchSize(2);
                return all(statement.executeQuery("SELECT " + names.stream().map(Jdbc::fetched).collect(Collectors.joining(", ")) + " FROM " + t
                    + " WHERE id < 4 ORDER BY id"));
            } finally {
                conn.rollback();
                conn.setAutoCommit(true);
            }
        });
    }

    void transaction() {
        both("transaction", "savepoint, rollback", t -> {
            conn.setAutoCommit(false);
            try {
                run("UPDATE " + t + " SET c_int4 = " + param("int4") + ", c_text = " + param("text") + " WHERE id = 1", 1, "changed");
                Savepoint savepoint = conn.setSavepoint();
                run("DELETE FROM " + t + " WHERE c_int4 = " + param("int4"), 1);
                conn.rollback(savepoint);
                Object inside = one("SELECT c_text::text FROM " + t + " WHERE id = 1");
                conn.rollback();
                return Arrays.asList(inside, one("SELECT c_text::text FROM " + t + " WHERE id = 1"));
            } finally {
                conn.rollback();
                conn.setAutoCommit(true);
            }
        });
    }

    /* COPY of the text and the binary format, out and in. */
    void copies() throws SQLException {
        CopyManager copy = conn.unwrap(PGConnection.class).getCopyAPI();
        for (String format : new String[] {"text", "binary"}) {
            String options = " (FORMAT " + format + ")";
            both("copy", "out, " + format, t -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                copy.copyOut("COPY (SELECT " + columns() + " FROM " + t + " WHERE id < 4 ORDER BY id) TO STDOUT" + options, out);
                return out.toByteArray();
            });
            both("copy", "in, " + format, t -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                copy.copyOut("COPY (SELECT id + 30, " + columns() + " FROM plain WHERE id < 4) TO STDOUT" + options, out);
                run("DELETE FROM " + t + " WHERE id > 30");
                copy.copyIn("COPY " + t + " (id, " + columns() + ") FROM STDIN" + options, new ByteArrayInputStream(out.toByteArray()));
                return rows("SELECT " + t + "::text FROM " + t + " WHERE id > 30 ORDER BY id");
            });
        }
    }

    void metadata() {
        for (String name : names)
            same("metadata", name, t -> result(t, name), t -> TRANSPARENT ? result(t, name) : Arrays.asList("encrypted_" + name, true));
        if (TRANSPARENT)
            both("metadata", "precision, scale, length", t -> {
                try (PreparedStatement statement = bound("SELECT c_numeric, c_varchar, c_bpchar FROM " + t); ResultSet found = statement.executeQuery()) {
                    ResultSetMetaData meta = found.getMetaData();
                    return Arrays.asList(meta.getPrecision(1), meta.getScale(1), meta.getPrecision(2), meta.getPrecision(3));
                }
            });
        // from the catalogs, so whatever the setting says
        for (String name : names)
            same("metadata", "DatabaseMetaData, " + name, t -> {
                try (ResultSet found = conn.getMetaData().getColumns(null, null, "enc", "c_" + name)) {
                    return found.next() ? Arrays.asList(found.getString("TYPE_NAME"), found.getInt("DATA_TYPE")) : null;
                }
            }, t -> Arrays.asList("encrypted_" + name, Types.OTHER));
    }

    /* What a result says of a column. */
    List<Object> result(String table, String name) throws SQLException {
        try (PreparedStatement statement = bound("SELECT c_" + name + " FROM " + table + " WHERE id = 1"); ResultSet found = statement.executeQuery()) {
            ResultSetMetaData meta = found.getMetaData();
            boolean origin = table.equals(meta.unwrap(PGResultSetMetaData.class).getBaseTableName(1));
            if (!TRANSPARENT)
                return Arrays.asList(meta.getColumnTypeName(1), origin);
            return Arrays.asList(meta.getColumnTypeName(1), origin, meta.getColumnType(1), meta.getColumnClassName(1));
        }
    }

    void program() throws SQLException {
        for (String name : names)
            column(name);
        javaTime();
        getters();
        arrays();
        batch();
        portal();
        transaction();
        copies();
        metadata();
        conn.close();
    }

    /* Strings as parameters of any type, which is how many programs bind what they do not know. */
    void strings() throws SQLException {
        for (String name : names) {
            String c = "c_" + name, value = string("SELECT shown(" + c + ") FROM plain WHERE id = 1");
            both("where", name + ", string", t -> rows("SELECT id FROM " + t + " WHERE " + c + " = ?", value));
            both("write", name + ", string", t -> {
                run("DELETE FROM " + t + " WHERE id = 10");
                run("INSERT INTO " + t + " (id, " + c + ") VALUES (10, ?)", value);
                return one("SELECT " + c + "::text FROM " + t + " WHERE id = 10");
            });
        }
        conn.close();
    }

    public static void main(String[] args) throws SQLException {
        new Jdbc("text", "binaryTransfer", "false").program();
        new Jdbc("binary", "prepareThreshold", "-1").program();
        new Jdbc("simple", "preferQueryMode", "simple").program();
        new Jdbc("unspecified", "stringtype", "unspecified").strings();
        System.out.println("1.." + count);
        System.exit(failed > 0 || count == 0 ? 1 : 0);
    }
}
