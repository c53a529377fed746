/** The verbs of the command line: what each is for, and whether it only looks. Its code is loaded when it is asked for. */
import type { Command } from 'commander';
import type { VerbKind } from './request/verb-kind.ts';

interface VerbModule {
  /** `argv`: all words of the command line. */
  define(command: Command, argv: readonly string[]): void | Promise<void>;
}

export interface Verb {
  summary: string;
  /** `group`: each of its own verbs says it. */
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
    summary: 'save a definition, so that its name finds it',
    kind: 'acts',
    load: () => import('./verbs/save.ts'),
  },
  saved: {
    summary: 'list, show and delete saved definitions',
    kind: 'group',
    load: () => import('./verbs/saved.ts'),
  },
  eval: {
    summary: 'run a definition over a list of inputs, and check what comes of each',
    kind: 'acts',
    load: () => import('./verbs/eval.ts'),
  },
  status: { summary: 'show how a run stands', kind: 'looks', load: () => import('./verbs/status.ts') },
  list: { summary: 'list runs, newest first', kind: 'looks', load: () => import('./verbs/list.ts') },
  trace: { summary: 'show the steps of a run as a tree', kind: 'looks', load: () => import('./verbs/trace.ts') },
  transcript: {
    summary: 'show what a run said to models, and their answers',
    kind: 'looks',
    load: () => import('./verbs/transcript.ts'),
  },
  cassette: {
    summary: 'write what a run asked models and was answered to a file, for a replay',
    kind: 'looks',
    load: () => import('./verbs/cassette.ts'),
  },
  samples: {
    summary: 'write conversations with models as training samples',
    kind: 'looks',
    load: () => import('./verbs/samples.ts'),
  },
  costs: { summary: 'sum what models cost', kind: 'looks', load: () => import('./verbs/costs.ts') },
  incidents: {
    summary: 'show what went wrong in runs, or ask about it in plain words',
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
    summary: "walk a run's history again and report where it diverges",
    kind: 'looks',
    load: () => import('./verbs/replay.ts'),
  },
  logs: { summary: 'show what the steps of a run printed', kind: 'looks', load: () => import('./verbs/logs.ts') },
  follow: { summary: 're-attach to a run', kind: 'looks', load: () => import('./verbs/follow.ts') },
  pause: { summary: 'hold a run before its next step', kind: 'acts', load: () => import('./verbs/pause.ts') },
  resume: { summary: 'let a held run go on', kind: 'acts', load: () => import('./verbs/resume.ts') },
  inbox: { summary: 'show what runs ask', kind: 'looks', load: () => import('./verbs/inbox.ts') },
  chat: {
    summary: 'show what runs and people say in rooms, or say something there',
    kind: 'looks',
    load: () => import('./verbs/chat.ts'),
  },
  answer: { summary: 'answer what a run asks', kind: 'acts', load: () => import('./verbs/answer.ts') },
  tell: {
    summary: 'tell the model of a step under way something',
    kind: 'acts',
    load: () => import('./verbs/tell.ts'),
  },
  step: { summary: 'see and edit the steps of a run', kind: 'group', load: () => import('./verbs/step.ts') },
  stop: { summary: 'end a run after the step under way', kind: 'acts', load: () => import('./verbs/stop.ts') },
  cancel: { summary: 'interrupt a run', kind: 'acts', load: () => import('./verbs/cancel.ts') },
  models: {
    summary: 'show which models can be reached, and get one',
    kind: 'group',
    load: () => import('./verbs/models.ts'),
  },
  mcp: {
    summary: 'use the tools of MCP servers, and serve Sentinel as one',
    kind: 'group',
    load: () => import('./verbs/mcp.ts'),
  },
  schedule: { summary: 'start runs on a clock', kind: 'group', load: () => import('./verbs/schedule.ts') },
  trigger: { summary: 'let events start runs', kind: 'group', load: () => import('./verbs/trigger.ts') },
  emit: { summary: 'publish an event', kind: 'acts', load: () => import('./verbs/emit.ts') },
  events: { summary: 'show what was published, with its data', kind: 'looks', load: () => import('./verbs/events.ts') },
  data: { summary: 'show and delete the records of runs', kind: 'group', load: () => import('./verbs/data.ts') },
  hooks: { summary: 'publish commits and pushes as events', kind: 'group', load: () => import('./verbs/hooks.ts') },
  up: { summary: 'start the services', kind: 'acts', load: () => import('./verbs/up.ts') },
  down: { summary: 'stop the services', kind: 'acts', load: () => import('./verbs/down.ts') },
  doctor: {
    summary: 'show what was found where, and what to do about what is missing',
    kind: 'looks',
    load: () => import('./verbs/doctor.ts'),
  },
  worker: { summary: 'run a worker alone, in the foreground', kind: 'acts', load: () => import('./verbs/worker.ts') },
};
