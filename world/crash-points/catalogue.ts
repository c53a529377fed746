/**
 * The moments at which something becomes durable or has an effect, by name, with the file that holds each. A death at
 * one of them is a case of its own: `npm run campaign` brings it about, and says which it has never reached
 * (test/campaign/). `test/project/crash-points.test.ts` holds the files.
 */
export interface CrashPointPlace {
  in: string;
  /** What has happened by then, and what has not. */
  is: string;
}

interface CrashPointPlaces {
  [name: string]: CrashPointPlace;
}

const SEGMENTS = {
  'segment.begun': { in: 'activities/segment/run-segment.ts', is: 'a segment was taken up, and has done nothing' },
  'segment.walked': { in: 'activities/segment/run-segment.ts', is: 'its steps are done, and nothing is committed' },
  'segment.committed': { in: 'activities/segment/run-segment.ts', is: 'it is committed, and Temporal is not told' },
  'segment.taken-over': {
    in: 'activities/segment/run-segment.ts',
    is: 'an attempt has found that another one committed the segment',
  },
  'act.claimed': {
    in: 'activities/segment/acts.ts',
    is: 'a step that acts is claimed in a segment, and has not begun',
  },
  'act.performed': {
    in: 'activities/segment/acts.ts',
    is: 'a step of a segment has acted, and no commit has its result',
  },
  'act.left': {
    in: 'activities/segment/acts.ts',
    is: 'a segment has left a step that goes on, and its run does not know of it',
  },
  'session.written': {
    in: 'prisma/store/runs/session.ts',
    is: 'rows, events and journal of a session are written, and its transaction is open',
  },
  'session.committed': { in: 'prisma/store/runs/session.ts', is: 'the transaction of a session is committed' },
  'transaction.done': {
    in: 'prisma/store/connection/database.ts',
    is: 'the statements of a transaction are done, and it is open',
  },
  'transaction.committed': { in: 'prisma/store/connection/database.ts', is: 'a transaction is committed' },
} satisfies CrashPointPlaces;

const STEPS = {
  'activity.begun': { in: 'worker/activity-crash-points.ts', is: 'a step was taken from Temporal, and has not begun' },
  'activity.returned': { in: 'worker/activity-crash-points.ts', is: 'a step has ended, and Temporal is not told' },
  'activity.told': {
    in: 'worker/activity-crash-points.ts',
    is: 'Temporal is being told of the end of a step, and has not acknowledged it',
  },
  'command.begun': { in: 'activities/steps/once.ts', is: 'a command is about to be performed in a session of its own' },
  'command.performed': { in: 'activities/steps/once.ts', is: 'a command is done, and its journal row is not written' },
  'command.committed': { in: 'activities/steps/once.ts', is: 'the journal row of a command is committed' },
  'command.taken-over': {
    in: 'activities/steps/once.ts',
    is: 'an attempt has found that another one performed the command',
  },
  'checkpoint.taken': {
    in: 'operations/checkpoints/step-checkpoints.ts',
    is: 'the state of a project is a tree, and its row is not written',
  },
  'checkpoint.begun': {
    in: 'operations/checkpoints/step-checkpoints.ts',
    is: 'the row of the state before is written, and the step that writes has not begun',
  },
  'checkpoint.ending': {
    in: 'operations/checkpoints/step-checkpoints.ts',
    is: 'the step that writes is done, and the state after is not taken',
  },
  'checkpoint.ended': {
    in: 'operations/checkpoints/step-checkpoints.ts',
    is: 'the row of the state after is written, and nobody knows that the step is done',
  },
  'payload.kept': {
    in: 'prisma/store/values/payload-driver.ts',
    is: 'a large value is kept by its hash, and no history refers to it',
  },
  'limit.permitted': {
    in: 'activities/limits/limiter.ts',
    is: 'a place within a rate limit is taken, and its work has not begun',
  },
  'limit.used': {
    in: 'activities/limits/limiter.ts',
    is: 'the work within a rate limit is done, and its place is held',
  },
} satisfies CrashPointPlaces;

const MODELS = {
  'turn.begun': { in: 'activities/turns/run-turn.ts', is: 'a turn of a model is not claimed' },
  'turn.claimed': { in: 'activities/turns/run-turn.ts', is: 'a turn is claimed, and the model is not asked' },
  'turn.taped': {
    in: 'activities/turns/raw-answers.ts',
    is: 'the bytes of an answer and what they cost are kept, and nobody has read them',
  },
  'turn.answered': { in: 'activities/turns/run-turn.ts', is: 'the answer is paid and read, and not kept' },
  'turn.kept': {
    in: 'activities/turns/run-turn.ts',
    is: 'the answer is kept under its turn, and the run has not heard',
  },
  'turn.taken-over': { in: 'activities/turns/run-turn.ts', is: 'an attempt has found that the turn has its answer' },
  'spending.kept': {
    in: 'activities/turns/spending.ts',
    is: 'what a refused request cost is kept, and the failure is not told',
  },
  'call.begun': { in: 'activities/turns/run-call.ts', is: 'a call of a model is not claimed' },
  'call.claimed': { in: 'activities/turns/run-call.ts', is: 'a call is claimed, and has not begun' },
  'call.performed': { in: 'activities/turns/run-call.ts', is: 'a call is done, and its outcome is not kept' },
  'call.kept': { in: 'activities/turns/run-call.ts', is: 'the outcome of a call is kept, and the run has not heard' },
  'call.in-doubt': { in: 'activities/turns/run-call.ts', is: 'an attempt has found a claim without an outcome' },
  'agent.begun': { in: 'activities/turns/run-agent.ts', is: 'an agent segment was taken up, and has done nothing' },
  'agent.kept': { in: 'activities/turns/run-agent.ts', is: 'an agent segment has kept what it did, between two turns' },
  'compaction.claimed': {
    in: 'activities/turns/compaction/compactor.ts',
    is: 'a compaction is claimed, and nothing is made',
  },
  'compaction.made': { in: 'activities/turns/compaction/compactor.ts', is: 'a summary is paid, and not kept' },
  'compaction.kept': { in: 'activities/turns/compaction/compactor.ts', is: 'a compaction is kept, and not told' },
} satisfies CrashPointPlaces;

const RECORDS = {
  'recorder.taken': { in: 'worker/run-recorder.ts', is: 'events of a workflow task are handed over, and not written' },
  'recorder.writing': { in: 'worker/run-recorder.ts', is: 'a batch of events is about to be written' },
  'recorder.written': { in: 'worker/run-recorder.ts', is: 'events are in the store, and the workflow task is open' },
  'start.recorded': { in: 'runs/start-run.ts', is: 'the row of a run is written, and what it begins with is not kept' },
  'start.kept': { in: 'runs/start-run.ts', is: 'all that a run begins with is kept, and its workflow is not started' },
  'start.started': { in: 'runs/start-run.ts', is: 'the workflow is started, and whoever started it is not told' },
  'steer.saying': {
    in: 'runs/steer-run.ts',
    is: 'something is about to be said to a run: a pause, an answer, an edit',
  },
  'steer.said': { in: 'runs/steer-run.ts', is: 'a run has answered what was said to it, and nobody knows' },
  'group.asking': { in: 'activities/local/ask-for-group.ts', is: 'a run is about to ask for its turn in a group' },
  'group.answered': {
    in: 'activities/local/ask-for-group.ts',
    is: 'its place in a group is written, and it is not told',
  },
  'place.asking': { in: 'activities/local/places.ts', is: 'a run is about to ask for a place of its persona' },
  'place.answered': {
    in: 'activities/local/places.ts',
    is: 'the place of a run among those of its persona is written, and it is not told',
  },
  'place.left': {
    in: 'activities/local/places.ts',
    is: 'a run has left its place, and those whose turn it is are not told',
  },
  'watch.subscribed': {
    in: 'prisma/store/events/signals.ts',
    is: 'a run that waits for an event has a subscription, and has not looked again',
  },
} satisfies CrashPointPlaces;

const PLACES = {
  'lease.taken': { in: 'operations/leases.ts', is: 'a step has its place in a lease, and has not begun' },
  'lease.renewed': { in: 'operations/leases.ts', is: 'the store has heard that the step in a lease goes on' },
  'lease.leaving': { in: 'operations/leases.ts', is: 'a step is done with a lease, and its place is taken' },
  'undo.begun': {
    in: 'operations/checkpoints/undo.ts',
    is: 'what an undo would do is planned, and no file is touched',
  },
  'undo.half': { in: 'operations/checkpoints/undo.ts', is: 'an undo has put the first file back' },
  'undo.done': { in: 'operations/checkpoints/undo.ts', is: 'an undo has put all files back, and nobody knows' },
  'background.begun': {
    in: 'operations/shell/background.ts',
    is: 'the row of a background process is written, and it does not run',
  },
  'background.launched': {
    in: 'operations/shell/background.ts',
    is: 'a background process runs, and its row does not say so',
  },
  'background.taken-over': {
    in: 'operations/shell/background.ts',
    is: 'the process of a dead worker is taken over, and not started again',
  },
} satisfies CrashPointPlaces;

const PROCESSES = {
  'process.noted': {
    in: 'world/processes/kept/kept-folder.ts',
    is: 'it is written what a process is to be, where nobody looks for it',
  },
  'process.made': {
    in: 'world/processes/kept/kept-folder.ts',
    is: 'the folder of a process is there, with who has claimed it, and it is not begun',
  },
  'process.spawned': {
    in: 'operations/shell/start-process.ts',
    is: 'the keeper of a process is started, and has not said who it is',
  },
  'process.let-run': {
    in: 'world/processes/kept/kept-folder.ts',
    is: 'it is written that a process in a sandbox may run, and it still waits',
  },
  'process.begun': { in: 'operations/shell/kept-child.ts', is: 'a process runs, and nobody has read what it prints' },
  'process.heard': {
    in: 'operations/shell/kept-child.ts',
    is: 'the first output of a process is read, and not in its log',
  },
  'process.ended': {
    in: 'operations/shell/to-end.ts',
    is: 'a process has ended, its outcome is written, and the rest of its output is not read',
  },
  'process.logged': {
    in: 'operations/shell/to-end.ts',
    is: 'the outcome of a process is read and its log is whole, and nobody is told',
  },
  'process.recorded': {
    in: 'world/processes/kept/kept-processes.ts',
    is: 'the result of a process is in the history of its run, and its files are there',
  },
  'process.taken-over': {
    in: 'operations/shell/run-kept.ts',
    is: 'a process of a dead worker is claimed while it runs',
  },
  'process.found-ended': {
    in: 'operations/shell/run-kept.ts',
    is: 'a process that ended while no worker was there is claimed, and its outcome is not told',
  },
  'process.left': {
    in: 'operations/shell/run-kept.ts',
    is: 'a worker has let go of a process, and the server does not know',
  },
  'process.unwanted': {
    in: 'world/processes/kept/kept-processes.ts',
    is: 'a process that no run waits for any more is found, and not ended',
  },
} satisfies CrashPointPlaces;

const BESIDES = {
  'feed.taken': { in: 'worker/background/event-feed.ts', is: 'a follower holds its place, and has done nothing' },
  'feed.fed': {
    in: 'worker/background/event-feed.ts',
    is: 'a follower is done with its events, and nothing is committed',
  },
  'feed.committed': { in: 'worker/background/event-feed.ts', is: 'the new place of a follower is committed' },
  'task.held': {
    in: 'worker/background/background-tasks.ts',
    is: 'a quick background task is held, and not performed',
  },
  'task.performed': {
    in: 'worker/background/background-tasks.ts',
    is: 'a quick background task is performed, and not committed',
  },
  'task.committed': { in: 'worker/background/background-tasks.ts', is: 'a quick background task is committed' },
  'task.named': {
    in: 'worker/background/background-tasks.ts',
    is: 'the run of a long background task has its handle, and is not started',
  },
  'task.started': { in: 'worker/background/background-tasks.ts', is: 'the run of a long background task is started' },
  'task.ended': {
    in: 'worker/background/background-tasks.ts',
    is: 'the run of a long background task has ended, and its row does not say so',
  },
  'waker.claimed': {
    in: 'worker/background/subscriber-waker.ts',
    is: 'runs that wait for an event are claimed, and not woken',
  },
  'waker.woken': { in: 'worker/background/subscriber-waker.ts', is: 'they are woken, and their subscriptions stand' },
  'trigger.claimed': { in: 'worker/triggers/dispatcher.ts', is: 'the start of a triggered run is claimed' },
  'trigger.started': {
    in: 'worker/triggers/dispatcher.ts',
    is: 'a triggered run is started, and its start not settled',
  },
  'trigger.settled': { in: 'worker/triggers/dispatcher.ts', is: 'the start of a triggered run is settled' },
  'notice.claimed': { in: 'worker/notifications/notifier.ts', is: 'a message about a run is claimed, and not sent' },
  'notice.sent': { in: 'worker/notifications/notifier.ts', is: 'a message about a run is taken, and its row is due' },
  'webhook.proved': { in: 'worker/triggers/webhooks.ts', is: 'a webhook is proved, and not stored' },
  'webhook.stored': { in: 'worker/triggers/webhooks.ts', is: 'a webhook is stored, and its sender is not told' },
  'lost.found': {
    in: 'worker/background/lost-runs.ts',
    is: 'a run that was ended from outside is found, and not settled',
  },
  'lost.settled': { in: 'worker/background/lost-runs.ts', is: 'the end of a run from outside is written' },
} satisfies CrashPointPlaces;

const CHANGESETS = {
  'changeset.recorded': {
    in: 'systems/cycle/changesets/apply.ts',
    is: 'what a changeset is about to do is on the disk, and nothing is done',
  },
  'changeset.placed': {
    in: 'systems/cycle/changesets/apply.ts',
    is: 'a file of a changeset is in its place or removed, and others may not be',
  },
  'changeset.putting-back': {
    in: 'systems/cycle/changesets/apply.ts',
    is: 'a changeset is taken back, and a file is about to be as it was before',
  },
} satisfies CrashPointPlaces;

export const CRASH_POINTS = {
  ...SEGMENTS,
  ...STEPS,
  ...MODELS,
  ...RECORDS,
  ...PLACES,
  ...PROCESSES,
  ...BESIDES,
  ...CHANGESETS,
};

export type CrashPoint = keyof typeof CRASH_POINTS;
