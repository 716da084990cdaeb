package shop;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import java.math.BigDecimal;

@Entity
public class Employee {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY)
    Long id;

    String name;

    @Column(unique = true, columnDefinition = "encrypted_text(nosalt)")
    String card;

    @Column(precision = 10, scale = 2, columnDefinition = "encrypted_numeric(10,2)")
    BigDecimal salary;

    protected Employee() {}

    public Employee(String name, String card, String salary) {
        this.name = name;
        this.card = card;
        this.salary = new BigDecimal(salary);
    }
}
