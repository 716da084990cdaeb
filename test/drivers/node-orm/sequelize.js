// Sequelize: models with base types over tables that are encrypted later.
"use strict";

const { DataTypes, Op, Sequelize } = require("sequelize");
const { Twins, anonymous } = require("./twins");

const DAY = 24 * 3600 * 1000;

function models(sequelize, longer) {
	const plain = { timestamps: false, freezeTableName: true };
	const Author = sequelize.define("author", {
		name: { type: DataTypes.STRING(longer ? 200 : 60), allowNull: false },
		email: { type: DataTypes.STRING(120), unique: "author_email" },
		born: DataTypes.DATEONLY,
		balance: DataTypes.DECIMAL(12, 2),
		active: { type: DataTypes.BOOLEAN, defaultValue: true },
		settings: DataTypes.JSONB,
		avatar: DataTypes.BLOB,
		code: DataTypes.UUID,
		score: DataTypes.DOUBLE,
		visits: DataTypes.BIGINT,
		seen: DataTypes.DATE,
		...(longer && { note: { type: DataTypes.TEXT, defaultValue: "none" } }),
	}, { ...plain, indexes: longer ? [{ fields: ["born"] }] : [] });
	const Book = sequelize.define("book", { title: DataTypes.TEXT, pages: DataTypes.INTEGER, price: DataTypes.DECIMAL(8, 2) }, plain);
	const Tag = sequelize.define("tag", { label: { type: DataTypes.STRING(20), unique: "tag_label" } }, plain);
	Author.hasMany(Book, { foreignKey: "author_id", onDelete: "CASCADE" });
	Book.belongsTo(Author, { foreignKey: "author_id" });
	Book.belongsToMany(Tag, { through: "book_tag", timestamps: false, foreignKey: "book_id" });
	Tag.belongsToMany(Book, { through: "book_tag", timestamps: false, foreignKey: "tag_id" });
	return { Author, Book, Tag };
}

async function open(schema) {
	const statements = [];
	const sequelize = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD, {
		host: process.env.PGHOST,
		port: process.env.PGPORT,
		dialect: "postgres",
		dialectOptions: { options: `-c search_path=${schema},public` },
		define: { schema },
		logging: (text) => statements.push(text.replace(/^Executing \(.*?\): /, "")),
	});
	return { schema, sequelize, statements, ...models(sequelize, false), close: () => sequelize.close() };
}

const values = (rows) => (Array.isArray(rows) ? rows.map((row) => row.get({ plain: true })) : rows && rows.get({ plain: true }));
const fields = {
	name: "Ann O'Neil", email: "ann@x.org", born: "1980-02-29", balance: "1234.50", active: false, settings: { theme: "dark", sizes: [1, 2.5] },
	avatar: Buffer.from([0, 255, 10]), code: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", score: 0.1, visits: "9007199254740993",
	seen: new Date("2024-02-29T23:59:59.999Z"),
};

async function seed({ Author, Book, Tag }) {
	await Author.create({ ...fields });
	await Author.bulkCreate([...Array(12).keys()].map((i) => ({
		name: `Name ${i}`, email: `user${i}@x.org`, born: new Date(i * 400 * DAY).toISOString().slice(0, 10), balance: i * 10.25, active: i % 2 === 0,
		settings: { n: i }, score: i / 4, visits: i, seen: new Date(i * DAY),
	})));
	await Author.create({ name: "Nobody" });
	await Book.bulkCreate([...Array(9).keys()].map((i) => ({ title: `Title ${i}`, pages: 100 + i, price: i + 0.99, author_id: 1 + (i % 3) })));
	await Tag.bulkCreate(["red", "blue"].map((label) => ({ label })));
	for (const book of await Book.findAll({ order: ["id"] })) await book.addTag(1 + (book.id % 2));
}

async function reads(twins) {
	const find = (where) => ({ Author }) => Author.findAll({ where, order: ["id"] }).then(values);
	await twins.same("select", "all columns", find({}));
	await twins.same("select", "by primary key", ({ Author }) => Author.findByPk(1).then(values));
	await twins.same("select", "raw query", ({ sequelize }) => sequelize.query("SELECT * FROM author ORDER BY id", { type: "SELECT" }));
	for (const [name, value] of Object.entries(fields)) if (name !== "settings") await twins.same("where", name, find({ [name]: value }));
	await twins.same("where", "JSON path", find({ "settings.theme": "dark" }));
	await twins.same("where", "JSON number", find({ settings: { n: { [Op.gt]: 4 } } }));
	await twins.same("where", "LIKE", find({ name: { [Op.startsWith]: "Name 1" } }));
	await twins.same("where", "ILIKE", find({ email: { [Op.iLike]: "%USER1%" } }));
	await twins.same("where", "IN", find({ name: ["Name 1", "Name 2"] }));
	await twins.same("where", "ranges", find({ [Op.or]: [{ born: { [Op.between]: ["1975-01-01", "1982-01-01"] } }, { balance: { [Op.gte]: 100 } }] }));
	await twins.same("null", "IS NULL", find({ balance: null }));
	await twins.same("null", "row of NULLs", find({ name: "Nobody" }));
	await twins.same("page", "sorted, with a count", ({ Author }) =>
		Author.findAndCountAll({ order: [["balance", "DESC NULLS LAST"], ["name", "ASC"]], limit: 4, offset: 3 }).then(({ count, rows }) => [count, values(rows)]));
	for (const [what, call] of Object.entries({ count: "count", sum: "sum", min: "min", max: "max" }))
		await twins.same("aggregate", what, ({ Author }) => Author[call]("balance"));
	await twins.same("aggregate", "min of dates", ({ Author }) => Author.min("born"));
	await twins.same("aggregate", "groups", ({ Author, sequelize }) => Author.findAll({
		attributes: ["active", [sequelize.fn("avg", sequelize.col("balance")), "mean"], [sequelize.fn("array_agg", sequelize.col("name")), "names"]],
		group: ["active"], having: sequelize.where(sequelize.fn("count", sequelize.col("id")), Op.gt, 1), order: ["active"] }).then(values));
}

async function relations(twins) {
	await twins.same("relation", "one to many", ({ Author, Book }) =>
		Author.findAll({ include: { model: Book, where: { pages: { [Op.gt]: 102 } } }, order: ["id", [Book, "title", "DESC"]] }).then(values));
	await twins.same("relation", "many to many", ({ Book, Tag, Author }) =>
		Book.findAll({ include: [{ model: Tag, where: { label: "red" } }, Author], order: ["title"] }).then(values));
	await twins.same("relation", "page of parents with children", ({ Author, Book }) =>
		Author.findAll({ include: Book, order: [["name", "ASC"], [Book, "price", "ASC"]], limit: 3 }).then(values));
	await twins.same("relation", "a foreign key without a row", ({ Book }) => Book.create({ title: "x", author_id: 999 }), "23503");
}

async function writes(twins) {
	await twins.same("write", "create", ({ Author }) => Author.create({ ...fields, email: "new@x.org" }).then(values));
	await twins.same("write", "unique", ({ Author }) => Author.create({ ...fields }), "23505");
	await twins.same("write", "too long", ({ Author }) => Author.update({ name: "x".repeat(61) }, { where: { id: 1 } }), "22001");
	await twins.same("write", "update", async ({ Author }) => {
		const row = await Author.findOne({ where: { email: "new@x.org" } });
		await row.update({ balance: "0.05", settings: { ...row.settings, theme: "light" }, avatar: null, seen: new Date(DAY) });
		return values(await row.reload());
	});
	await twins.same("write", "update of many, returning", ({ Author }) =>
		Author.update({ active: false }, { where: { visits: { [Op.lt]: 3 } }, returning: true }).then(([count, rows]) => [count, values(rows).sort((a, b) => a.id - b.id)]));
	await twins.same("write", "increment", async ({ Author }) => {
		await Author.increment({ visits: 2, balance: 0.5 }, { where: { name: "Name 3" } });
		return values(await Author.findOne({ where: { name: "Name 3" } }));
	});
	await twins.same("write", "upsert", ({ Author }) => Author.upsert({ name: "Upserted", email: "user5@x.org" }, { conflictFields: ["email"] })
		.then(([row]) => values(row)));
	await twins.same("write", "find or create", ({ Author }) =>
		Author.findOrCreate({ where: { email: "maker@x.org" }, defaults: { name: "Maker" } }).then(([row, made]) => [values(row), made]));
	await twins.same("write", "delete, with its children", async ({ Author, Book }) =>
		[await Author.destroy({ where: { email: "user0@x.org" } }), values(await Book.findAll({ order: ["id"] }))]);
}

async function transactions(twins) {
	await twins.same("transaction", "savepoint, rollback, lock", async ({ Author, sequelize }) => {
		const outer = await sequelize.transaction();
		const row = await Author.findOne({ where: { email: "ann@x.org" }, transaction: outer, lock: outer.LOCK.UPDATE });
		await row.update({ name: "Changed" }, { transaction: outer });
		const inner = await sequelize.transaction({ transaction: outer });
		await Author.destroy({ where: { name: "Changed" }, transaction: inner });
		await inner.rollback();
		const inside = values(await Author.findOne({ where: { name: "Changed" }, transaction: outer }));
		await outer.rollback();
		return [inside, await Author.count({ where: { name: "Changed" } })];
	});
}

async function migration(twins) {
	const described = ({ sequelize, schema }) => sequelize.getQueryInterface().describeTable({ tableName: "author", schema });
	await twins.same("metadata", "describeTable()", described);
	await twins.same("migrate", "a new column, a longer one, an index", async (world) => {
		Object.assign(world, models(world.sequelize, true));
		world.statements.length = 0;
		await world.sequelize.sync({ alter: true });
		return anonymous(world.statements);
	});
	await twins.sql("CALL encrypt_twin()");
	await twins.encrypted("after it");
	await twins.same("metadata", "describeTable() after it", described);
	await twins.same("write", "the longer column", ({ Author }) => Author.create({ name: "x".repeat(200) }).then(values));
	await twins.same("select", "all rows after it", ({ Author }) => Author.findAll({ order: ["id"] }).then(values));
}

new Twins("sequelize", open).run(async (twins) => {
	for (const world of twins.worlds) {
		await world.sequelize.sync();
		await seed(world);
	}
	await twins.encrypt();
	await reads(twins);
	await relations(twins);
	await writes(twins);
	await transactions(twins);
	await migration(twins);
});
