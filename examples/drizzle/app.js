import { desc, eq, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { Pool } from "pg";
import { employee } from "./schema.js";

const pool = new Pool(); // PGHOST and its like say where
const db = drizzle({ client: pool });

await db.insert(employee).values([
	{ name: "Ada Lovelace", card: "4111111111111111", salary: "48123.45" },
	{ name: "Grace Hopper", card: "5500000000000004", salary: "65007.89" },
	{ name: "Alan Turing", card: "340000000000009", salary: "39000.00" },
]);

const [grace] = await db.select().from(employee).where(eq(employee.card, "5500000000000004"));
console.log(`${grace.name} has card ${grace.card} and earns ${grace.salary}`);

const raised = await db.update(employee).set({ salary: sql`${employee.salary} + 1000` }).where(lt(employee.salary, "40000"));
const rows = await db.select({ name: employee.name }).from(employee).orderBy(desc(employee.salary));
console.log(`${raised.rowCount} raise: ${rows.map((row) => row.name).join(", ")}`);

await pool.end();
