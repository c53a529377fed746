-- CreateTable
CREATE TABLE "inbox" (
    "position" BIGSERIAL NOT NULL,
    "handle" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "persona" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "priority" TEXT NOT NULL,
    "choices" JSON NOT NULL,
    "show" JSON NOT NULL,
    "form" JSON,
    "digest" TEXT,
    "asked_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "answer" JSON,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("handle","id")
);

-- CreateIndex
CREATE INDEX "inbox_persona_state_position_idx" ON "inbox"("persona", "state", "position");

-- CreateIndex
CREATE INDEX "inbox_state_position_idx" ON "inbox"("state", "position");
