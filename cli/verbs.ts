/** The verbs of the command line: the summary of each, and whether it only looks. The code of a verb is loaded when the verb is used. */
import type { Command } from 'commander';
import type { VerbKind } from './request/verb-kind.ts';

interface VerbModule {
  /** `argv`: all words of the command line. */
  define(command: Command, argv: readonly string[]): void | Promise<void>;
  /** The words as they are read, where that is not as they were typed. */
  read?(argv: readonly string[]): string[] | Promise<string[]>;
}

export interface Verb {
  summary: string;
  /** `group`: each verb of the group declares its own kind. */
  kind: VerbKind | 'group';
  load: () => Promise<VerbModule>;
}

export const VERBS: Readonly<Record<string, Verb>> = {
  init: {
    summary: 'write what a project begins with: a definition, its tests, the configuration, a CI workflow',
    kind: 'looks',
    load: () => import('./verbs/init.ts'),
  },
  validate: {
    summary: 'check definitions and report all problems at once',
    kind: 'looks',
    load: () => import('./verbs/validate.ts'),
  },
  normalize: {
    summary: 'print the canonical form of a definition',
    kind: 'looks',
    load: () => import('./verbs/normalize.ts'),
  },
  schema: { summary: 'print the JSON Schema of definitions', kind: 'looks', load: () => import('./verbs/schema.ts') },
  explain: {
    summary: 'say what a definition will do, touch and cost',
    kind: 'looks',
    load: () => import('./verbs/explain.ts'),
  },
  graph: {
    summary: 'draw a definition or a run as a Mermaid flowchart',
    kind: 'looks',
    load: () => import('./verbs/graph.ts'),
  },
  test: { summary: 'run the tests of definitions', kind: 'looks', load: () => import('./verbs/test.ts') },
  simulate: {
    summary: 'walk through a definition without any effect',
    kind: 'looks',
    load: () => import('./verbs/simulate.ts'),
  },
  run: { summary: 'start a run and follow it to its end', kind: 'acts', load: () => import('./verbs/run.ts') },
  save: {
    summary: 'save a definition under its name',
    kind: 'acts',
    load: () => import('./verbs/save.ts'),
  },
  saved: {
    summary: 'list, show, delete, export, import and deploy saved definitions',
    kind: 'group',
    load: () => import('./verbs/saved.ts'),
  },
  eval: {
    summary: 'run a definition over a list of inputs and check each result',
    kind: 'acts',
    load: () => import('./verbs/eval.ts'),
  },
  status: {
    summary: 'show the state of a run, or of the services',
    kind: 'looks',
    load: () => import('./verbs/status.ts'),
  },
  list: { summary: 'list runs, newest first', kind: 'looks', load: () => import('./verbs/list.ts') },
  leases: {
    summary: 'show who has a place in a lease or a group, and who waits',
    kind: 'looks',
    load: () => import('./verbs/leases.ts'),
  },
  trace: { summary: 'show the steps of a run as a tree', kind: 'looks', load: () => import('./verbs/trace.ts') },
  transcript: {
    summary: 'show the conversations of a run with models',
    kind: 'looks',
    load: () => import('./verbs/transcript.ts'),
  },
  cassette: {
    summary: 'write the model requests and answers of a run to a file, for replays',
    kind: 'looks',
    load: () => import('./verbs/cassette.ts'),
  },
  samples: {
    summary: 'write conversations with models as training samples',
    kind: 'looks',
    load: () => import('./verbs/samples.ts'),
  },
  costs: { summary: 'sum the costs of models', kind: 'looks', load: () => import('./verbs/costs.ts') },
  incidents: {
    summary: 'show what went wrong in runs, or search it with a question',
    kind: 'looks',
    load: () => import('./verbs/incidents.ts'),
  },
  diff: { summary: 'compare two runs step by step', kind: 'looks', load: () => import('./verbs/diff.ts') },
  changes: {
    summary: 'show what a run changed in its project, step by step',
    kind: 'looks',
    load: () => import('./verbs/changes.ts'),
  },
  undo: {
    summary: 'take back what a run changed in its project',
    kind: 'acts',
    load: () => import('./verbs/undo.ts'),
  },
  fork: { summary: 'start a new run from any step of an old one', kind: 'acts', load: () => import('./verbs/fork.ts') },
  retry: {
    summary: 'start a new run from the step at which an old one failed',
    kind: 'acts',
    load: () => import('./verbs/retry.ts'),
  },
  replay: {
    summary: "replay a run's history and report where this version diverges",
    kind: 'looks',
    load: () => import('./verbs/replay.ts'),
  },
  logs: { summary: 'show the output of the steps of a run', kind: 'looks', load: () => import('./verbs/logs.ts') },
  follow: { summary: 'follow a run from anywhere', kind: 'looks', load: () => import('./verbs/follow.ts') },
  pause: { summary: 'pause a run before its next step', kind: 'acts', load: () => import('./verbs/pause.ts') },
  resume: { summary: 'continue a paused run', kind: 'acts', load: () => import('./verbs/resume.ts') },
  inbox: { summary: 'show the questions of runs', kind: 'looks', load: () => import('./verbs/inbox.ts') },
  chat: {
    summary: 'show messages of runs and people in rooms, or send one',
    kind: 'looks',
    load: () => import('./verbs/chat.ts'),
  },
  answer: { summary: 'answer a question of a run', kind: 'acts', load: () => import('./verbs/answer.ts') },
  tell: {
    summary: 'send a message to the model of a running step',
    kind: 'acts',
    load: () => import('./verbs/tell.ts'),
  },
  step: { summary: 'see and edit the steps of a run', kind: 'group', load: () => import('./verbs/step.ts') },
  stop: { summary: 'end a run after the steps under way', kind: 'acts', load: () => import('./verbs/stop.ts') },
  cancel: { summary: 'interrupt a run', kind: 'acts', load: () => import('./verbs/cancel.ts') },
  command: {
    summary: 'perform a command and print its result',
    kind: 'acts',
    load: () => import('./verbs/command.ts'),
  },
  commands: {
    summary: 'list the commands of steps, and show what each takes and gives',
    kind: 'looks',
    load: () => import('./verbs/commands.ts'),
  },
  models: {
    summary: 'show which models can be reached, and get one',
    kind: 'group',
    load: () => import('./verbs/models.ts'),
  },
  trainer: {
    summary: 'install and check what trains adapters',
    kind: 'group',
    load: () => import('./verbs/trainer.ts'),
  },
  mcp: {
    summary: 'use the tools of MCP servers, and serve Sentinel as one',
    kind: 'group',
    load: () => import('./verbs/mcp.ts'),
  },
  schedule: { summary: 'start runs on a clock', kind: 'group', load: () => import('./verbs/schedule.ts') },
  trigger: { summary: 'start runs by events', kind: 'group', load: () => import('./verbs/trigger.ts') },
  webhook: {
    summary: 'receive events from GitHub, GitLab, Stripe, Slack and others',
    kind: 'group',
    load: () => import('./verbs/webhook.ts'),
  },
  emit: { summary: 'publish an event', kind: 'acts', load: () => import('./verbs/emit.ts') },
  events: { summary: 'show published events with their data', kind: 'looks', load: () => import('./verbs/events.ts') },
  data: { summary: 'show and delete the records of runs', kind: 'group', load: () => import('./verbs/data.ts') },
  hooks: { summary: 'publish commits and pushes as events', kind: 'group', load: () => import('./verbs/hooks.ts') },
  trust: {
    summary: 'say what of a project you trust on this machine',
    kind: 'looks',
    load: () => import('./verbs/trust.ts'),
  },
  web: { summary: 'open the Temporal Web UI', kind: 'looks', load: () => import('./verbs/web.ts') },
  up: { summary: 'start the services', kind: 'acts', load: () => import('./verbs/up.ts') },
  down: { summary: 'stop the services', kind: 'acts', load: () => import('./verbs/down.ts') },
  doctor: {
    summary: 'check what is installed, and say how to fix what is missing',
    kind: 'looks',
    load: () => import('./verbs/doctor.ts'),
  },
  worker: { summary: 'run a worker alone, in the foreground', kind: 'acts', load: () => import('./verbs/worker.ts') },
};
