-- Calls of models that must not be done twice: one is claimed before it begins, and has its outcome when
-- it has ended. `attempt` is who does it; a row that another attempt claimed and that has no outcome is
-- a call of which nobody knows whether it was done.
CREATE TABLE "calls" (
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "call" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "attempt" TEXT NOT NULL,
    "tries" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'begun',
    "begun_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "outcome" JSON,

    CONSTRAINT "calls_pkey" PRIMARY KEY ("handle", "conversation", "turn", "call")
);
