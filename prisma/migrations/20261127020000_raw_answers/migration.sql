-- Answers of providers as they came, from the moment at which they had come until what was read from them is kept.
-- `asker` is the key under which it was asked, `request` a digest of what was asked, `body` the bytes as gzip.
CREATE TABLE "raw_answers" (
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "asker" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "attempt" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "headers" JSON NOT NULL,
    "body" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "raw_answers_pkey" PRIMARY KEY ("handle", "conversation", "turn", "asker", "request")
);
