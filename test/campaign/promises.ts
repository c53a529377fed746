/**
 * How often something happens, and why. The campaign counts each effect by its channel and holds it against this table;
 * docs/durability.md shows the same table.
 */
export type Frequency = 'once' | 'at least once' | 'paid once' | 'once for each decision';

/** Where the oracle counts: rows, files, what a server outside was asked, what a model at the wire was paid for. */
export type Channel =
  | 'shape'
  | 'record'
  | 'published'
  | 'added'
  | 'heard'
  | 'said'
  | 'line'
  | 'post'
  | 'file'
  | 'turn'
  | 'call'
  | 'checkpoint'
  | 'nested'
  | 'started'
  | 'question'
  | 'triggered'
  | 'scheduled'
  | 'task'
  | 'notice';

export interface Promised {
  what: string;
  /** As the page says it. */
  happens: string;
  because: string;
  how: Frequency;
  channels: readonly Channel[];
}

export const PROMISES: readonly Promised[] = [
  {
    what: 'a decision of the definition (a branch, a pass, an item)',
    happens: 'once',
    because: "it is in the run's history, or committed with the segment that made it",
    how: 'once',
    channels: ['shape'],
  },
  {
    what: "an effect in Sentinel's store: `data/create`, `emit`, a message in a room, a quick command of a project, events and logs of the run",
    happens: 'exactly once',
    because: 'it commits together with the journal row of its segment or step',
    how: 'once',
    channels: ['record', 'published', 'added', 'said'],
  },
  {
    what: 'a published event, followed by a command of a system',
    happens: 'exactly once, in order',
    because: 'what the follower writes and its new place are one transaction',
    how: 'once',
    channels: ['heard'],
  },
  {
    what: 'a shell command: a shell step, `code/shell/execute`, a check of `code/verify`, or `spawn` in a command of a project',
    happens: 'exactly once while its host lives',
    because:
      'its process outlives its worker; the next worker goes on with it, or takes its outcome ([processes of steps](#processes-of-steps))',
    how: 'once',
    channels: ['line'],
  },
  {
    what: 'another effect outside the store, of a step: `code/write`, `code/git`, a long command of a project',
    happens: 'at least once',
    because: 'a worker can die after the effect and before its result is known; the step then runs again',
    how: 'at least once',
    channels: ['post', 'file'],
  },
  {
    what: 'a turn of a model whose answer arrived',
    happens: 'paid once',
    because: "the answer is stored under the turn's key before the turn ends",
    how: 'paid once',
    channels: ['turn'],
  },
  {
    what: 'a call of a model: a command with effects outside the store',
    happens: 'at most once for each decision to make it',
    because:
      'the call is claimed in the store before it begins. If the worker is lost, Sentinel asks whether the call took effect, and does not guess ([calls that are in doubt](models.md#calls-that-are-in-doubt))',
    how: 'once for each decision',
    channels: ['call'],
  },
  {
    what: 'storing the state of the project before a step that may write',
    happens: 'before the first attempt; later attempts keep it',
    because: 'its row is written before the step begins ([undo](undo.md))',
    how: 'once',
    channels: ['checkpoint'],
  },
  {
    what: 'a nested run, and a run that a step starts',
    happens: 'once',
    because: 'its id contains the key of the step',
    how: 'once',
    channels: ['nested', 'started'],
  },
  {
    what: 'a run that an event starts through a trigger; an event that comes by webhook',
    happens: 'once for each event, and for each id of a message',
    because: "the run's handle is made of the trigger and the event, and the event is stored under the id",
    how: 'once',
    channels: ['triggered'],
  },
  {
    what: 'a run that a schedule starts',
    happens: 'once for each time at which it is due',
    because: "the run's handle is made of the schedule and that time",
    how: 'once',
    channels: ['scheduled'],
  },
  {
    what: 'a question, and the first answer to it',
    happens: 'once; a later answer changes nothing',
    because: "both are in the run's history before anything follows from them",
    how: 'once',
    channels: ['question'],
  },
  {
    what: 'background work of a system',
    happens: 'once each time that it is due',
    because: 'a quick command commits with the time of the next one; a long command is a run with a handle of its own',
    how: 'once',
    channels: ['task'],
  },
  {
    what: 'a message about a run (`notify`)',
    happens: 'at least once, under an id of its own',
    because: 'its receiver may take it, and the worker die before it knows',
    how: 'at least once',
    channels: ['notice'],
  },
  {
    what: 'a value that a quick step read and acted on',
    happens: 'cannot change after a crash',
    because: 'a segment that was not committed has made no decision',
    how: 'once',
    channels: ['shape'],
  },
];

export const promisedFor = (channel: Channel): Frequency => {
  const found = PROMISES.find(({ channels }) => channels.includes(channel));
  if (found === undefined) throw new Error(`nothing is promised for ${channel}`);
  return found.how;
};

/** As the page has it. */
export const promiseRows = (): string[] =>
  PROMISES.map(({ what, happens, because }) => `| ${what} | ${happens} | ${because} |`);
