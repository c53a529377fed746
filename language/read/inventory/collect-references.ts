/** Every place where a definition reads a variable, and the expressions that cannot be read. */
import { findCommand, shellLineOf, type Catalogue } from '../../catalogue.ts';
import { parseExpression, referencesOf, type ParsedExpression } from '../../expression/parse.ts';
import type { CommandStep, Step } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { verificationOf } from '../../unknown-outcomes.ts';
import { isReferredLater, referencesIn, unreadIn, type Unread } from '../../references/written-references.ts';
import { isPlain, join, type Origins, type Plain } from '../draft/draft.ts';
import { expressionFix } from '../remedies/expression-fix.ts';
import type { DefinitionSite, Place, Sites, StepSite } from './sites.ts';
import { unknownCall } from '../remedies/unknown-call.ts';
import { defined } from '../../defined.ts';

/** What `stopWhen` of a model step reads besides the names that every expression does: how its turns stand. */
export const TURN_NAMES: ReadonlySet<string> = new Set(['turns', 'toolCalls', 'text', 'usage', 'model']);

export interface ReferenceSite {
  name: string;
  /** Fields and indexes that follow the name. */
  path: string[];
  written: string;
  at: string;
  place: Place;
  /** The step, or the definition of a run's own loop, that reads it. */
  reader: object;
  /** `shell`: the shell may know the name where we do not. */
  from: 'expression' | 'template' | 'shell';
}

/** In braces a name is ours wherever it stands; the shell knows none of them. */
export const inBraces = ({ written }: Pick<ReferenceSite, 'written'>): boolean => written.startsWith('{{');

/** A text that looks like a reference and is none. */
export interface UnreadSite extends Unread {
  at: string;
  inQuotes?: true;
}

export interface Collected {
  references: ReferenceSite[];
  unread: UnreadSite[];
  problems: Problem[];
}

interface Known {
  catalogue: Catalogue;
  isDefinition: (name: string) => boolean;
}

const NONE: ReadonlySet<string> = new Set();

export function collectReferences(sites: Sites, origins: Origins, known: Known): Collected {
  const unread: UnreadSite[] = [];
  const references: ReferenceSite[] = [];
  const problems: Problem[] = [];
  /** `own`: names that stand for something there alone. */
  const expression = (
    text: unknown,
    at: string,
    place: Place,
    reader: object,
    own: ReadonlySet<string> = NONE,
  ): void => {
    if (typeof text !== 'string') return;
    const parsed = parseExpression(text);
    if (!parsed.ok) problems.push(badExpression(text, at, parsed));
    else {
      unread.push(...quotedIn(text).map((quoted) => ({ ...quoted, at, inQuotes: true as const })));
      references.push(...expressionReferences(text, at, place, reader).filter(({ name }) => !own.has(name)));
    }
  };
  for (const site of sites.loops) {
    const { loop, path, place } = site;
    // A check is read inside the loop, where the current item is bound; the bounds are read before it.
    const inside: Place = { ...place, loops: [...place.loops, site] };
    for (const key of ['check', 'max', 'over'] as const) {
      if (key in loop)
        expression(
          (loop as { [key: string]: unknown })[key],
          origins.locate(loop, path, [key]),
          key === 'check' ? inside : place,
          site.owner,
        );
    }
    references.push(...sourceReferences(site.owner, origins, inside));
  }
  for (const site of sites.steps) {
    if (site.step.type === 'condition')
      expression(site.step.check, origins.locate(site.step, site.path, ['check']), site.place, site.step);
    if (site.step.type === 'llm')
      expression(
        site.step.stopWhen,
        origins.locate(site.step, site.path, ['stopWhen']),
        site.place,
        site.step,
        TURN_NAMES,
      );
    readTemplates(site, origins, known, references, unread);
  }
  for (const site of sites.definitions) {
    references.push(...outputReferences(site, origins));
    readSettings(site, origins, expression, references);
    eachText(site.value['outputs'], origins.locate(site.value, site.path, ['outputs']), (text, at) =>
      unread.push(...unreadIn(text).map((found) => ({ ...found, at }))),
    );
  }
  return { references, unread, problems };
}

/** What a definition reads outside of its steps: the loops around it are those that it stands in. */
const placeOf = (site: DefinitionSite): Place => ({ definition: site, loops: site.parent?.loops ?? [] });

/** What is read before a run has begun: the name of its group, and the filter of its trigger. */
function readSettings(
  site: DefinitionSite,
  origins: Origins,
  expression: (text: unknown, at: string, place: Place, reader: object) => void,
  references: ReferenceSite[],
): void {
  const { value, path } = site;
  const place = placeOf(site);
  const { concurrency, trigger } = value;
  if (isPlain(trigger) && trigger['type'] === 'event')
    expression(trigger['filter'], origins.locate(value, path, ['trigger', 'filter']), place, trigger);
  if (!isPlain(concurrency)) return;
  eachText(concurrency['group'], origins.locate(value, path, ['concurrency', 'group']), (text, at) => {
    for (const { name, path: fields, written } of eachOnce(referencesIn(text)))
      references.push({ name, path: fields, written, at, place, reader: concurrency, from: 'template' });
  });
}

/** What a run gives is read at its end, by no step. */
function outputReferences(site: DefinitionSite, origins: Origins): ReferenceSite[] {
  const { value, path } = site;
  const place = placeOf(site);
  const found: ReferenceSite[] = [];
  eachText(value['outputs'], origins.locate(value, path, ['outputs']), (text, at) => {
    for (const { name, path: fields, written } of eachOnce(referencesIn(text)))
      found.push({ name, path: fields, written, at, place, reader: value, from: 'template' });
  });
  return found;
}

/** What is collected for models as a pass begins, where the current item is bound. */
function sourceReferences(owner: Plain, origins: Origins, place: Place): ReferenceSite[] {
  const { value, path } = place.definition;
  if (owner !== value) return [];
  const found: ReferenceSite[] = [];
  eachText(value['ragSources'], origins.locate(value, path, ['ragSources']), (text, at) => {
    for (const { name, path: fields, written } of eachOnce(referencesIn(text)))
      found.push({ name, path: fields, written, at, place, reader: owner, from: 'template' });
  });
  return found;
}

function badExpression(text: string, path: string, { problem, unknown }: ParsedExpression & { ok: false }): Problem {
  const fix = expressionFix(text);
  const message = unknown === undefined ? problem.message : unknownCall(unknown);
  return {
    code: problem.code === 'NUMBER_CHANGES' ? problem.code : 'BAD_EXPRESSION',
    severity: 'error',
    path,
    message: fix === undefined ? message : `${message}; ${fix}`,
    ...defined({ fix }),
  };
}

/** What an expression reads; nothing where it cannot be read. */
export function expressionReferences(text: string, at: string, place: Place, reader: object): ReferenceSite[] {
  const parsed = parseExpression(text);
  if (!parsed.ok) return [];
  const braces = referencesIn(text).filter(inBraces);
  return referencesOf(parsed.expression).map((found) => {
    const dotted = [found.name, ...found.path].join('.');
    const written = braces.find(({ name, path }) => [name, ...path].join('.') === dotted)?.written ?? `$${dotted}`;
    return { ...found, written, at, place, reader, from: 'expression' };
  });
}

const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/** An expression does not look into its texts: `'{{build.stdout}}' == 'ok'` compares the braces themselves. */
function quotedIn(expression: string): Unread[] {
  const texts = Array.from(expression.matchAll(QUOTED), ([quoted]) => quoted.slice(1, -1));
  const finding = 'in quotes it is text';
  return texts.flatMap((text) =>
    referencesIn(text).map(({ name, written }) => ({
      name,
      written,
      finding,
      content: written
        .replace(/^[${]+/, '')
        .replace(/\}+$/, '')
        .trim(),
    })),
  );
}

/** What a text reads more than once is one finding. */
function eachOnce<T extends Pick<ReferenceSite, 'name' | 'path' | 'written'>>(found: readonly T[]): Iterable<T> {
  return new Map(
    found.map((reference) => [[reference.written, reference.name, ...reference.path].join('\0'), reference]),
  ).values();
}

function readTemplates(
  { step, path, place }: StepSite,
  origins: Origins,
  { catalogue, isDefinition }: Known,
  references: ReferenceSite[],
  unread: UnreadSite[],
): void {
  const read = (value: unknown, where: string, from: ReferenceSite['from'], bound?: string): void =>
    eachText(value, where, (text, at) => {
      for (const { name, path: fields, written } of eachOnce(referencesIn(text)))
        if (name !== bound) references.push({ name, path: fields, written, at, place, reader: step, from });
      // To the shell `${name}` is its own.
      for (const found of unreadIn(text))
        if (from === 'template' || !found.written.startsWith('$')) unread.push({ ...found, at });
    });
  for (const { key, value } of templatesOf(step, catalogue)) {
    read(value, origins.locate(step, path, [key]), step.type === 'shell' && key === 'command' ? 'shell' : 'template');
  }
  const line = step.type === 'command' ? shellLineOf(catalogue, step) : undefined;
  if (line !== undefined) read(line, origins.locate(step, path, ['params', 'command']), 'shell');
  const verification = verificationOf(step);
  if (verification !== undefined) {
    const { verify, params } = verification;
    const asked: CommandStep = { type: 'command', command: verify, ...defined({ params }) };
    const at = origins.locate(verification, origins.locate(step, path, ['onUnknown']), ['params']);
    read(ownParams(asked, catalogue), at, 'template', 'call');
    read(shellLineOf(catalogue, asked), join(at, 'command'), 'shell', 'call');
  }
  if (step.type !== 'sentinel' || !('$ref' in step.definition)) return;
  const { $ref } = step.definition;
  if (typeof $ref !== 'string' || isReferredLater($ref, isDefinition))
    read($ref, origins.locate(step, path, ['definition', '$ref']), 'template');
}

/** The keys of a step that are templates. */
function templatesOf(step: Step, catalogue: Catalogue): Array<{ key: string; value: unknown }> {
  const pick = (...keys: string[]): Array<{ key: string; value: unknown }> =>
    keys.map((key) => ({ key, value: (step as { [key: string]: unknown })[key] }));
  switch (step.type) {
    case 'shell':
      return pick('command', 'args', 'cwd', 'env', 'stdin');
    case 'command':
      return [{ key: 'params', value: ownParams(step, catalogue) }];
    case 'llm':
      return pick('prompt', 'system', 'messages', 'images', 'model');
    case 'watch':
      return pick('executionId', 'event');
    case 'emit':
      return pick('event', 'data');
    case 'sentinel':
      return pick('inputs');
    case 'approval':
      return pick('message', 'show', 'assignee', 'approvers');
    case 'fail':
      return pick('message');
    case 'join':
      return pick('handles');
    case 'sleep':
      return pick('durationMs', 'until');
    case 'set':
      return pick('values');
    case 'condition':
    case 'loop':
    case 'parallel':
      return [];
    default:
      return step satisfies never;
  }
}

/** Without the line for a shell, and without programs that are handed on: the run that they start reads those. */
function ownParams(step: CommandStep, catalogue: Catalogue): unknown {
  if (shellLineOf(catalogue, step) !== undefined) return { ...step.params, command: null };
  const programs = findCommand(catalogue, step.command)?.programParams ?? [];
  return Object.fromEntries(
    Object.entries(step.params ?? {}).filter(([key, value]) => typeof value === 'string' || !programs.includes(key)),
  );
}

function eachText(value: unknown, at: string, visit: (text: string, at: string) => void): void {
  if (typeof value === 'string') visit(value, at);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) eachText(item, join(at, key), visit);
  }
}
