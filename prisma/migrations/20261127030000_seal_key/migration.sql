-- The key that seals what goes to Temporal, where those who share this database are given none otherwise.
ALTER TABLE "installation" ADD COLUMN "seal_key" TEXT;
