-- Triggers have a place in the order of events in place of a queue that each publishing wrote. What was in the queue is
-- looked at again: a start is written once.
INSERT INTO "event_cursors" ("name", "position")
SELECT 'triggers', coalesce((SELECT min(e."position") - 1 FROM "trigger_queue" AS q JOIN "published_events" AS e USING ("seq")), "latest_event_position"());
DROP TRIGGER "published_events_queue" ON "published_events";
DROP FUNCTION "queue_for_triggers"();
DROP TABLE "trigger_queue";
