-- What runs and people say in rooms. `handle` and `key` are the step that said it, or who did from outside of
-- runs, and under which id: said again, it is the same message.
CREATE TABLE "chat_messages" (
    "seq" BIGSERIAL NOT NULL,
    "room" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "handle" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chat_messages_pkey" PRIMARY KEY ("seq")
);

CREATE UNIQUE INDEX "chat_messages_handle_key_key" ON "chat_messages"("handle", "key");
CREATE INDEX "chat_messages_room_seq_idx" ON "chat_messages"("room", "seq");
