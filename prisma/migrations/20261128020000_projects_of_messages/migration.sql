-- A model hears and says what belongs to the project of its run. What a person says belongs to none.
ALTER TABLE "chat_messages" ADD COLUMN "project" TEXT;
UPDATE "chat_messages" m SET "project" = r."project" FROM "runs" r WHERE r."handle" = m."handle";
CREATE INDEX "chat_messages_project_room_seq_idx" ON "chat_messages"("project", "room", "seq");
