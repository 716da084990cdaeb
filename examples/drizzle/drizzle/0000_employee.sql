CREATE TABLE "employee" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "employee_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"card" encrypted_text(nosalt) NOT NULL,
	"salary" encrypted_numeric(10, 2) NOT NULL,
	CONSTRAINT "employee_card_unique" UNIQUE("card")
);
