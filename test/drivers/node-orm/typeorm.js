// TypeORM: entities with base types over tables that are encrypted later.  Its synchronize() compares them with what the catalogs say, and
// drops and adds columns whose types differ; so a column is made longer as its users write it into a migration.
"use strict";

const { Between, DataSource, EntitySchema, ILike, In, IsNull, LessThan, Like, MoreThan } = require("typeorm");
const { Twins, anonymous } = require("./twins");

const DAY = 24 * 3600 * 1000;

const entities = (longer) => [
	new EntitySchema({
		name: "author",
		columns: {
			id: { type: "int", primary: true, generated: true },
			name: { type: "varchar", length: longer ? 200 : 60 },
			email: { type: "varchar", length: 120, unique: true, nullable: true },
			born: { type: "date", nullable: true },
			balance: { type: "numeric", precision: 12, scale: 2, nullable: true },
			active: { type: "boolean", default: true },
			settings: { type: "jsonb", nullable: true },
			avatar: { type: "bytea", nullable: true },
			code: { type: "uuid", nullable: true },
			score: { type: "float", nullable: true },
			visits: { type: "bigint", default: 0 },
			seen: { type: "timestamptz", precision: 3, nullable: true },
			sizes: { type: "int", array: true, nullable: true },
			...(longer && { note: { type: "text", default: "none" } }),
		},
		indices: longer ? [{ name: "author_born", columns: ["born"] }] : [],
		relations: { books: { type: "one-to-many", target: "book", inverseSide: "author" } },
	}),
	new EntitySchema({
		name: "book",
		columns: {
			id: { type: "int", primary: true, generated: true },
			title: { type: "text" },
			pages: { type: "smallint", nullable: true },
			price: { type: "numeric", precision: 8, scale: 2, nullable: true },
		},
		relations: {
			author: { type: "many-to-one", target: "author", inverseSide: "books", onDelete: "CASCADE", joinColumn: { name: "author_id" } },
			tags: { type: "many-to-many", target: "tag", joinTable: { name: "book_tag" } },
		},
	}),
	new EntitySchema({ name: "tag", columns: { id: { type: "int", primary: true, generated: true }, label: { type: "varchar", length: 20, unique: true } } }),
];

async function connect(schema, longer) {
	const source = new DataSource({
		type: "postgres", schema, host: process.env.PGHOST, port: Number(process.env.PGPORT), username: process.env.PGUSER,
		password: process.env.PGPASSWORD, database: process.env.PGDATABASE, entities: entities(longer), installExtensions: false,
		extra: { options: `-c search_path=${schema},public` },
	});
	await source.initialize();
	return { schema, source, authors: source.getRepository("author"), books: source.getRepository("book"), tags: source.getRepository("tag"),
		close: () => source.destroy() };
}

const fields = {
	name: "Ann O'Neil", email: "ann@x.org", born: "1980-02-29", balance: "1234.50", active: false, settings: { theme: "dark", sizes: [1, 2.5] },
	avatar: Buffer.from([0, 255, 10]), code: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", score: 0.1, visits: "9007199254740993",
	seen: new Date("2024-02-29T23:59:59.999Z"), sizes: [1, -3],
};

// Statements that synchronize() would run.
const pending = async ({ source }) => anonymous((await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query));

async function seed({ authors, books, tags }) {
	await authors.save({ ...fields });
	await authors.save([...Array(12).keys()].map((i) => ({
		name: `Name ${i}`, email: `user${i}@x.org`, born: new Date(i * 400 * DAY).toISOString().slice(0, 10), balance: i * 10.25, active: i % 2 === 0,
		settings: { n: i }, score: i / 4, visits: i, seen: new Date(i * DAY), sizes: [i, i + 1],
	})));
	await authors.save({ name: "Nobody" });
	const [red, blue] = await tags.save([{ label: "red" }, { label: "blue" }]);
	await books.save([...Array(9).keys()].map((i) => ({ title: `Title ${i}`, pages: 100 + i, price: i + 0.99, author: { id: 1 + (i % 3) }, tags: [i % 2 ? red : blue] })));
}

async function reads(twins) {
	const find = (where) => ({ authors }) => authors.find({ where, order: { id: "ASC" } });
	await twins.same("select", "all columns", find({}));
	await twins.same("select", "stream", async ({ authors }) => {
		const rows = [];
		for await (const row of await authors.createQueryBuilder("a").orderBy("a.id").stream()) rows.push(row);
		return rows;
	});
	for (const [name, value] of Object.entries(fields)) if (name !== "settings" && name !== "sizes") await twins.same("where", name, find({ [name]: value }));
	await twins.same("where", "patterns", find([{ name: Like("Name 1%") }, { email: ILike("%USER2%") }]));
	await twins.same("where", "IN", find({ name: In(["Name 1", "Name 2"]), visits: In(["1", "2"]) }));
	await twins.same("where", "ranges", find([{ born: Between("1975-01-01", "1982-01-01") }, { balance: MoreThan(100) }, { seen: LessThan(new Date(3 * DAY)) }]));
	await twins.same("where", "JSON", ({ authors }) => authors.createQueryBuilder("a").where("a.settings ->> 'theme' = :theme", { theme: "dark" }).getMany());
	await twins.same("null", "IS NULL", find({ balance: IsNull() }));
	await twins.same("null", "row of NULLs", find({ name: "Nobody" }));
	await twins.same("page", "sorted, with a count", ({ authors }) =>
		authors.findAndCount({ order: { balance: { direction: "DESC", nulls: "LAST" }, name: "ASC" }, take: 4, skip: 3 }));
	for (const call of ["sum", "average", "minimum", "maximum"]) await twins.same("aggregate", call, ({ authors }) => authors[call]("balance"));
	await twins.same("aggregate", "groups", ({ authors }) => authors.createQueryBuilder("a")
		.select(["a.active AS active", "avg(a.score) AS mean", "array_agg(a.name ORDER BY a.name) AS names", "max(a.born) AS born"])
		.groupBy("a.active").having("count(*) > :n", { n: 1 }).orderBy("a.active").getRawMany());
}

async function relations(twins) {
	await twins.same("relation", "one to many", ({ authors }) =>
		authors.find({ relations: { books: true }, where: { books: { pages: MoreThan(102) } }, order: { id: "ASC", books: { title: "DESC" } } }));
	await twins.same("relation", "many to many", ({ books }) =>
		books.find({ relations: { tags: true, author: true }, where: { tags: { label: "red" } }, order: { title: "ASC" } }));
	await twins.same("relation", "page of parents with children", ({ authors }) =>
		authors.find({ relations: { books: true }, order: { name: "ASC", books: { price: "ASC" } }, take: 3 }));
	await twins.same("relation", "a foreign key without a row", ({ books }) => books.save({ title: "x", author: { id: 999 } }), "23503");
}

async function writes(twins) {
	await twins.same("write", "save", ({ authors }) => authors.save({ ...fields, email: "new@x.org" }));
	await twins.same("write", "unique", ({ authors }) => authors.insert({ ...fields }), "23505");
	await twins.same("write", "too long", ({ authors }) => authors.update({ id: 1 }, { name: "x".repeat(61) }), "22001");
	await twins.same("write", "update", async ({ authors }) => {
		const row = await authors.findOneBy({ email: "new@x.org" });
		await authors.save({ ...row, balance: "0.05", settings: { ...row.settings, theme: "light" }, avatar: null, seen: new Date(DAY), sizes: [] });
		return authors.findOneBy({ id: row.id });
	});
	await twins.same("write", "returning", ({ authors }) => authors.createQueryBuilder().update().set({ active: false })
		.where("visits < :n", { n: 3 }).returning("*").execute().then(({ raw }) => raw.sort((a, b) => a.id - b.id)));
	await twins.same("write", "increment", async ({ authors }) => {
		await authors.increment({ name: "Name 3" }, "visits", 2);
		return authors.findOneBy({ name: "Name 3" });
	});
	await twins.same("write", "upsert", async ({ authors }) => {
		await authors.upsert([{ name: "Upserted", email: "user5@x.org" }, { name: "Inserted", email: "user99@x.org" }], ["email"]);
		return authors.find({ where: { name: In(["Upserted", "Inserted"]) }, order: { name: "ASC" } });
	});
	await twins.same("write", "delete, with its children", async ({ authors, books }) =>
		[await authors.delete({ email: "user0@x.org" }), await books.find({ order: { id: "ASC" } })]);
}

async function transactions(twins) {
	await twins.same("transaction", "savepoint, rollback, lock", async ({ source, authors }) => {
		const outside = new Error("rolled back");
		let inside;
		await source.transaction(async (outer) => {
			const row = await outer.findOne("author", { where: { email: "ann@x.org" }, lock: { mode: "pessimistic_write" } });
			await outer.save("author", { ...row, name: "Changed" });
			await outer.transaction(async (inner) => {
				await inner.delete("author", { name: "Changed" });
				throw outside;
			}).catch((error) => { if (error !== outside) throw error; });
			inside = await outer.findOneBy("author", { name: "Changed" });
			throw outside;
		}).catch((error) => { if (error !== outside) throw error; });
		return [inside, await authors.countBy({ name: "Changed" })];
	});
}

async function migration(twins) {
	await twins.same("metadata", "synchronize() finds nothing to do", pending);
	for (const [i, world] of twins.worlds.entries()) {
		await world.close();
		twins.worlds[i] = await connect(world.schema, true);
	}
	await twins.same("migrate", "a new column, a longer one, an index", async (world) => {
		await world.source.query("ALTER TABLE author ALTER COLUMN name TYPE character varying(200)");
		const statements = await pending(world);
		await world.source.synchronize();
		return statements;
	});
}

new Twins("typeorm", (schema) => connect(schema, false)).run(async (twins) => {
	for (const world of twins.worlds) {
		await world.source.synchronize();
		await seed(world);
	}
	await twins.encrypt();
	await reads(twins);
	await relations(twins);
	await writes(twins);
	await transactions(twins);
	await migration(twins);
	await twins.sql("CALL encrypt_twin()");
	await twins.encrypted("after it");
	await twins.same("metadata", "synchronize() finds nothing to do after it", pending);
	await twins.same("select", "all rows after it", ({ authors }) => authors.find({ order: { id: "ASC" } }));
});
