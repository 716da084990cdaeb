import { integer, numeric, pgTable, text } from "drizzle-orm/pg-core";

export const employee = pgTable("employee", {
	id: integer().primaryKey().generatedAlwaysAsIdentity(),
	name: text().notNull(),
	card: text().notNull().unique(),
	salary: numeric({ precision: 10, scale: 2 }).notNull(),
});
