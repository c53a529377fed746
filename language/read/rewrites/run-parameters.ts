/**
 * What `sentinel/run` is handed: the dojo shorthand, a definition without a word around it, an object
 * around one, or any of these beside `command` instead of in `params`. They become the `definition`
 * that the command takes; the run that it starts reads it in whichever dialect it is.
 */
import { isTemplate } from '../../references/written-references.ts';
import { conflict, isPlain, pathOf, standIn, within, type Draft, type Plain } from '../draft/draft.ts';
import { defined } from '../../defined.ts';

const RUNS: ReadonlySet<unknown> = new Set(['sentinel/run', 'sentinel/start']);

/** What no step has beside `command`, and what a run may be handed. */
export const OF_A_RUN = [
  'definition',
  'steps',
  'pipeline',
  'challenges',
  'measure',
  'trainOnFailures',
  'loopUntil',
  'loop',
  'safety',
  'inputs',
  'sentinelId',
  'parentPersonaId',
  'inheritContext',
  'reportTo',
  'escalateOn',
];

/** What says that a program is handed over, and not the name of one or a line of shell. */
const PROGRAMS = ['definition', 'steps', 'pipeline', 'challenges'];

export function rewriteRunParameters(draft: Draft): void {
  if (!RUNS.has(draft.value['command'])) return;
  moveIntoParams(draft);
  within(draft, 'params', (params) => {
    if (!PROGRAMS.some((key) => Object.hasOwn(params.value, key)) || isTaken(params.value)) return;
    wrap(params);
  });
}

function moveIntoParams(draft: Draft): void {
  const { value } = draft;
  const outside = OF_A_RUN.filter((key) => Object.hasOwn(value, key));
  if (outside.length === 0 || (value['params'] !== undefined && !isPlain(value['params']))) return;
  if (value['params'] === undefined) standIn(draft, 'params', {});
  within(draft, 'params', (params) => {
    for (const key of outside) {
      if (Object.hasOwn(params.value, key)) conflict(draft, key, `params.${key}`);
      else {
        params.value[key] = value[key];
        params.moved.set(key, pathOf(draft, key));
      }
      delete value[key];
    }
  });
}

/** The forms that the command takes as they are. */
function isTaken(params: Plain): boolean {
  const keys = Object.keys(params).filter((key) => key !== 'inputs');
  if (params['type'] === 'pipeline') return keys.every((key) => ['type', 'steps', 'name'].includes(key));
  const { definition } = params;
  return (
    keys.length === 1 &&
    keys[0] === 'definition' &&
    !(isPlain(definition) && (isReferred(definition['challenges']) || isNameless(definition)))
  );
}

/** A pipeline may go without a name, and then says that it is one. */
function isNameless(definition: Plain): boolean {
  return (
    ['steps', 'pipeline'].some((key) => Object.hasOwn(definition, key)) &&
    !['name', 'type', 'challenges'].some((key) => Object.hasOwn(definition, key))
  );
}

/** Everything but the inputs is the definition, or what stands around it. */
function wrap(params: Draft): void {
  const { inputs, ...around } = params.value;
  const kept = params.moved;
  const given = around['definition'];
  const isWhole = isPlain(given) && Object.keys(around).every((key) => key === 'definition' || key === 'type');
  if (Object.hasOwn(around, 'definition')) delete around['type'];
  const written: Plain = isWhole ? given : around;
  const definition: Plain = isNameless(written) ? { type: 'pipeline', ...written } : { ...written };
  params.origins.set(definition, params.path, isWhole ? undefined : kept);
  params.value = { definition, ...defined({ inputs }) };
  params.moved = new Map([
    ['definition', isWhole ? (kept.get('definition') ?? `${params.path}.definition`) : params.path],
    ['inputs', kept.get('inputs') ?? `${params.path}.inputs`],
  ]);
  giveChallenges(params, definition);
}

/** A run that nobody waits for does not see the variables of this one, so the challenges are an input of it. */
function giveChallenges(params: Draft, definition: Plain): void {
  const { challenges } = definition;
  const { inputs = {} } = params.value;
  if (!isReferred(challenges) || !isPlain(inputs) || Object.hasOwn(inputs, 'challenges')) return;
  params.value['inputs'] = { ...inputs, challenges };
  definition['challenges'] = '$challenges';
}

function isReferred(challenges: unknown): challenges is string {
  return typeof challenges === 'string' && challenges !== '$challenges' && isTemplate(challenges);
}
