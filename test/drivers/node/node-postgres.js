// node-postgres sees encrypted columns as native values.  It sends and fetches text, and gives parameters no type; binary results it
// decodes as UTF-8, which breaks those of plain columns, too.
"use strict";

const { buffer } = require("node:stream/consumers");
const { pipeline } = require("node:stream/promises");
const { Readable } = require("node:stream");
const util = require("node:util");
const { Client } = require("pg");
const { from, to } = require("pg-copy-streams");
const Cursor = require("pg-cursor");

const TRANSPARENT = process.env.TRANSPARENT !== "off";
let count = 0;
let failed = 0;

class Failure {
	constructor(error) {
		this.state = error.code || String(error);
		if (process.env.VERBOSE) console.log(`# ${error.message}`);
	}
}

const outcome = (promise) => promise.catch((error) => new Failure(error));

// One check: what two functions give must have the same types and value, or there must be no such operator.
async function same(label, got, expected) {
	got = await outcome(got());
	expected = await outcome(expected());
	const error = expected instanceof Failure;
	const good = util.isDeepStrictEqual(got, expected) && (!error || expected.state === "42883");
	console.log(`${good ? "ok" : "not ok"} ${++count} - node-postgres ${label}${good && error ? " # both fail: 42883" : ""}`);
	if (good) return;
	failed++;
	for (const [name, value] of [["got", got], ["expected", expected]])
		console.log(`# ${name}: ${util.inspect(value, { breakLength: Infinity })}`.replaceAll("\n", "\n# "));
}

const typed = (mark, name) => `CAST(${mark} AS ${name})`;
// with a cast, unless its type is inferred to be the base type
const param = (mark, name) => (TRANSPARENT ? mark : typed(mark, name));

class Program {
	constructor(client) {
		Object.assign(this, { client, statements: 0 });
	}

	both(kind, what, get) {
		return same(`${kind}: ${what}`, () => get("enc"), () => get("plain"));
	}

	// Always a named, so a prepared, statement.
	async rows(text, ...values) {
		return (await this.client.query({ name: `statement ${++this.statements}`, text, values, rowMode: "array" })).rows;
	}

	async one(text, ...values) {
		return (await this.rows(text, ...values))[0][0];
	}

	// What a column is fetched as: without transparent results as text.
	fetched(table, name) {
		return TRANSPARENT || table === "enc" ? `c_${name}` : `shown(c_${name})`;
	}

	async column(name) {
		const c = `c_${name}`;
		const [value, other] = [await this.one(`SELECT ${c} FROM plain WHERE id = 1`), await this.one(`SELECT ${c} FROM plain WHERE id = 2`)];

		await this.both("select", name, (t) => this.one(`SELECT ${this.fetched(t, name)} FROM ${t} WHERE id = 1`));
		await this.both("null", name, (t) => this.one(`SELECT ${this.fetched(t, name)} FROM ${t} WHERE id = 3`));
		// row 2, as a Date has no microseconds
		await this.both("where", `${name}, typed`, (t) => this.rows(`SELECT id FROM ${t} WHERE ${c} = ${typed("$1", name)}`, other));
		// untyped text, good with encrypted types, whatever the setting says
		await this.both("where", name, (t) => this.rows(`SELECT id FROM ${t} WHERE ${c} = $1`, other));
		await this.both("write", name, async (t) => {
			const [result, mark] = [this.fetched(t, name), param("$1", name)];
			await this.rows(`DELETE FROM ${t} WHERE id = 10`);
			return [
				await this.one(`INSERT INTO ${t} (id, ${c}) VALUES (10, ${mark}) RETURNING ${result}`, value),
				await this.one(`UPDATE ${t} SET ${c} = ${mark} WHERE id = 10 RETURNING ${result}`, other),
				await this.one(`SELECT ${c}::text FROM ${t} WHERE id = 10`),
				await this.one(`UPDATE ${t} SET ${c} = ${mark} WHERE id = 10 RETURNING ${result}`, null),
			];
		});
		await this.metadata(name);
	}

	// What a result says of a column.
	async metadata(name) {
		const described = async (table) => {
			const { fields } = await this.client.query(`SELECT c_${name} FROM ${table} LIMIT 0`);
			const { rows } = await this.client.query("SELECT $1::regtype::text AS type", [fields[0].dataTypeID]);
			return [fields[0].name, rows[0].type];
		};
		await same(`metadata: ${name}`, () => described("enc"),
			async () => (TRANSPARENT ? described("plain") : [`c_${name}`, `encrypted_${name}`]));
	}

	async arrays() {
		await this.both("array", "cast", (t) => this.one(`SELECT c_array::int4[] FROM ${t} WHERE id = 1`));
		await this.both("array", "parameter", (t) =>
			this.one(`UPDATE ${t} SET c_array = $1::int4[] WHERE id = 2 RETURNING c_array::int4[]`, [5, null]));
		await this.both("array", "aggregate", (t) => this.one(`SELECT array_agg(c_int4 ORDER BY id)${TRANSPARENT ? "" : "::int4[]"} FROM ${t}`));
		// without transparent results by its text, which the driver does not look into
		const value = await outcome(this.one("SELECT c_array FROM enc WHERE id = 1"));
		await same(`array: as it is: ${typeof value}`, async () => value,
			async () => (TRANSPARENT || Array.isArray(value) ? [1, null, -3] : "{1,NULL,-3}"));
	}

	async portal(names) {
		await this.both("cursor", "portal", async (t) => {
			const columns = names.map((name) => this.fetched(t, name)).join(", ");
			const cursor = this.client.query(new Cursor(`SELECT ${columns} FROM ${t} WHERE id < $1 ORDER BY id`, [4], { rowMode: "array" }));
			const found = [];
			for (let rows = await cursor.read(2); rows.length; rows = await cursor.read(2)) found.push(...rows);
			await cursor.close();
			return found;
		});
	}

	async transaction() {
		await this.both("transaction", "savepoint, rollback", async (t) => {
			await this.client.query("BEGIN");
			try {
				await this.rows(`UPDATE ${t} SET c_int4 = ${param("$1", "int4")}, c_text = ${param("$2", "text")} WHERE id = 1`, 1, "changed");
				await this.client.query("SAVEPOINT s");
				await this.rows(`DELETE FROM ${t} WHERE c_int4 = ${param("$1", "int4")}`, 1);
				await this.client.query("ROLLBACK TO s");
				const inside = await this.one(`SELECT c_text::text FROM ${t} WHERE id = 1`);
				await this.client.query("ROLLBACK");
				return [inside, await this.one(`SELECT c_text::text FROM ${t} WHERE id = 1`)];
			} finally {
				await this.client.query("ROLLBACK");
			}
		});
	}

	async copies(names, format) {
		const columns = names.map((name) => `c_${name}`).join(", ");
		const options = `(FORMAT ${format})`;
		const out = (query) => buffer(this.client.query(to(`COPY (${query}) TO STDOUT ${options}`)));
		await this.both("copy", `out, ${format}`, (t) => out(`SELECT ${columns} FROM ${t} WHERE id < 4 ORDER BY id`));
		const data = await out(`SELECT id + 20, ${columns} FROM plain WHERE id < 4 ORDER BY id`);
		await this.both("copy", `in, ${format}`, async (t) => {
			await this.client.query(`DELETE FROM ${t} WHERE id > 20`);
			await pipeline(Readable.from([data]), this.client.query(from(`COPY ${t} (id, ${columns}) FROM STDIN ${options}`)));
			return this.rows(`SELECT ${t}::text FROM ${t} WHERE id > 20 ORDER BY id`);
		});
	}
}

async function main() {
	process.env.TZ = "UTC";
	const client = new Client();
	await client.connect();
	await client.query("SET timezone = 'UTC'");
	const names = (await client.query("SELECT name FROM kind ORDER BY position")).rows.map((row) => row.name);
	const program = new Program(client);
	for (const name of names) await program.column(name);
	await program.arrays();
	await program.portal(names);
	await program.transaction();
	await program.copies(names, "text");
	await program.copies(names, "binary");
	await client.end();
	console.log(`1..${count}`);
	process.exitCode = failed || !count ? 1 : 0;
}

main();
