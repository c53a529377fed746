-- What a trigger looks at besides the name of an event, and how long no further event may have come before it
-- starts a run. A start that a later event took the place of is `superseded`, and `held_by` names that start's run.
ALTER TABLE "triggers" ADD COLUMN "filter" TEXT, ADD COLUMN "debounce_ms" INTEGER;
