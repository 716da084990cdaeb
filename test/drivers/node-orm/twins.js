// What the ORMs' programs share: each runs in two schemas, the second of which is encrypted in the middle of it, and must see the same in both.
"use strict";

const util = require("node:util");
const { Client } = require("pg");

const SCHEMAS = ["twin_plain", "twin_enc"];

class Failure {
	constructor(error) {
		const cause = error.original || error.driverError || error.cause || error;
		this.state = cause.code || error.code || String(error);
		if (process.env.VERBOSE || !cause.code) console.log(`# ${error.stack}`.replaceAll("\n", "\n# "));
	}
}

class Twins {
	// open: makes the ORM's connection to a schema.
	constructor(name, open) {
		Object.assign(this, { name, open, count: 0, failed: 0, worlds: [] });
	}

	async connect() {
		for (const schema of SCHEMAS) this.worlds.push(await this.open(schema));
	}

	result(kind, what, good, values) {
		console.log(`${good ? "ok" : "not ok"} ${++this.count} - ${this.name} ${kind}: ${what}`);
		if (good) return;
		this.failed++;
		for (const [name, value] of Object.entries(values))
			console.log(`# ${name}: ${util.inspect(value, { breakLength: Infinity, depth: 9, maxStringLength: 2000 })}`.replaceAll("\n", "\n# "));
	}

	// One check: what the function gives for the two must have the same types and value.  An error must be one with this SQLSTATE.
	async same(kind, what, get, state) {
		const values = [];
		for (const world of this.worlds) {
			try {
				values.push(await get(world));
			} catch (error) {
				values.push(new Failure(error));
			}
		}
		const good = util.isDeepStrictEqual(values[1], values[0]) && (values[0] instanceof Failure ? values[0].state : undefined) === state;
		this.result(kind, what, good, { got: values[1], expected: values[0] });
	}

	// Has the program, or SQL, left plain columns in the schema that is to be encrypted?
	async encrypted(what) {
		const left = await this.sql("SELECT left_plain()");
		this.result("migrate", `all columns are encrypted ${what}`, left === null, { left });
	}

	async encrypt() {
		const before = await this.sql("SELECT left_plain()");
		this.result("migrate", "the ORM makes plain columns", before !== null, { before });
		await this.sql("CALL encrypt_twin()");
		await this.encrypted("then");
	}

	async sql(text) {
		const client = new Client();
		await client.connect();
		const { rows } = await client.query({ text, rowMode: "array" });
		await client.end();
		return rows.length ? rows[0][0] : undefined;
	}

	async run(program) {
		try {
			await this.connect();
			await program(this);
			for (const world of this.worlds) await world.close();
		} catch (error) {
			console.log(`Bail out! ${error.stack}`.replaceAll("\n", " "));
			process.exit(1);
		}
		console.log(`1..${this.count}`);
		process.exitCode = this.failed || !this.count ? 1 : 0;
	}
}

// The statements that an ORM has sent, without what tells the two apart.
const anonymous = (statements) => statements.map((text) => text.replaceAll(/twin_(plain|enc)/g, "twin"));

module.exports = { Twins, anonymous };
