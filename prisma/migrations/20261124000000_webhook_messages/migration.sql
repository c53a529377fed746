-- Ids that messages of webhooks have used: none is taken for another message before it expires.
CREATE TABLE "webhook_messages" (
    "id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_messages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_messages_expires_at_idx" ON "webhook_messages"("expires_at");

-- Tells those who share this database from any other installation on their machine.
CREATE TABLE "installation" (
    "id" TEXT NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

INSERT INTO "installation" ("id") VALUES (gen_random_uuid()::text);
