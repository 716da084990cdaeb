/*
 * Hibernate sees encrypted columns as it sees plain ones: its program runs in two schemas, the second of which is encrypted in the middle of
 * it, and must see the same in both.  Its schema tool compares entities with what the catalogs say ("validate"), and adds to it ("update").
 */

import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import jakarta.persistence.criteria.CriteriaBuilder;
import jakarta.persistence.criteria.Root;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.OnDelete;
import org.hibernate.annotations.OnDeleteAction;
import org.hibernate.cfg.Configuration;
import org.hibernate.resource.jdbc.spi.StatementInspector;
import org.hibernate.type.SqlTypes;

public class HibernateTwins {
    @Entity(name = "Author")
    @Table(name = "author")
    public static class Author {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
        @Column(length = 60, nullable = false) public String name;
        @Column(length = 120, unique = true) public String email;
        public LocalDate born;
        public LocalTime opens;
        public LocalDateTime local;
        @Column(precision = 12, scale = 2) public BigDecimal balance;
        public Boolean active;
        @Column(columnDefinition = "text") public String settings;
        @JdbcTypeCode(SqlTypes.JSON) public Map<String, String> document;
        public byte[] avatar;
        public UUID code;
        public Double score;
        public Float ratio;
        public Long visits;
        public Short small;
        public Instant seen;
        @OneToMany(mappedBy = "author", cascade = CascadeType.ALL) @OrderBy("title DESC") public List<Book> books = new ArrayList<>();
    }

    @Entity(name = "Book")
    @Table(name = "book")
    public static class Book {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
        @Column(columnDefinition = "text") public String title;
        public Integer pages;
        @Column(precision = 8, scale = 2) public BigDecimal price;
        @ManyToOne @JoinColumn(name = "author_id") @OnDelete(action = OnDeleteAction.CASCADE) public Author author;
        @ManyToMany @JoinTable(name = "book_tag", joinColumns = @JoinColumn(name = "book_id"), inverseJoinColumns = @JoinColumn(name = "tag_id"))
        public List<Tag> tags = new ArrayList<>();
    }

    @Entity(name = "Tag")
    @Table(name = "tag")
    public static class Tag {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
        @Column(length = 20, unique = true) public String label;
    }

    /* What a later version of the program declares. */
    @Entity(name = "LaterAuthor")
    @Table(name = "author", indexes = @Index(name = "author_born", columnList = "born"))
    public static class LaterAuthor {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
        @Column(length = 200, nullable = false) public String name;
        public LocalDate born;
        @Column(precision = 12, scale = 2) public BigDecimal balance;
        public UUID code;
        public Instant seen;
        @Column(length = 30) public String note;
    }

    record World(String schema, SessionFactory factory) { }

    interface Of<T> {
        Object get(T from) throws Exception;
    }

    static final World[] worlds = new World[2];
    static int count = 0, failed = 0;

    static void result(String kind, String what, boolean good, Object got, Object expected) {
        System.out.printf("%s %d - hibernate %s: %s%n", good ? "ok" : "not ok", ++count, kind, what);
        if (!good) {
            failed++;
            System.out.printf("#      got: %s%n# expected: %s%n", got, expected);
        }
    }

    /* A value with the classes of its parts; of an entity its columns, and of what it refers to the keys. */
    static String dump(Object value) throws IllegalAccessException {
        if (value == null)
            return "null";
        if (value instanceof byte[] bytes)
            return "byte[]" + Arrays.toString(bytes);
        if (value instanceof Object[] row)
            return dump(Arrays.asList(row));
        if (value instanceof Collection<?> list) {
            List<String> parts = new ArrayList<>();
            for (Object part : list)
                parts.add(dump(part));
            return parts.toString();
        }
        if (!value.getClass().isAnnotationPresent(Entity.class))
            return value.getClass().getSimpleName() + " " + value;
        List<String> parts = new ArrayList<>();
        for (Field field : value.getClass().getFields()) {
            Object part = field.get(value);
            if (part instanceof Author author)
                parts.add(field.getName() + "=" + author.id);
            else if (!(part instanceof Collection))
                parts.add(field.getName() + "=" + dump(part));
        }
        return value.getClass().getSimpleName() + parts;
    }

    static String state(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause())
            if (cause instanceof SQLException sql)
                return "error " + sql.getSQLState();
        return "error " + error;
    }

    /* One check: what a function gives in both schemas must have the same classes and values, or be an error with this SQLSTATE. */
    static void check(String kind, String what, String state, Of<World> get) {
        String[] shown = new String[2];
        boolean good = true;
        for (int i = 0; i < 2; i++) {
            try {
                shown[i] = dump(get.get(worlds[i]));
                good &= state == null;
            } catch (Exception error) {
                shown[i] = state(error);
                good &= shown[i].equals("error " + state);
            }
        }
        result(kind, what, good && shown[0].equals(shown[1]), shown[1], shown[0]);
    }

    /* The same of what is done in a transaction. */
    static void fails(String kind, String what, String state, Of<Session> get) {
        check(kind, what, state, world -> {
            try (Session session = world.factory.openSession()) {
                session.beginTransaction();
                try {
                    Object value = get.get(session);
                    session.flush();
                    session.clear();
                    session.getTransaction().commit();
                    return value instanceof Function<?, ?> later ? then(world, later) : value;
                } catch (Exception error) {
                    session.getTransaction().rollback();
                    throw error;
                }
            }
        });
    }

    static void same(String kind, String what, Of<Session> get) {
        fails(kind, what, null, get);
    }

    /* What is read when the transaction has been committed. */
    @SuppressWarnings("unchecked")
    static Object then(World world, Function<?, ?> later) throws Exception {
        try (Session session = world.factory.openSession()) {
            return dump(((Function<Session, Object>) later).apply(session));
        }
    }

    static Function<Session, Object> later(Function<Session, Object> read) {
        return read;
    }

    static Configuration configuration(String schema, String tool, Class<?>... entities) {
        Configuration configuration = new Configuration();
        for (Class<?> entity : entities)
            configuration.addAnnotatedClass(entity);
        String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
        return configuration.setProperty("hibernate.connection.url", url + "?currentSchema=" + schema + ",public")
            .setProperty("hibernate.connection.username", System.getenv("PGUSER")).setProperty("hibernate.connection.password", System.getenv("PGPASSWORD"))
            .setProperty("hibernate.default_schema", schema).setProperty("hibernate.hbm2ddl.auto", tool)
            .setProperty("hibernate.jdbc.time_zone", "UTC").setProperty("hibernate.jdbc.batch_size", "5");
    }

    static World open(String schema, String tool, Class<?>... entities) {
        return new World(schema, configuration(schema, tool, entities).buildSessionFactory());
    }

    static void reopen(String tool, Class<?>... entities) {
        for (int i = 0; i < 2; i++) {
            worlds[i].factory.close();
            worlds[i] = open(worlds[i].schema, tool, entities);
        }
    }

    static String sql(World world, String text) {
        try (Session session = world.factory.openSession()) {
            return session.doReturningWork(connection -> {
                connection.setAutoCommit(true);
                try (Statement statement = connection.createStatement()) {
                    if (!statement.execute(text))
                        return null;
                    ResultSet rows = statement.getResultSet();
                    List<String> values = new ArrayList<>();
                    while (rows.next())
                        values.add(rows.getString(1));
                    return values.size() == 1 ? values.get(0) : values.toString();
                }
            });
        }
    }

    static void encrypt(String what) {
        sql(worlds[1], "CALL public.encrypt_twin()");
        String left = sql(worlds[1], "SELECT public.left_plain()");
        result("migrate", "all columns are encrypted " + what, left == null, left, null);
    }

    static final Instant START = Instant.EPOCH;

    static Author ann(String email) {
        Author author = new Author();
        author.name = "Ann O'Neil";
        author.email = email;
        author.born = LocalDate.of(1980, 2, 29);
        author.opens = LocalTime.of(8, 30);
        author.local = LocalDateTime.of(2024, 2, 29, 23, 59, 59, 999999000);
        author.balance = new BigDecimal("1234.50");
        author.active = false;
        author.settings = "{\"theme\": \"dark\"}";
        author.document = Map.of("theme", "dark");
        author.avatar = new byte[] {0, -1, 10};
        author.code = UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        author.score = 0.1;
        author.ratio = 0.25f;
        author.visits = 9007199254740993L;
        author.small = -3;
        author.seen = Instant.parse("2024-02-29T23:59:59.999999Z");
        return author;
    }

    static void seed(World world) {
        world.factory.inTransaction(session -> {
            session.persist(ann("ann@x.org"));
            for (int i = 0; i < 12; i++) {
                Author author = new Author();
                author.name = "Name " + i;
                author.email = "user" + i + "@x.org";
                author.born = LocalDate.ofEpochDay(i * 400L);
                author.balance = BigDecimal.valueOf(i * 1025L, 2);
                author.active = i % 2 == 0;
                author.visits = (long) i;
                author.score = i / 4.0;
                author.seen = START.plusSeconds(i * 86400L);
                session.persist(author);
            }
            Author nobody = new Author();
            nobody.name = "Nobody";
            session.persist(nobody);
            Tag[] tags = {new Tag(), new Tag()};
            tags[0].label = "red";
            tags[1].label = "blue";
            for (Tag tag : tags)
                session.persist(tag);
            session.flush();
            for (int i = 0; i < 9; i++) {
                Book book = new Book();
                book.title = "Title " + i;
                book.pages = 100 + i;
                book.price = BigDecimal.valueOf(i * 100L + 99, 2);
                book.author = session.find(Author.class, 1 + i % 3);
                book.tags.add(tags[i % 2]);
                session.persist(book);
            }
        });
    }

    static Of<Session> find(String where, Object... values) {
        return session -> {
            var query = session.createQuery("FROM Author a WHERE " + where + " ORDER BY a.id", Author.class);
            for (int i = 0; i < values.length; i++)
                query.setParameter(i + 1, values[i]);
            return query.getResultList();
        };
    }

    static void reads() throws IllegalAccessException {
        same("select", "all columns", find("true"));
        same("select", "by primary key", session -> session.find(Author.class, 1));
        same("select", "native query", session -> session.createNativeQuery("SELECT * FROM author ORDER BY id", Object[].class).getResultList());
        same("select", "stream", session -> {
            try (var rows = session.createQuery("FROM Author a ORDER BY a.name", Author.class).setFetchSize(3).getResultStream()) {
                return rows.collect(Collectors.toList());
            }
        });
        Author ann = ann("ann@x.org");
        for (Field field : Author.class.getFields())
            if (!List.of("id", "books", "document").contains(field.getName()))
                same("where", field.getName(), find("a." + field.getName() + " = ?1", field.get(ann)));
        same("where", "IN", find("a.name IN ?1 AND a.visits IN ?2", List.of("Name 1", "Name 2"), List.of(1L, 2L)));
        same("where", "patterns", find("a.name LIKE ?1 AND a.email ILIKE ?2", "Name 1%", "%USER1%"));
        same("where", "functions", find("lower(a.name) = ?1 OR length(a.email) > ?2 OR year(a.born) = ?3", "name 3", 11, 1975));
        same("where", "ranges", find("a.born BETWEEN ?1 AND ?2 OR a.balance > ?3 OR a.seen < ?4", LocalDate.of(1975, 1, 1), LocalDate.of(1982, 1, 1),
            new BigDecimal("100"), START.plusSeconds(3 * 86400)));
        same("where", "criteria", session -> {
            CriteriaBuilder builder = session.getCriteriaBuilder();
            var query = builder.createQuery(Author.class);
            Root<Author> author = query.from(Author.class);
            query.where(builder.and(builder.equal(author.get("active"), true), builder.gt(author.get("balance"), 20))).orderBy(builder.desc(author.get("balance")));
            return session.createQuery(query).getResultList();
        });
        same("null", "IS NULL", find("a.balance IS NULL"));
        same("null", "row of NULLs", find("a.name = ?1", "Nobody"));
        same("page", "sorted", session -> session.createQuery("FROM Author a ORDER BY a.balance DESC NULLS LAST, a.name", Author.class)
            .setFirstResult(3).setMaxResults(4).getResultList());
        same("page", "count", session -> session.createQuery("SELECT count(*) FROM Author a WHERE a.balance > 50", Long.class).getSingleResult());
        same("aggregate", "all", session -> session.createQuery(
            "SELECT sum(a.balance), avg(a.score), min(a.born), max(a.seen), count(DISTINCT a.name), sum(a.visits), max(a.name) FROM Author a", Object[].class).getSingleResult());
        same("aggregate", "groups", session -> session.createQuery(
            "SELECT a.active, count(*), listagg(a.name, ',') WITHIN GROUP (ORDER BY a.name) FROM Author a GROUP BY a.active HAVING count(*) > 1 ORDER BY a.active", Object[].class)
            .getResultList());
    }

    static void relations() {
        same("relation", "one to many", session -> {
            List<Object> found = new ArrayList<>();
            for (Author author : session.createQuery("SELECT DISTINCT a FROM Author a JOIN FETCH a.books b WHERE b.pages > 102 ORDER BY a.id", Author.class).getResultList())
                found.add(List.of(author, author.books));
            return found;
        });
        same("relation", "lazily", session -> new ArrayList<>(session.find(Author.class, 2).books));
        same("relation", "many to many", session -> session.createQuery(
            "SELECT b FROM Book b JOIN b.tags t JOIN FETCH b.author WHERE t.label = ?1 ORDER BY b.title", Book.class).setParameter(1, "red").getResultList());
        same("relation", "subquery", find("EXISTS (FROM Book b WHERE b.author = a AND b.price > 5)"));
        fails("relation", "a foreign key without a row", "23503", session ->
            session.createNativeMutationQuery("INSERT INTO book (title, author_id) VALUES ('x', 999)").executeUpdate());
    }

    static void writes() {
        same("write", "persist", session -> {
            Author author = ann("new@x.org");
            session.persist(author);
            return later(next -> next.find(Author.class, author.id));
        });
        fails("write", "unique", "23505", session -> {
            session.persist(ann("ann@x.org"));
            return null;
        });
        fails("write", "too long", "22001", session -> {
            session.find(Author.class, 1).name = "x".repeat(61);
            return null;
        });
        same("write", "dirty checking", session -> {
            Author author = session.createQuery("FROM Author a WHERE a.email = 'new@x.org'", Author.class).getSingleResult();
            author.balance = new BigDecimal("0.05");
            author.document = Map.of("theme", "light");
            author.avatar = null;
            author.seen = START;
            author.small = 7;
            return later(next -> next.find(Author.class, author.id));
        });
        same("write", "bulk update", session -> {
            int changed = session.createMutationQuery("UPDATE Author a SET a.balance = a.balance * 2, a.visits = a.visits + 1, a.active = false WHERE a.visits < 3").executeUpdate();
            return later(next -> List.of(changed, next.createQuery("FROM Author a ORDER BY a.id", Author.class).getResultList()));
        });
        same("write", "upsert", session -> {
            session.createMutationQuery("INSERT INTO Author (name, email) VALUES ('Upserted', 'user5@x.org') ON CONFLICT (email) DO UPDATE SET name = excluded.name").executeUpdate();
            return later(next -> next.createQuery("FROM Author a WHERE a.email = 'user5@x.org'", Author.class).getResultList());
        });
        same("write", "merge", session -> {
            Author detached = session.find(Author.class, 4);
            session.detach(detached);
            detached.name = "Merged";
            session.merge(detached);
            return later(next -> next.find(Author.class, 4));
        });
        same("write", "remove, with its children", session -> {
            session.remove(session.createQuery("FROM Author a WHERE a.email = 'user0@x.org'", Author.class).getSingleResult());
            return later(next -> next.createQuery("FROM Book b ORDER BY b.id", Book.class).getResultList());
        });
    }

    static void transactions() {
        check("transaction", "savepoint, rollback, lock", null, world -> {
            List<Object> seen = new ArrayList<>();
            try (Session session = world.factory.openSession()) {
                session.beginTransaction();
                Author author = session.find(Author.class, 1, LockModeType.PESSIMISTIC_WRITE);
                author.name = "Changed";
                session.flush();
                session.doWork(connection -> {
                    var savepoint = connection.setSavepoint();
                    try (Statement statement = connection.createStatement()) {
                        seen.add(statement.executeUpdate("UPDATE author SET balance = 1 WHERE name = 'Changed'"));
                    }
                    connection.rollback(savepoint);
                });
                session.refresh(author);
                seen.add(dump(author));
                session.getTransaction().rollback();
            }
            try (Session session = world.factory.openSession()) {
                seen.add(session.createQuery("SELECT count(*) FROM Author a WHERE a.name = 'Changed'", Long.class).getSingleResult());
            }
            return seen;
        });
    }

    /* What the driver's metadata, which the schema tool reads, say of the table. */
    static Object columns(World world) {
        try (Session session = world.factory.openSession()) {
            return session.doReturningWork(connection -> {
                List<List<Object>> columns = new ArrayList<>();
                try (ResultSet rows = connection.getMetaData().getColumns(null, world.schema, "author", "%")) {
                    int width = rows.getMetaData().getColumnCount();
                    while (rows.next()) {
                        List<Object> column = new ArrayList<>();
                        for (int i = 3; i <= width; i++)
                            column.add(rows.getObject(i) instanceof String text ? text.replaceAll("twin_(plain|enc)", "twin") : rows.getObject(i));
                        columns.add(column);
                    }
                }
                return columns;
            });
        }
    }

    static void migration() {
        Class<?>[] all = {Author.class, Book.class, Tag.class};
        check("metadata", "DatabaseMetaData.getColumns()", null, HibernateTwins::columns);
        check("metadata", "validate", null, world -> {
            open(world.schema, "validate", all).factory.close();
            return "valid";
        });
        check("migrate", "a new column, a longer one, an index", null, world -> {
            // the schema tool adds, and leaves columns as they are
            sql(world, "ALTER TABLE author ALTER COLUMN name SET DATA TYPE varchar(200)");
            open(world.schema, "update", LaterAuthor.class).factory.close();
            return sql(world, "SELECT indexname FROM pg_indexes WHERE schemaname = '" + world.schema + "' AND tablename = 'author' AND indexname LIKE '%born'");
        });
        encrypt("after it");
        check("metadata", "DatabaseMetaData.getColumns() after it", null, HibernateTwins::columns);
        reopen("validate", LaterAuthor.class);
        same("write", "the longer column", session -> {
            LaterAuthor author = new LaterAuthor();
            author.name = "x".repeat(200);
            author.note = "note";
            session.persist(author);
            return later(next -> next.find(LaterAuthor.class, author.id));
        });
        same("select", "all rows after it", session -> session.createQuery("FROM LaterAuthor a ORDER BY a.id", LaterAuthor.class).getResultList());
    }

    public static void main(String[] args) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        try {
            for (int i = 0; i < 2; i++) {
                worlds[i] = open(i == 0 ? "twin_plain" : "twin_enc", "create", Author.class, Book.class, Tag.class);
                seed(worlds[i]);
            }
            result("migrate", "the ORM makes plain columns", sql(worlds[1], "SELECT public.left_plain()") != null, null, "columns");
            encrypt("then");
            reads();
            relations();
            writes();
            transactions();
            migration();
        } catch (Exception error) {
            System.out.println("Bail out! " + error + " " + (error.getCause() == null ? "" : error.getCause()));
            System.exit(1);
        }
        System.out.println("1.." + count);
        System.exit(failed > 0 || count == 0 ? 1 : 0);
    }
}
