-- Which execution of Temporal is the run: a copy of its start is another one, and performs nothing.
ALTER TABLE "runs" ADD COLUMN "first_execution" TEXT;
