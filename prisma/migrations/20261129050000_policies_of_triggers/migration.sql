-- Rules about the actions of the runs that a trigger starts, besides those of its project.
ALTER TABLE "triggers" ADD COLUMN "policies" JSON NOT NULL DEFAULT '[]';
