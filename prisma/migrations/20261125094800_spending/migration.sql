-- What models cost: one row for each request that was made of one, written when it is made and settled with
-- its outcome. `usd` is null where nobody knows the price. A row that stays `asked` is of an attempt that was
-- lost: what it cost is not known.
CREATE TABLE "spending" (
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "attempt" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "outcome" TEXT NOT NULL DEFAULT 'asked',
    "model" TEXT,
    "input" INTEGER NOT NULL DEFAULT 0,
    "output" INTEGER NOT NULL DEFAULT 0,
    "cache_read" INTEGER NOT NULL DEFAULT 0,
    "cache_write" INTEGER NOT NULL DEFAULT 0,
    "thinking" INTEGER NOT NULL DEFAULT 0,
    "estimated" BOOLEAN NOT NULL DEFAULT false,
    "usd" DOUBLE PRECISION,

    CONSTRAINT "spending_pkey" PRIMARY KEY ("handle", "conversation", "turn", "attempt")
);

CREATE INDEX "spending_at_idx" ON "spending"("at");
