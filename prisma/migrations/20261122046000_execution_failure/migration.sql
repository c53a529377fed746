-- Why a process was ended by what watches over it; null where it ended by itself or with its run.
ALTER TABLE "executions" ADD COLUMN "failure" JSON;
