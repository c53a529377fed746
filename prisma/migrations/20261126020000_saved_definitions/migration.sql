-- When a definition was saved last under its name, which decides what the name finds; null: the name does not
-- find it any more. Its row stays, because runs, triggers and schedules name it by its hash.
ALTER TABLE "definitions" ADD COLUMN "saved_at" TIMESTAMPTZ(6);

UPDATE "definitions" SET "saved_at" = "created_at" + "version" * interval '1 microsecond';
