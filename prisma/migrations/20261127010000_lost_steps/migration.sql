-- Steps that a worker was at when its event loop did not answer any more, so that it was ended: one row a time.
CREATE TABLE "lost_steps" (
    "position" BIGSERIAL NOT NULL,
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lost_steps_pkey" PRIMARY KEY ("position")
);

CREATE INDEX "lost_steps_handle_key_idx" ON "lost_steps"("handle", "key");
