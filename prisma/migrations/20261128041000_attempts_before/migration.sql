-- Which attempt may still be at what the next one has asked for: its word that it has ended counts.
ALTER TABLE "lease_places" ADD COLUMN "busy_claim" TEXT;
