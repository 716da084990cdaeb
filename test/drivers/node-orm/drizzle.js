// Drizzle: tables with base types over tables that are encrypted later; its migrations, and what "pull" makes of the catalogs.
"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs/promises");
const os = require("node:os");
const path = require("node:path");
const { promisify } = require("node:util");
const { and, asc, avg, between, count, desc, eq, gt, ilike, inArray, isNull, like, lt, max, min, relations, sql, sum } = require("drizzle-orm");
const { drizzle } = require("drizzle-orm/node-postgres");
const pg = require("drizzle-orm/pg-core");
const { generateDrizzleJson, generateMigration } = require("drizzle-kit/api");
const { Pool } = require("pg");
const { Twins, anonymous } = require("./twins");

const DAY = 24 * 3600 * 1000;
const bytea = pg.customType({ dataType: () => "bytea" });

function tables(name, longer) {
	const schema = pg.pgSchema(name);
	const author = schema.table("author", {
		id: pg.serial().primaryKey(),
		name: pg.varchar({ length: longer ? 200 : 60 }).notNull(),
		email: pg.varchar({ length: 120 }).unique("author_email"),
		born: pg.date(),
		balance: pg.numeric({ precision: 12, scale: 2 }),
		active: pg.boolean().default(true),
		settings: pg.jsonb(),
		avatar: bytea(),
		code: pg.uuid(),
		score: pg.doublePrecision(),
		visits: pg.bigint({ mode: "bigint" }).default(sql`0`),
		seen: pg.timestamp({ precision: 3, withTimezone: true }),
		opens: pg.time(),
		sizes: pg.integer().array(),
		...(longer && { note: pg.text().default("none") }),
	}, longer && ((t) => [pg.index("author_born").on(t.born)]));
	const book = schema.table("book", {
		id: pg.serial().primaryKey(),
		title: pg.text().notNull(),
		pages: pg.smallint(),
		price: pg.numeric({ precision: 8, scale: 2, mode: "number" }),
		author_id: pg.integer().references(() => author.id, { onDelete: "cascade" }),
	});
	const tag = schema.table("tag", { id: pg.serial().primaryKey(), label: pg.varchar({ length: 20 }).unique("tag_label") });
	const bookTag = schema.table("book_tag", { book_id: pg.integer().references(() => book.id, { onDelete: "cascade" }), tag_id: pg.integer().references(() => tag.id) },
		(t) => [pg.primaryKey({ name: "book_tag_pk", columns: [t.book_id, t.tag_id] })]);
	return {
		schema, author, book, tag, bookTag,
		authorRelations: relations(author, ({ many }) => ({ books: many(book) })),
		bookRelations: relations(book, ({ one, many }) => ({ author: one(author, { fields: [book.author_id], references: [author.id] }), tags: many(bookTag) })),
		bookTagRelations: relations(bookTag, ({ one }) => ({
			book: one(book, { fields: [bookTag.book_id], references: [book.id] }), tag: one(tag, { fields: [bookTag.tag_id], references: [tag.id] }) })),
	};
}

async function open(name) {
	const pool = new Pool({ options: `-c search_path=${name},public` });
	const world = { name, pool, close: () => pool.end() };
	use(world, false);
	return world;
}

function use(world, longer) {
	world.made = tables(world.name, longer);
	Object.assign(world, world.made, { db: drizzle(world.pool, { schema: world.made }) });
}

// As "drizzle-kit generate" and a run of what it has written.
async function migrate(world) {
	const snapshot = generateDrizzleJson(world.made, world.snapshot?.id);
	const statements = await generateMigration(world.snapshot || generateDrizzleJson({}), snapshot);
	world.snapshot = snapshot;
	for (const statement of statements) if (!/^CREATE SCHEMA /.test(statement)) await world.db.execute(sql.raw(statement));
	return anonymous(statements);
}

// The schema that "drizzle-kit pull" writes of what the catalogs say.
async function pulled({ name }) {
	const { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = process.env;
	const folder = await fs.mkdtemp(path.join(os.tmpdir(), "drizzle-"));
	const config = { dialect: "postgresql", out: path.relative("", folder), schemaFilter: [name], dbCredentials: { host, port: Number(port), user, password, database, ssl: false } };
	try {
		await fs.writeFile(path.join(folder, "drizzle.config.json"), JSON.stringify(config));
		const cli = path.join(path.dirname(require.resolve("drizzle-kit/api")), "bin.cjs");
		await promisify(execFile)(process.execPath, [cli, "pull", "--config", path.relative("", path.join(folder, "drizzle.config.json"))], { timeout: 100000 });
		const text = await fs.readFile(path.join(folder, "schema.ts"), "utf8");
		// the order of tables is no promise
		return text.replaceAll(/(twin)_?(plain|enc)/gi, "twin").split(/\n|, (?=[a-zA-Z]+ *[,}])/).sort();
	} finally {
		await fs.rm(folder, { recursive: true });
	}
}

const fields = {
	name: "Ann O'Neil", email: "ann@x.org", born: "1980-02-29", balance: "1234.50", active: false, settings: { theme: "dark", sizes: [1, 2.5] },
	avatar: Buffer.from([0, 255, 10]), code: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", score: 0.1, visits: 9007199254740993n,
	seen: new Date("2024-02-29T23:59:59.999Z"), opens: "08:30:00", sizes: [1, -3],
};

async function seed({ db, author, book, tag, bookTag }) {
	await db.insert(author).values({ ...fields });
	await db.insert(author).values([...Array(12).keys()].map((i) => ({
		name: `Name ${i}`, email: `user${i}@x.org`, born: new Date(i * 400 * DAY).toISOString().slice(0, 10), balance: String(i * 10.25), active: i % 2 === 0,
		settings: { n: i }, score: i / 4, visits: BigInt(i), seen: new Date(i * DAY), sizes: [i, i + 1],
	})));
	await db.insert(author).values({ name: "Nobody" });
	await db.insert(tag).values([{ label: "red" }, { label: "blue" }]);
	await db.insert(book).values([...Array(9).keys()].map((i) => ({ title: `Title ${i}`, pages: 100 + i, price: i + 0.99, author_id: 1 + (i % 3) })));
	await db.insert(bookTag).values([...Array(9).keys()].map((i) => ({ book_id: i + 1, tag_id: 1 + (i % 2) })));
}

async function reads(twins) {
	const find = (where) => ({ db, author }) => db.select().from(author).where(where(author)).orderBy(author.id);
	await twins.same("select", "all columns", find(() => undefined));
	for (const [name, value] of Object.entries(fields)) if (name !== "settings") await twins.same("where", name, find((a) => eq(a[name], value)));
	await twins.same("where", "prepared", ({ db, author }) =>
		db.select().from(author).where(and(eq(author.email, sql.placeholder("email")), lt(author.balance, sql.placeholder("most")))).prepare("found")
			.execute({ email: "user3@x.org", most: "99.5" }));
	await twins.same("where", "patterns", find((a) => and(like(a.name, "Name 1%"), ilike(a.email, "%USER1%"))));
	await twins.same("where", "IN", find((a) => inArray(a.name, ["Name 1", "Name 2"])));
	await twins.same("where", "ranges", find((a) => and(between(a.born, "1975-01-01", "1982-01-01"), gt(a.seen, new Date(5 * DAY)))));
	await twins.same("where", "JSON", find((a) => sql`${a.settings} ->> 'theme' = ${"dark"}`));
	await twins.same("null", "IS NULL", find((a) => isNull(a.balance)));
	await twins.same("page", "sorted", ({ db, author }) =>
		db.select().from(author).orderBy(sql`${author.balance} DESC NULLS LAST`, asc(author.name)).limit(4).offset(3));
	await twins.same("page", "count", ({ db, author }) => db.$count(author, gt(author.balance, "50")));
	await twins.same("aggregate", "all", ({ db, author: a }) =>
		db.select({ sum: sum(a.balance), mean: avg(a.score), first: min(a.born), last: max(a.seen), most: max(a.visits) }).from(a));
	await twins.same("aggregate", "groups", ({ db, author: a }) => db.select({ active: a.active, n: count(), names: sql`array_agg(${a.name} ORDER BY ${a.name})` })
		.from(a).groupBy(a.active).having(gt(count(), 1)).orderBy(desc(a.active)));
}

async function related(twins) {
	await twins.same("relation", "one to many", ({ db }) => db.query.author.findMany({
		with: { books: { where: (b, { gt: above }) => above(b.pages, 102), orderBy: (b) => desc(b.title) } }, orderBy: (a) => asc(a.id) }));
	await twins.same("relation", "many to many", ({ db }) => db.query.book.findMany({
		with: { author: true, tags: { with: { tag: true } } }, orderBy: (b) => asc(b.title), limit: 5 }));
	await twins.same("relation", "join", ({ db, author, book }) =>
		db.select().from(book).innerJoin(author, eq(book.author_id, author.id)).where(gt(book.price, 3)).orderBy(book.title));
	await twins.same("relation", "a foreign key without a row", ({ db, book }) => db.insert(book).values({ title: "x", author_id: 999 }), "23503");
}

async function writes(twins) {
	await twins.same("write", "insert", ({ db, author }) => db.insert(author).values({ ...fields, email: "new@x.org" }).returning());
	await twins.same("write", "unique", ({ db, author }) => db.insert(author).values({ ...fields }), "23505");
	await twins.same("write", "too long", ({ db, author }) => db.update(author).set({ name: "x".repeat(61) }).where(eq(author.id, 1)), "22001");
	await twins.same("write", "update", ({ db, author: a }) => db.update(a)
		.set({ balance: sql`${a.balance} * 2`, visits: sql`${a.visits} + 1`, settings: { theme: "light" }, avatar: null, seen: new Date(DAY), sizes: [] })
		.where(eq(a.email, "new@x.org")).returning());
	await twins.same("write", "update of many", ({ db, author: a }) => db.update(a).set({ active: false }).where(lt(a.visits, 3n)).returning({ id: a.id, active: a.active }));
	await twins.same("write", "upsert", ({ db, author: a }) => db.insert(a).values([{ name: "Upserted", email: "user5@x.org" }, { name: "Inserted", email: "user99@x.org" }])
		.onConflictDoUpdate({ target: a.email, set: { name: sql`excluded.name` } }).returning());
	await twins.same("write", "delete, with its children", async ({ db, author, book }) =>
		[await db.delete(author).where(eq(author.email, "user0@x.org")).returning(), await db.select().from(book).orderBy(book.id)]);
}

async function transactions(twins) {
	await twins.same("transaction", "savepoint, rollback, lock", async ({ db, author }) => {
		const changed = eq(author.name, "Changed");
		let inside;
		const away = new Error("rolled back");
		const unlessAway = (error) => { if (error !== away) throw error; };
		await db.transaction(async (outer) => {
			await outer.select().from(author).where(eq(author.email, "ann@x.org")).for("update");
			await outer.update(author).set({ name: "Changed" }).where(eq(author.email, "ann@x.org"));
			await outer.transaction(async (inner) => {
				await inner.delete(author).where(changed);
				throw away;
			}).catch(unlessAway);
			inside = await outer.select().from(author).where(changed);
			throw away;
		}).catch(unlessAway);
		return [inside, await db.$count(author, changed)];
	});
}

async function migration(twins) {
	await twins.same("metadata", "pull", pulled);
	for (const world of twins.worlds) use(world, true);
	await twins.same("migrate", "a new column, a longer one, an index", migrate);
	await twins.sql("CALL encrypt_twin()");
	await twins.encrypted("after it");
	await twins.same("metadata", "pull after it", pulled);
	await twins.same("write", "the longer column", ({ db, author }) => db.insert(author).values({ name: "x".repeat(200) }).returning());
	await twins.same("select", "all rows after it", ({ db, author }) => db.select().from(author).orderBy(author.id));
}

new Twins("drizzle", open).run(async (twins) => {
	for (const world of twins.worlds) {
		await migrate(world);
		await seed(world);
	}
	await twins.encrypt();
	await reads(twins);
	await related(twins);
	await writes(twins);
	await transactions(twins);
	await migration(twins);
});
