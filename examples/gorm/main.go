package main

import (
	"fmt"
	"log"
	"strings"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// Employee has base types, as for any table; migrate makes two of the columns encrypted.
type Employee struct {
	ID     uint
	Name   string
	Card   string `gorm:"uniqueIndex"`
	Salary string `gorm:"type:numeric(10,2)"`
}

func main() {
	db, err := gorm.Open(postgres.Open("")) // PGHOST and its like say where
	check(err)
	check(migrate(db))

	check(db.Create([]Employee{
		{Name: "Ada Lovelace", Card: "4111111111111111", Salary: "48123.45"},
		{Name: "Grace Hopper", Card: "5500000000000004", Salary: "65007.89"},
		{Name: "Alan Turing", Card: "340000000000009", Salary: "39000.00"},
	}).Error)

	var grace Employee
	check(db.First(&grace, "card = ?", "5500000000000004").Error)
	fmt.Printf("%s has card %s and earns %s\n", grace.Name, grace.Card, grace.Salary)

	raised := db.Model(&Employee{}).Where("salary < ?", 40000).Update("salary", gorm.Expr("salary + ?", 1000))
	check(raised.Error)
	var names []string
	check(db.Model(&Employee{}).Order("salary DESC").Pluck("name", &names).Error)
	fmt.Printf("%d raise: %s\n", raised.RowsAffected, strings.Join(names, ", "))
}

func migrate(db *gorm.DB) error {
	made := db.Migrator().HasTable(&Employee{})
	if err := db.AutoMigrate(&Employee{}); err != nil || made {
		return err
	}
	return db.Exec("ALTER TABLE employees ALTER card TYPE encrypted_text(nosalt), ALTER salary TYPE encrypted_numeric(10,2)").Error
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
