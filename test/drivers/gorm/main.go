// Command gorm checks that GORM sees encrypted columns as it sees plain ones: its program runs in two schemas, the second of which is
// encrypted in the middle of it, and must see the same in both.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// Author has a column of each type that Go programs commonly use.
type Author struct {
	ID       uint
	Name     string          `gorm:"size:60;not null"`
	Email    *string         `gorm:"size:120;uniqueIndex:author_email"`
	Born     *time.Time      `gorm:"type:date"`
	Balance  *string         `gorm:"type:numeric(12,2)"`
	Active   bool            `gorm:"default:true"`
	Settings json.RawMessage `gorm:"type:jsonb"`
	Avatar   []byte
	Code     *string `gorm:"type:uuid"`
	Score    float64
	Visits   int64
	Small    int16
	Seen     *time.Time
	Books    []Book `gorm:"constraint:OnDelete:CASCADE"`
}

// LaterAuthor is what a second migration makes of it.
type LaterAuthor struct {
	ID    uint
	Name  string     `gorm:"size:200;not null"`
	Email *string    `gorm:"size:120;uniqueIndex:author_email"`
	Born  *time.Time `gorm:"type:date;index:author_born"`
	Note  string     `gorm:"default:none"`
}

// TableName is that of an Author.
func (LaterAuthor) TableName() string { return "author" }

// Book belongs to an author and has tags.
type Book struct {
	ID       uint
	Title    string
	Pages    int
	Price    float64 `gorm:"type:numeric(8,2)"`
	AuthorID *uint
	Author   *Author
	Tags     []Tag `gorm:"many2many:book_tag;constraint:OnDelete:CASCADE"`
}

// Tag is unique.
type Tag struct {
	ID    uint
	Label string `gorm:"size:20;uniqueIndex:tag_label"`
}

type world struct {
	*gorm.DB
	statements *recorder
}

// recorder keeps the statements that change the schema.
type recorder struct {
	logger.Interface
	ddl []string
}

var twin = regexp.MustCompile(`twin_(plain|enc)`)

func (r *recorder) record(tx *gorm.DB) {
	if text := tx.Statement.SQL.String(); regexp.MustCompile(`^(CREATE|ALTER|DROP|COMMENT) `).MatchString(text) {
		r.ddl = append(r.ddl, twin.ReplaceAllString(text, "twin"))
	}
}

var (
	worlds []world
	count  int
	failed int
)

// result is one check.
func result(kind, what string, good bool, got, expected string) {
	count++
	word := "ok"
	if !good {
		word = "not ok"
		failed++
	}
	fmt.Printf("%s %d - gorm %s: %s\n", word, count, kind, what)
	if !good {
		fmt.Printf("#      got: %s\n# expected: %s\n", got, expected)
	}
}

// dump shows a value with the types of its parts.
func dump(value any) string {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return "nil"
	case v.Type() == reflect.TypeOf(time.Time{}):
		return value.(time.Time).Format("Time " + time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v.Type().String() + " nil"
		}
		return "&" + dump(v.Elem().Interface())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("%T %q", value, value)
		}
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = dump(v.Index(i).Interface())
		}
		return fmt.Sprintf("%T[%s]", value, strings.Join(parts, ", "))
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				parts = append(parts, v.Type().Field(i).Name+": "+dump(v.Field(i).Interface()))
			}
		}
		return fmt.Sprintf("%T{%s}", value, strings.Join(parts, ", "))
	case reflect.Map:
		var parts []string
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprint(key)+": "+dump(v.MapIndex(key).Interface()))
		}
		sort.Strings(parts)
		return fmt.Sprintf("%T{%s}", value, strings.Join(parts, ", "))
	}
	return fmt.Sprintf("%T %v", value, value)
}

// same is one check: what a function gives in both schemas must have the same types and value; state: it must be this error.
func same(kind, what string, get func(w world) (any, error), state ...string) {
	var shown [2]string
	good := true
	for i, w := range worlds {
		value, err := get(w)
		var server *pgconn.PgError
		switch {
		case err == nil:
			shown[i] = dump(value)
			good = good && len(state) == 0
		case errors.As(err, &server):
			shown[i] = "error " + server.Code
			good = good && len(state) == 1 && server.Code == state[0]
		default:
			shown[i] = "error " + err.Error()
			good = false
		}
	}
	result(kind, what, good && shown[0] == shown[1], shown[1], shown[0])
}

func must(err error) {
	if err != nil {
		fmt.Printf("Bail out! %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

func open(name string) world {
	statements := &recorder{Interface: logger.Discard}
	db, err := gorm.Open(postgres.Open("search_path="+name+",public timezone=UTC"), &gorm.Config{
		Logger: statements, TranslateError: false, NamingStrategy: schema.NamingStrategy{SingularTable: true}})
	must(err)
	must(db.Callback().Raw().After("gorm:raw").Register("record", statements.record))
	return world{db, statements}
}

// leftPlain tells the plain columns of the schema that is to be encrypted.
func leftPlain() string {
	var left sql.NullString
	must(worlds[1].Raw("SELECT left_plain()").Scan(&left).Error)
	return left.String
}

func encrypt(what string) {
	must(worlds[1].Exec("CALL public.encrypt_twin()").Error)
	left := leftPlain()
	result("migrate", "all columns are encrypted "+what, left == "", left, "")
}

func pointer[T any](value T) *T { return &value }

var (
	base = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	ann  = Author{Name: "Ann O'Neil", Email: pointer("ann@x.org"), Born: pointer(time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC)), Balance: pointer("1234.50"),
		Active: true, Settings: json.RawMessage(`{"theme": "dark", "sizes": [1, 2.5]}`), Avatar: []byte{0, 255, 10},
		Code: pointer("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), Score: 0.1, Visits: 9007199254740993, Small: -3,
		Seen: pointer(time.Date(2024, 2, 29, 23, 59, 59, 999999000, time.UTC))}
)

func seed(w world) error {
	first := ann
	if err := w.Create(&first).Error; err != nil {
		return err
	}
	var authors []Author
	for i := range 12 {
		authors = append(authors, Author{Name: fmt.Sprint("Name ", i), Email: pointer(fmt.Sprintf("user%d@x.org", i)), Born: pointer(base.AddDate(0, 0, i*400)),
			Balance: pointer(fmt.Sprintf("%.2f", float64(i)*10.25)), Active: true, Settings: json.RawMessage(fmt.Sprintf(`{"n": %d}`, i)),
			Score: float64(i) / 4, Visits: int64(i), Seen: pointer(base.AddDate(0, 0, i))})
	}
	if err := w.CreateInBatches(&authors, 5).Error; err != nil {
		return err
	}
	if err := w.Select("Name").Create(&Author{Name: "Nobody"}).Error; err != nil {
		return err
	}
	tags := []Tag{{Label: "red"}, {Label: "blue"}}
	if err := w.Create(&tags).Error; err != nil {
		return err
	}
	for i := range 9 {
		book := Book{Title: fmt.Sprint("Title ", i), Pages: 100 + i, Price: float64(i) + 0.99, AuthorID: pointer(uint(1 + i%3)), Tags: []Tag{tags[i%2]}}
		if err := w.Create(&book).Error; err != nil {
			return err
		}
	}
	return nil
}

func find(conditions ...any) func(w world) (any, error) {
	return func(w world) (any, error) {
		var authors []Author
		err := w.Order("id").Find(&authors, conditions...).Error
		return authors, err
	}
}

func reads() {
	same("select", "all columns", find())
	same("select", "maps", func(w world) (any, error) {
		var rows []map[string]any
		err := w.Table("author").Order("id").Find(&rows).Error
		return rows, err
	})
	same("select", "row by row", func(w world) (any, error) {
		rows, err := w.Model(&Author{}).Order("name").Rows()
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var authors []Author
		for rows.Next() {
			var author Author
			if err := w.ScanRows(rows, &author); err != nil {
				return nil, err
			}
			authors = append(authors, author)
		}
		return authors, rows.Err()
	})
	for name, value := range map[string]any{"name": ann.Name, "email": ann.Email, "born": ann.Born, "balance": ann.Balance, "active": false, "avatar": ann.Avatar,
		"code": ann.Code, "score": ann.Score, "visits": ann.Visits, "small": ann.Small, "seen": ann.Seen} {
		same("where", name, find(name+" = ?", value))
	}
	same("where", "struct", find(&Author{Name: "Name 3", Visits: 3}))
	same("where", "IN", find("name IN ?", []string{"Name 1", "Name 2"}))
	same("where", "patterns", find("name LIKE ? AND email ILIKE ?", "Name 1%", "%USER1%"))
	same("where", "ranges", find("born BETWEEN ? AND ? OR balance > ? OR seen < ?", "1975-01-01", "1982-01-01", 100, base.AddDate(0, 0, 3)))
	same("where", "JSON", find("settings ->> ? = ?", "theme", "dark"))
	same("null", "IS NULL", find("balance IS NULL"))
	same("null", "row of NULLs", find("name = ?", "Nobody"))
	same("page", "sorted, with a count", func(w world) (any, error) {
		var (
			authors []Author
			total   int64
		)
		query := w.Model(&Author{}).Where("visits >= ?", 2)
		if err := query.Count(&total).Error; err != nil {
			return nil, err
		}
		err := query.Order("balance DESC NULLS LAST, name").Limit(4).Offset(3).Find(&authors).Error
		return []any{total, authors}, err
	})
	same("page", "in batches", func(w world) (any, error) {
		var authors, batch []Author
		err := w.FindInBatches(&batch, 5, func(*gorm.DB, int) error { authors = append(authors, batch...); return nil }).Error
		return authors, err
	})
	for _, call := range []string{"count(*)", "sum(balance)", "avg(score)", "min(born)", "max(seen)", "array_agg(name ORDER BY name)", "sum(visits)"} {
		same("aggregate", call, func(w world) (any, error) {
			row := map[string]any{}
			err := w.Model(&Author{}).Select(call + " AS value").Take(&row).Error
			return row, err
		})
	}
	same("aggregate", "groups", func(w world) (any, error) {
		var rows []map[string]any
		err := w.Model(&Author{}).Select("small, count(*) AS n, max(name) AS last").Group("small").Having("count(*) >= ?", 1).Order("small").Find(&rows).Error
		return rows, err
	})
}

func relations() {
	same("relation", "one to many", func(w world) (any, error) {
		var authors []Author
		err := w.Preload("Books", "pages > ?", 102).Preload("Books.Tags").Order("id").Limit(5).Find(&authors).Error
		return authors, err
	})
	same("relation", "join", func(w world) (any, error) {
		var books []Book
		err := w.Joins("Author").Where(`"Author".name LIKE ?`, "Name%").Order("title").Find(&books).Error
		return books, err
	})
	same("relation", "many to many", func(w world) (any, error) {
		var tag Tag
		var books []Book
		if err := w.First(&tag, "label = ?", "red").Error; err != nil {
			return nil, err
		}
		err := w.Joins("JOIN book_tag ON book_tag.book_id = book.id AND book_tag.tag_id = ?", tag.ID).Preload("Tags").Order("price").Find(&books).Error
		return books, err
	})
	same("relation", "a foreign key without a row", func(w world) (any, error) {
		return nil, w.Create(&Book{Title: "x", AuthorID: pointer(uint(999))}).Error
	}, "23503")
}

func writes() {
	same("write", "create", func(w world) (any, error) {
		author := ann
		author.Email = pointer("new@x.org")
		if err := w.Create(&author).Error; err != nil {
			return nil, err
		}
		return find("id = ?", author.ID)(w)
	})
	same("write", "unique", func(w world) (any, error) { author := ann; return nil, w.Create(&author).Error }, "23505")
	same("write", "too long", func(w world) (any, error) {
		return nil, w.Model(&Author{ID: 1}).Update("name", strings.Repeat("x", 61)).Error
	}, "22001")
	same("write", "save", func(w world) (any, error) {
		var author Author
		if err := w.First(&author, "email = ?", "new@x.org").Error; err != nil {
			return nil, err
		}
		author.Balance, author.Settings, author.Avatar, author.Small = pointer("0.05"), json.RawMessage(`{"theme": "light"}`), nil, 7
		if err := w.Save(&author).Error; err != nil {
			return nil, err
		}
		return find("id = ?", author.ID)(w)
	})
	same("write", "update of many, returning", func(w world) (any, error) {
		var authors []Author
		err := w.Model(&authors).Clauses(clause.Returning{}).Where("name = ?", "Name 3").
			Updates(map[string]any{"active": false, "visits": gorm.Expr("visits + ?", 2), "balance": gorm.Expr("balance * 2")}).Error
		return authors, err
	})
	same("write", "upsert", func(w world) (any, error) {
		author := Author{Name: "Upserted", Email: pointer("user5@x.org"), Active: true}
		err := w.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&author).Error
		if err != nil {
			return nil, err
		}
		return find("email = ?", "user5@x.org")(w)
	})
	same("write", "first or create", func(w world) (any, error) {
		var author Author
		err := w.Where(Author{Email: pointer("maker@x.org")}).Attrs(Author{Name: "Maker", Active: true}).FirstOrCreate(&author).Error
		return author, err
	})
	same("write", "delete, with its children", func(w world) (any, error) {
		done := w.Where("email = ?", "user0@x.org").Delete(&Author{})
		var books []Book
		err := w.Order("id").Find(&books).Error
		return []any{done.RowsAffected, books}, errors.Join(done.Error, err)
	})
}

func transactions() {
	away := errors.New("rolled back")
	same("transaction", "savepoint, rollback, lock", func(w world) (any, error) {
		var inside []Author
		err := w.Transaction(func(outer *gorm.DB) error {
			var author Author
			if err := outer.Clauses(clause.Locking{Strength: "UPDATE"}).First(&author, "email = ?", "ann@x.org").Error; err != nil {
				return err
			}
			if err := outer.Model(&author).Update("name", "Changed").Error; err != nil {
				return err
			}
			err := outer.Transaction(func(inner *gorm.DB) error {
				return errors.Join(inner.Where("name = ?", "Changed").Delete(&Author{}).Error, away)
			})
			if !errors.Is(err, away) {
				return err
			}
			return errors.Join(outer.Find(&inside, "name = ?", "Changed").Error, away)
		})
		if !errors.Is(err, away) {
			return nil, err
		}
		var left int64
		return []any{inside, left}, w.Model(&Author{}).Where("name = ?", "Changed").Count(&left).Error
	})
}

// columnTypes is what GORM's migrator reads from the catalogs.
func columnTypes(w world) (any, error) {
	types, err := w.Migrator().ColumnTypes(&Author{})
	var columns []any
	for _, column := range types {
		length, hasLength := column.Length()
		precision, scale, hasPrecision := column.DecimalSize()
		nullable, _ := column.Nullable()
		value, hasDefault := column.DefaultValue()
		full, _ := column.ColumnType()
		columns = append(columns, []any{column.Name(), column.DatabaseTypeName(), full, length, hasLength, precision, scale, hasPrecision, nullable, value, hasDefault,
			column.ScanType().String()})
	}
	return columns, err
}

func migrate(models ...any) func(w world) (any, error) {
	return func(w world) (any, error) {
		w.statements.ddl = nil
		err := w.AutoMigrate(models...)
		return w.statements.ddl, err
	}
}

func migration() {
	same("metadata", "ColumnTypes()", columnTypes)
	same("metadata", "AutoMigrate() finds nothing to do", migrate(&Author{}, &Book{}, &Tag{}))
	same("migrate", "a new column, a longer one, an index", migrate(&LaterAuthor{}))
	encrypt("after it")
	same("metadata", "ColumnTypes() after it", columnTypes)
	same("metadata", "AutoMigrate() finds nothing to do after it", migrate(&LaterAuthor{}))
	same("write", "the longer column", func(w world) (any, error) {
		author := LaterAuthor{Name: strings.Repeat("x", 200)}
		err := w.Create(&author).Error
		return author.Note, err
	})
	// sessions that have prepared a query of all columns cannot go on with it
	worlds = []world{open("twin_plain"), open("twin_enc")}
	same("select", "all rows after it", find())
}

func main() {
	worlds = []world{open("twin_plain"), open("twin_enc")}
	for _, w := range worlds {
		must(w.AutoMigrate(&Author{}, &Book{}, &Tag{}))
		must(seed(w))
	}
	result("migrate", "the ORM makes plain columns", leftPlain() != "", leftPlain(), "")
	encrypt("then")
	reads()
	relations()
	writes()
	transactions()
	migration()
	fmt.Printf("1..%d\n", count)
	if failed > 0 || count == 0 {
		os.Exit(1)
	}
}
