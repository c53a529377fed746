/**
 * What a run's history grows by, in events and in bytes, as measured.
 *
 * How: each history in test/histories/recorded/ (Temporal's development server, TypeScript SDK 1.24)
 * is encoded as Temporal stores it (protobuf) and every event's size is read off; the numbers are the
 * middle of those that came up, less the text that the definition itself supplied, which is added for
 * each step. The test of the estimates encodes the same histories and holds the two together.
 * A timer and an event that arrives have no recording: theirs is the encoded size of such events.
 */
export interface Cost {
  events: number;
  bytes: number;
}

/** A workflow task: scheduled, started, completed. Whatever wakes the run costs one. */
const workflowTask: Cost = { events: 3, bytes: 300 };

/** Started, and the first workflow task; the definition's own text is added. */
export const runStart: Cost = { events: 4, bytes: 1170 };

/** Search attributes, and completed; the outputs are added. */
export const runEnd: Cost = { events: 2, bytes: 315 };

/** Scheduled, started, completed, and the workflow task that takes the result up; the command's text is added. */
export const activity: Cost = { events: 3 + workflowTask.events, bytes: 530 + workflowTask.bytes };

/** One marker for a stretch of quick steps, and what each of them adds to it. */
export const segment: Cost = { events: 1, bytes: 462 };
export const segmentStep: Cost = { events: 0, bytes: 190 };

/** Initiated and started, with a workflow task; the child's definition is added. */
export const childStart: Cost = { events: 2 + workflowTask.events, bytes: 1030 + workflowTask.bytes };

/** The end of a child that was waited for, with a workflow task and its result. */
export const childEnd: Cost = { events: 1 + workflowTask.events, bytes: 790 + workflowTask.bytes };

/** A pause: started, fired, and the workflow task that goes on. */
export const timer: Cost = { events: 2 + workflowTask.events, bytes: 110 + workflowTask.bytes };

/** A person's answer is an update: accepted, its search attributes, completed, with a workflow task. */
export const answer: Cost = { events: 3 + workflowTask.events, bytes: 640 + workflowTask.bytes };

/** An event that arrives is a signal, with a workflow task. */
export const arrival: Cost = { events: 1 + workflowTask.events, bytes: 250 + workflowTask.bytes };

/** Continuing as new: the closing event and the new start's position; both carry the definition. */
export const continuation: Cost = { events: 1, bytes: 1760 };

/** Where the server suggests to continue as new (its defaults): about 680 regular activities. */
export const historyEventsMax = 4_096;
export const historyBytesMax = 4 * 1024 * 1024;
