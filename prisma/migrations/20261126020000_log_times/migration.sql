-- When a chunk of a log was written.
ALTER TABLE "log_chunks" ADD COLUMN "written_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
