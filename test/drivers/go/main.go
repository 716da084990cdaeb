// Command drivers checks that pgx sees encrypted columns as native values: in the binary and the text protocol, and in the simple one.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

var (
	ctx         = context.Background()
	transparent = os.Getenv("TRANSPARENT") != "off"
	count       int
	failed      int
)

// program is the checks in one protocol; mode is what pgx takes as first arguments of a query to speak it.
type program struct {
	conn     *pgx.Conn
	protocol string
	mode     []any
	names    []string
}

// same is one check: what two functions return must have the same types and value, or there must be no such operator.
func (p *program) same(kind, what string, got, expected func() (any, error)) {
	enc, plain := outcome(got()), outcome(expected())
	state, isError := plain.(failure)
	good := reflect.DeepEqual(enc, plain) && (!isError || state == "42883")
	count++
	result, note := "ok", ""
	if !good {
		result = "not ok"
		failed++
	} else if isError {
		note = " # both fail: 42883"
	}
	fmt.Printf("%s %d - pgx %s %s: %s%s\n", result, count, p.protocol, kind, what, note)
	if !good {
		fmt.Printf("#      got: %T %+v\n# expected: %T %+v\n", enc, enc, plain, plain)
	}
}

func (p *program) both(kind, what string, get func(table string) (any, error)) {
	p.same(kind, what, func() (any, error) { return get("enc") }, func() (any, error) { return get("plain") })
}

type failure string

func outcome(value any, err error) any {
	var state *pgconn.PgError
	switch {
	case err == nil:
		return value
	case os.Getenv("VERBOSE") != "":
		fmt.Println("#", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if errors.As(err, &state) {
		return failure(state.Code)
	}
	return failure(err.Error())
}

func (p *program) rows(sql string, args ...any) ([][]any, error) {
	rows, err := p.conn.Query(ctx, sql, append(append([]any{}, p.mode...), args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
}

func (p *program) one(sql string, args ...any) (any, error) {
	rows, err := p.rows(sql, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0][0], nil
}

func (p *program) must(sql string, args ...any) any {
	value, err := p.one(sql, args...)
	if err != nil {
		panic(err)
	}
	return value
}

// native is a value of the base type, as a parameter; the simple protocol has only the Go type to go by.
func (p *program) native(column string, row int) any {
	value := p.must(fmt.Sprintf("SELECT %s FROM plain WHERE id = %d", column, row))
	if p.protocol == "simple" {
		switch known := value.(type) {
		case [16]byte:
			return pgtype.UUID{Bytes: known, Valid: true}
		case map[string]any:
			text, err := json.Marshal(known)
			if err != nil {
				panic(err)
			}
			return string(text)
		}
	}
	return value
}

func typed(mark, name string) string { return "CAST(" + mark + " AS " + name + ")" }

// param is a parameter in SQL: with a cast, unless its type is inferred to be the base type.
func param(mark, name string) string {
	if transparent {
		return mark
	}
	return typed(mark, name)
}

// fetched is what a column is selected as: a type that pgx does not know comes as text.
func fetched(table, name string) string {
	if transparent || table == "enc" {
		return "c_" + name
	}
	return "shown(c_" + name + ")"
}

func (p *program) column(name string) {
	c := "c_" + name
	value, other := p.native(c, 1), p.native(c, 2)
	for row, kind := range map[int]string{1: "select", 3: "null"} {
		p.both(kind, name, func(t string) (any, error) {
			return p.one(fmt.Sprintf("SELECT %s FROM %s WHERE id = %d", fetched(t, name), t, row))
		})
	}
	p.both("where", name+", typed", func(t string) (any, error) {
		return p.rows(fmt.Sprintf("SELECT id FROM %s WHERE %s = %s", t, c, typed("$1", name)), value)
	})
	if transparent {
		p.both("where", name, func(t string) (any, error) {
			return p.rows(fmt.Sprintf("SELECT id FROM %s WHERE %s = $1", t, c), value)
		})
	}
	p.both("write", name, func(t string) (any, error) {
		result, mark := fetched(t, name), param("$1", name)
		statements := []struct {
			sql  string
			args []any
		}{
			{fmt.Sprintf("DELETE FROM %s WHERE id = 10", t), nil},
			{fmt.Sprintf("INSERT INTO %s (id, %s) VALUES (10, %s) RETURNING %s", t, c, mark, result), []any{value}},
			{fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = 10 RETURNING %s", t, c, mark, result), []any{other}},
			{fmt.Sprintf("SELECT %s::text FROM %s WHERE id = 10", c, t), nil},
			{fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = 10 RETURNING %s", t, c, mark, result), []any{nil}},
		}
		var found []any
		for _, statement := range statements {
			value, err := p.one(statement.sql, statement.args...)
			if err != nil {
				return nil, err
			}
			found = append(found, value)
		}
		return found, nil
	})
}

func (p *program) arrays() {
	p.both("array", "cast", func(t string) (any, error) { return p.one("SELECT c_array::int4[] FROM " + t + " WHERE id = 1") })
	p.both("array", "parameter", func(t string) (any, error) {
		five := int32(5)
		return p.one("UPDATE "+t+" SET c_array = $1::int4[] WHERE id = 2 RETURNING c_array::int4[]", []*int32{&five, nil})
	})
	// without transparent results by its text, which pgx does not look into
	value, err := p.one("SELECT c_array FROM enc WHERE id = 1")
	p.same("array", fmt.Sprintf("as it is: %T", value), func() (any, error) { return value, err }, func() (any, error) {
		if list, ok := value.([]any); ok && reflect.DeepEqual(list, []any{int32(1), nil, int32(-3)}) {
			return value, nil
		}
		if transparent {
			return []any{int32(1), nil, int32(-3)}, nil
		}
		return "{1,NULL,-3}", nil
	})
}

// scanned: into variables of the application's types.
func (p *program) scanned() {
	type record struct {
		Text    *string
		Int8    int64
		Numeric pgtype.Numeric
		Date    time.Time
		Bytea   []byte
		Jsonb   struct{ K []any }
	}
	names := []string{"text", "int8", "numeric", "date", "bytea", "jsonb"}
	for i, name := range names {
		names[i] = param("c_"+name, name) + " AS " + name
	}
	p.both("select", "into a struct", func(t string) (any, error) {
		rows, err := p.conn.Query(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t+" WHERE id = 1", p.mode...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[record])
	})
}

func (p *program) batch() {
	p.both("write", "batch", func(t string) (any, error) {
		batch := &pgx.Batch{}
		batch.Queue("DELETE FROM " + t + " WHERE id = 11")
		batch.Queue("INSERT INTO "+t+" (id, c_text, c_date) VALUES (11, "+param("$1", "text")+", "+param("$2", "date")+")", "a", time.Unix(0, 0).UTC())
		batch.Queue("UPDATE "+t+" SET c_text = "+param("$1", "text")+" WHERE id = 11", "b")
		if err := p.conn.SendBatch(ctx, batch).Close(); err != nil {
			return nil, err
		}
		return p.rows("SELECT c_text::text, c_date::date FROM " + t + " WHERE id = 11")
	})
}

func (p *program) cursor() {
	p.both("cursor", "server-side", func(t string) (any, error) {
		columns := make([]string, len(p.names))
		for i, name := range p.names {
			columns[i] = fetched(t, name)
		}
		var found [][]any
		err := pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "DECLARE portal CURSOR FOR SELECT "+strings.Join(columns, ", ")+" FROM "+t+" WHERE id < 4 ORDER BY id"); err != nil {
				return err
			}
			for _, fetch := range []string{"FETCH 2 FROM portal", "FETCH ALL FROM portal"} {
				rows, err := p.rows(fetch)
				if err != nil {
					return err
				}
				found = append(found, rows...)
			}
			return nil
		})
		return found, err
	})
}

func (p *program) transaction() {
	p.both("transaction", "savepoint, rollback", func(t string) (any, error) {
		text := "SELECT c_text::text FROM " + t + " WHERE id = 1"
		outer, err := p.conn.Begin(ctx)
		if err != nil {
			return nil, err
		}
		defer outer.Rollback(ctx)
		if _, err = outer.Exec(ctx, "UPDATE "+t+" SET c_int4 = "+param("$1", "int4")+", c_text = "+param("$2", "text")+" WHERE id = 1", 1, "changed"); err != nil {
			return nil, err
		}
		inner, err := outer.Begin(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = inner.Exec(ctx, "DELETE FROM "+t+" WHERE c_int4 = "+param("$1", "int4"), 1); err != nil {
			return nil, err
		}
		inner.Rollback(ctx)
		inside := outcome(p.one(text))
		outer.Rollback(ctx)
		return []any{inside, outcome(p.one(text))}, nil
	})
}

// metadata: what the server says of a prepared statement's results and parameters.
func (p *program) metadata() {
	described := func(table, name string) (any, error) {
		statement, err := p.conn.Prepare(ctx, "", "SELECT c_"+name+" FROM "+table+" WHERE c_int4 = $1 AND c_text = $2")
		if err != nil {
			return nil, err
		}
		return p.one(fmt.Sprintf("SELECT concat_ws(' ', %d::regtype, %d::regtype, %d::regtype)", statement.Fields[0].DataTypeOID,
			statement.ParamOIDs[0], statement.ParamOIDs[1]))
	}
	for _, name := range p.names {
		p.same("metadata", name, func() (any, error) { return described("enc", name) }, func() (any, error) {
			if transparent {
				return described("plain", name)
			}
			return "encrypted_" + name + " encrypted_int4 encrypted_text", nil
		})
	}
}

// copies: COPY as it is on the wire, in two formats, and of Go values, which pgx sends in the binary form of the columns' types.
func (p *program) copies() {
	columns := "c_" + strings.Join(p.names, ", c_")
	out := func(query, format string) ([]byte, error) {
		var found bytes.Buffer
		_, err := p.conn.PgConn().CopyTo(ctx, &found, "COPY ("+query+") TO STDOUT (FORMAT "+format+")")
		return found.Bytes(), err
	}
	stored := func(t string) (any, error) {
		return p.rows("SELECT " + t + "::text FROM " + t + " WHERE id > 20 ORDER BY id")
	}
	for _, format := range []string{"text", "binary"} {
		p.both("copy", "out, "+format, func(t string) (any, error) {
			return out("SELECT "+columns+" FROM "+t+" WHERE id < 4 ORDER BY id", format)
		})
		p.both("copy", "in, "+format, func(t string) (any, error) {
			data, err := out("SELECT id + 20, "+columns+" FROM plain WHERE id < 4", format)
			if err != nil {
				return nil, err
			}
			p.must("DELETE FROM " + t + " WHERE id > 20")
			if _, err = p.conn.PgConn().CopyFrom(ctx, bytes.NewReader(data), "COPY "+t+" (id, "+columns+") FROM STDIN (FORMAT "+format+")"); err != nil {
				return nil, err
			}
			return stored(t)
		})
	}
	if !transparent {
		return
	}
	columns = strings.Replace(columns, " c_timetz,", "", 1) // whose binary form pgx does not know
	p.both("copy", "in, values", func(t string) (any, error) {
		values, err := p.rows("SELECT id + 20, " + columns + " FROM plain WHERE id < 4")
		if err != nil {
			return nil, err
		}
		p.must("DELETE FROM " + t + " WHERE id > 20")
		if _, err = p.conn.CopyFrom(ctx, pgx.Identifier{t}, strings.Split("id, "+columns, ", "), pgx.CopyFromRows(values)); err != nil {
			return nil, err
		}
		return stored(t)
	})
}

func main() {
	conn, err := pgx.Connect(ctx, "")
	if err != nil {
		panic(err)
	}
	for _, p := range []*program{
		{protocol: "binary"},
		{protocol: "text", mode: []any{pgx.QueryResultFormats{pgx.TextFormatCode}}},
		{protocol: "simple", mode: []any{pgx.QueryExecModeSimpleProtocol}},
	} {
		p.conn = conn
		p.must("SET timezone = 'UTC'")
		for _, row := range outcome(p.rows("SELECT name FROM kind ORDER BY position")).([][]any) {
			p.names = append(p.names, row[0].(string))
		}
		for _, name := range p.names {
			p.column(name)
		}
		p.arrays()
		p.scanned()
		p.batch()
		p.cursor()
		p.transaction()
		p.copies()
		if p.protocol == "binary" {
			p.metadata()
		}
	}
	fmt.Printf("1..%d\n", count)
	if failed > 0 || count == 0 {
		os.Exit(1)
	}
}
