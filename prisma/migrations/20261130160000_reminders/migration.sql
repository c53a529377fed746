-- How often whoever a question asks was reminded of it.
ALTER TABLE "inbox" ADD COLUMN "reminders" INTEGER NOT NULL DEFAULT 0;
