-- What went wrong in runs, in words: failures, escalations, stuck loops and limits, one row for the event
-- that said so. `question` is the id under which a persona was asked, whose answer becomes the outcome. The
-- words are indexed as they are written and once more in pieces, so that "src/app.ts" is found by "app".
CREATE TABLE "incidents" (
    "handle" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "action" TEXT,
    "outcome" TEXT,
    "question" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "words" TSVECTOR NOT NULL GENERATED ALWAYS AS (
        setweight(to_tsvector('english', "message" || ' ' || regexp_replace("code" || ' ' || "message", '[^[:alnum:]]+', ' ', 'g')), 'A')
        || setweight(to_tsvector('english', coalesce("action", '') || ' ' || regexp_replace("name" || ' ' || coalesce("action", ''), '[^[:alnum:]]+', ' ', 'g')), 'B')
        || setweight(to_tsvector('english', regexp_replace("kind" || ' ' || coalesce("outcome", ''), '[^[:alnum:]]+', ' ', 'g')), 'C')
    ) STORED,

    CONSTRAINT "incidents_pkey" PRIMARY KEY ("handle", "seq")
);

CREATE INDEX "incidents_at_idx" ON "incidents"("at" DESC);
CREATE INDEX "incidents_words_idx" ON "incidents" USING GIN ("words");
