package shop;

import java.util.List;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

public class App {
    public static void main(String[] args) {
        // "update" makes what is missing, "validate" compares, as the second program start does
        try (SessionFactory factory = factory("update")) {
            factory.inTransaction(session -> List.of(
                new Employee("Ada Lovelace", "4111111111111111", "48123.45"),
                new Employee("Grace Hopper", "5500000000000004", "65007.89"),
                new Employee("Alan Turing", "340000000000009", "39000.00")).forEach(session::persist));
        }
        try (SessionFactory factory = factory("validate")) {
            factory.inTransaction(session -> {
                Employee grace = session.createSelectionQuery("from Employee where card = :card", Employee.class)
                    .setParameter("card", "5500000000000004").getSingleResult();
                System.out.printf("%s has card %s and earns %s%n", grace.name, grace.card, grace.salary);

                int raised = session.createMutationQuery("update Employee set salary = salary + 1000 where salary < 40000").executeUpdate();
                List<String> names = session.createSelectionQuery("select name from Employee order by salary desc", String.class).getResultList();
                System.out.printf("%d raise: %s%n", raised, String.join(", ", names));
            });
        }
    }

    static SessionFactory factory(String schema) {
        return new Configuration().addAnnotatedClass(Employee.class)
            .setProperty("hibernate.connection.url", "jdbc:postgresql://%s:%s/%s".formatted(
                System.getenv("PGHOST"), System.getenv().getOrDefault("PGPORT", "5432"), System.getenv("PGDATABASE")))
            .setProperty("hibernate.connection.username", System.getenv("PGUSER"))
            .setProperty("hibernate.connection.password", System.getenv("PGPASSWORD"))
            .setProperty("hibernate.hbm2ddl.auto", schema)
            .buildSessionFactory();
    }
}
