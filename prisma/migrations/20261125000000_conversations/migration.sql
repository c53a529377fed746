-- What models were asked and what they answered. A message is kept once, by the SHA-256 of its JSON text;
-- a conversation is the order of its messages, so it grows by what each turn adds.
CREATE TABLE "messages" (
    "hash" TEXT NOT NULL,
    "message" JSON NOT NULL,
    "bytes" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("hash")
);

CREATE TABLE "conversation_messages" (
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "part" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "conversation_messages_pkey" PRIMARY KEY ("handle", "conversation", "turn", "part")
);

CREATE TABLE "turns" (
    "handle" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "attempt" TEXT NOT NULL,
    "begun_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "answered_at" TIMESTAMPTZ(3),
    "answer" JSON,

    CONSTRAINT "turns_pkey" PRIMARY KEY ("handle", "conversation", "turn")
);
