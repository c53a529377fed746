/**
 * Approval anywhere: what asks × where it stands × when the answer comes. The cells are what the
 * scripted host shows; approval-table.md beside this file lists them.
 *
 * An edit is its own answer: of the step behind the one that is `before` reached, under way
 * (`during`), or, `after expiry`, behind the edited step itself.
 */
import type { Definition, Step } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { definitionPath } from '../../../interpreter/keys.ts';
import type { ScriptedRun, Mode } from '../../../interpreter/simulation/world.ts';
import type { Interruption, ScriptedAnswer } from '../../../interpreter/simulation/script.ts';
import { runCase, STRAIGHT, type Outcome } from '../harness/run-case.ts';

export const KINDS = ['approval step', 'requireApproval', 'escalation on error', 'pause', 'edit'] as const;
export type Kind = (typeof KINDS)[number];

export const PLACES = [
  'top level',
  'nested',
  'nested twice',
  'parallel branch',
  'loop body',
  'loop in a parallel in a nested',
  'always',
] as const;
export type Place = (typeof PLACES)[number];

export const MOMENTS = ['before', 'during', 'after continuing as new', 'twice', 'after expiry'] as const;
export type Moment = (typeof MOMENTS)[number];

const expiryMs = 1000;
const emit = (event: string): Step => ({ type: 'emit', event });

function asker(kind: Kind, moment: Moment): Step {
  switch (kind) {
    case 'approval step':
      return {
        type: 'approval',
        message: 'Go on?',
        outputTo: 'said',
        ...(moment === 'after expiry' ? { timeoutMs: expiryMs } : {}),
      };
    case 'requireApproval':
    case 'escalation on error':
    case 'pause':
    case 'edit':
      return { type: 'shell', command: 'act' };
    default:
      return kind satisfies never;
  }
}

/** What the definition that holds the asking step says besides. */
function terms(kind: Kind): Partial<Definition> {
  if (kind === 'requireApproval') return { safety: { requireApproval: ['shell'] } };
  return kind === 'escalation on error' ? { escalateOn: [{ condition: 'error', action: 'pause' }] } : {};
}

const once = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'once' },
  steps,
  ...rest,
});
const nest = (definition: Definition): Step => ({ type: 'sentinel', definition });
const twoPasses = (steps: Step[]): Step => ({ type: 'loop', loop: { type: 'count', max: 2 }, steps });
const besides = (steps: Step[]): Step => ({
  type: 'parallel',
  branches: [steps, [emit('beside'), emit('beside again')]],
});

/** The definition, and the keys at which it asks. */
export function definitionFor(kind: Kind, place: Place, moment: Moment): Placed {
  // The last step is no quick one, so that what happens at it happens alike in all ways of running.
  const steps: Step[] = [
    asker(kind, moment),
    emit('after'),
    ...(kind === 'edit' ? [{ type: 'shell', command: 'last' } as const] : []),
  ];
  const limit = moment === 'after expiry' && kind !== 'approval step' && kind !== 'edit' ? { timeoutMs: expiryMs } : {};
  return placedIn(place, steps, terms(kind), limit);
}

export interface Placed {
  definition: Definition;
  /** Where the first of the steps is reached, behind the keys of the nested runs that lead to it. */
  keys: string[];
}

/** The steps at the place; `own` is said of the definition that holds them, `limit` of the outermost. */
export function placedIn(
  place: Place,
  steps: Step[],
  own: Partial<Definition>,
  limit: Partial<Definition> = {},
): Placed {
  switch (place) {
    case 'top level':
      return { definition: once('case', steps, { ...own, ...limit }), keys: ['steps.0@1'] };
    case 'nested':
      return { definition: once('case', [nest(once('child', steps, own))], limit), keys: ['steps.0@1/steps.0@1'] };
    case 'nested twice':
      return {
        definition: once('case', [nest(once('child', [nest(once('grandchild', steps, own))]))], limit),
        keys: ['steps.0@1/steps.0@1/steps.0@1'],
      };
    case 'parallel branch':
      return { definition: once('case', [besides(steps)], { ...own, ...limit }), keys: ['steps.0.branches.0.0@1'] };
    case 'loop body':
      return {
        definition: once('case', [twoPasses(steps)], { ...own, ...limit }),
        keys: ['steps.0.steps.0@1.1', 'steps.0.steps.0@1.2'],
      };
    case 'loop in a parallel in a nested':
      return {
        definition: once('case', [nest(once('child', [besides([twoPasses(steps)])], own))], limit),
        keys: ['steps.0@1/steps.0.branches.0.0.steps.0@1.1', 'steps.0@1/steps.0.branches.0.0.steps.0@1.2'],
      };
    case 'always':
      return { definition: once('case', [emit('work')], { ...own, always: steps }), keys: ['always.0@1'] };
    default:
      return place satisfies never;
  }
}

function answersAt(kind: Kind, moment: Moment): ScriptedAnswer[] {
  const first: ScriptedAnswer = { choice: kind === 'escalation on error' ? 'retry' : 'approve', by: 'ada' };
  const second: ScriptedAnswer = { choice: 'abort', by: 'bob', afterMs: 20 };
  if (moment === 'twice') return [first, second];
  return [moment === 'after expiry' ? { ...first, afterMs: 1_000_000 } : first];
}

/** A pause is answered by resuming: by itself, and where it stands in the script twice, again. */
function interruptionsAt(kind: Kind, moment: Moment, key: string): Interruption[] {
  if (kind === 'pause')
    return [
      { at: key, do: 'pause', forMs: 50 },
      ...(moment === 'twice' ? [{ at: key, when: 'during', do: 'pause' } as const] : []),
    ];
  if (kind === 'edit') return editsAt(moment, key);
  return moment === 'before' ? [{ at: key, do: 'answer' }] : [];
}

/** Of the step behind the asking one, `after`, made for the definition as it was at first. */
function editsAt(moment: Moment, key: string): Interruption[] {
  const path = definitionPath(key.slice(key.lastIndexOf('/') + 1).split('@')[0] ?? '').replace(/\.0$/, '.1');
  const edit = { op: 'update', path, step: { type: 'emit', event: 'edited' }, revision: 0 } as const;
  if (moment === 'after expiry') return [{ at: key.replace(/\.0(@[^@]*)$/, '.2$1'), do: 'edit', edit }];
  const first: Interruption = { at: key, when: moment === 'before' ? 'before' : 'during', do: 'edit', edit };
  return moment === 'twice' ? [first, { ...first }] : [first];
}

/** Continue-as-new between the asking and the answer, or between the edit and the step that it changed. */
function modeFor(kind: Kind, moment: Moment, mode: Mode): Mode {
  if (moment !== 'after continuing as new') return mode;
  return kind === 'edit' ? { yieldEvery: 1, ...mode } : { ...mode, yieldAsking: true };
}

/** The combinations that mean something: nobody resumes a run before it is held, no pause expires, and no held run continues as new. */
export const applies = (kind: Kind, moment: Moment): boolean =>
  kind !== 'pause' || moment === 'during' || moment === 'twice';

export function runCell(kind: Kind, place: Place, moment: Moment, mode: Mode = STRAIGHT): Promise<Outcome> {
  const { definition, keys } = definitionFor(kind, place, moment);
  const failing =
    kind === 'escalation on error'
      ? [
          { ok: false, failure: { code: 'BROKEN' } },
          { ok: true, tookMs: 100 },
        ]
      : [{ ok: true, tookMs: 100 }];
  return runCase(
    {
      definition,
      replies: Object.fromEntries(keys.map((key) => [key, failing])),
      answers: { '**': answersAt(kind, moment) },
      interruptions: (kind === 'edit' ? keys.slice(0, 1) : keys).flatMap((key) => interruptionsAt(kind, moment, key)),
    },
    modeFor(kind, moment, mode),
  );
}

/** One cell in words, from what happened. */
export function wordsFor(kind: Kind, { runs, result }: Outcome): string {
  const events = runs.flatMap((run) => run.events);
  const replies = runs.flatMap((run: ScriptedRun) => run.questions.replies);
  const refused = replies.flatMap((reply) => ('code' in reply ? [reply.code] : []));
  const again = replies.some((reply) => 'already' in reply && reply.already);
  const wentOn = events.some(
    (event) => event.type === 'step-finished' && ['after', 'edited'].includes(event.label) && event.outcome === 'ok',
  );
  const end =
    result.outcome === 'completed'
      ? wentOn
        ? 'goes on'
        : 'completed without it'
      : [result.outcome, result.limit ?? result.failure?.code].filter(Boolean).join(': ');
  if (kind === 'pause') return `resumed, ${end}`;
  if (kind === 'edit') return [...editWords(events), end].join(', ');
  const parts = [...new Set(refused)].map((code) => `refused (${code})`);
  return [...parts, ...(again ? ['the first stands'] : []), end].join(', ');
}

function editWords(events: readonly RunEvent[]): string[] {
  const refused = events.flatMap((event) => (event.type === 'warning' ? [`refused (${event.code})`] : []));
  const edited = events.flatMap((event) =>
    event.type === 'edited' ? [event.from === 'now' ? 'edited' : 'edited from the next pass'] : [],
  );
  const ran = events.some((event) => event.type === 'step-finished' && event.label === 'edited');
  if (ran !== edited.length > 0) throw new Error('what was edited and what ran do not agree');
  return [...edited, ...refused, ...(edited.length > 0 && refused.length > 0 ? ['the first stands'] : [])];
}

export async function table(kind: Kind): Promise<string[]> {
  const moments = MOMENTS.filter((moment) => applies(kind, moment));
  const rows: string[] = [`| ${kind} | ${moments.join(' | ')} |`, `|---|${moments.map(() => '---|').join('')}`];
  for (const place of PLACES) {
    const cells: string[] = [];
    for (const moment of moments) cells.push(wordsFor(kind, await runCell(kind, place, moment)));
    rows.push(`| ${place} | ${cells.join(' | ')} |`);
  }
  return rows;
}
