-- Turns that a fork has from the run it was made of: they were paid there.
ALTER TABLE "turns" ADD COLUMN "copied_of" TEXT;
