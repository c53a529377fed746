-- Who started the run: "--last" finds the latest that a person did.
ALTER TABLE "runs" ADD COLUMN "started_by" TEXT NOT NULL DEFAULT 'person';
