-- Questions to several: who is asked, how many of them have to approve, and who has.
ALTER TABLE "inbox" ADD COLUMN "approvers" TEXT[] NOT NULL DEFAULT '{}',
  ADD COLUMN "at_least" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "approvals" JSON NOT NULL DEFAULT '[]';
CREATE INDEX "inbox_approvers_idx" ON "inbox" USING GIN ("approvers");
