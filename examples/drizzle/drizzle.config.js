import { defineConfig } from "drizzle-kit";

const { PGUSER, PGPASSWORD, PGHOST, PGPORT, PGDATABASE } = process.env;

export default defineConfig({
	dialect: "postgresql",
	schema: "./schema.js",
	dbCredentials: { user: PGUSER, password: PGPASSWORD, host: PGHOST, port: Number(PGPORT ?? 5432), database: PGDATABASE, ssl: false },
});
