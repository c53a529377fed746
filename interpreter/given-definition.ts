/**
 * A nested step whose definition is a reference: what it stands for is read, by a host that can, each
 * time the step is reached, and from there on is the definition of the step.
 */
import type { Catalogue } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Definition, SentinelStep } from '../language/model.ts';
import type { Finding } from '../language/read/nested-definition.ts';
import { isReferredLater } from '../language/references/written-references.ts';
import { wait, type Walking } from './drive.ts';
import { Reader, visible } from './effects.ts';
import type { RunInput, Strand } from './host.ts';
import type { Place, Walk } from './walk-state.ts';
import { remainingMs } from './limits.ts';
import { namesAt } from './names.ts';

export type Given =
  { step: SentinelStep; library: { [name: string]: Definition }; catalogue: Catalogue } | { failure: FailureInfo };

const findingsShownMax = 20;
const findingsSaidMax = 3;

/** A name means the definition that the run carries under it, where there is one. */
export function isGiven(
  definition: SentinelStep['definition'],
  library: RunInput['library'],
): definition is { $ref: string } {
  return '$ref' in definition && isReferredLater(definition.$ref, (name) => Object.hasOwn(library, name));
}

export function* readGiven(
  walk: Walk,
  strand: Strand,
  step: SentinelStep,
  place: Place,
  written: string,
): Walking<Given> {
  const { input, host } = walk;
  const { key, path, passes } = place;
  const reader = new Reader(namesAt(walk, strand, passes, path));
  const value = reader.value(written);
  if (reader.fault) return refused(reader.fault.code, `${key}: ${reader.fault.message}`);
  if (value === null || value === '')
    return refused(
      'UNRESOLVED_REFERENCE',
      `${key}: ${written} has no value here, and a definition is needed; set it before this step`,
    );
  const read = yield* wait(
    host.readDefinition(key, {
      value,
      library: input.library,
      around: input.definition.name,
      label: step.name ?? step.outputTo ?? 'nested',
      names: Object.keys(visible(walk, strand)),
      isBounded: remainingMs(walk, strand) !== null || input.limits.maxIterations !== null,
    }),
  );
  if ('missing' in read)
    return refused(
      'UNKNOWN_DEFINITION',
      `${key}: ${written} names "${read.missing}", and there is no definition of that name; save it first`,
    );
  if ('findings' in read)
    return refused(
      'DEFINITION_INVALID',
      `${key}: what ${written} holds is no definition: ${said(read.findings)}`,
      read.findings,
    );
  return { step: { ...step, definition: read.definition }, library: read.library, catalogue: read.catalogue };
}

function refused(code: string, message: string, findings: readonly Finding[] = []): { failure: FailureInfo } {
  const problems = findings
    .slice(0, findingsShownMax)
    .map(({ code: problem, path, message: found }) => ({ code: problem, path, message: found }));
  return { failure: { code, message, retryable: false, ...(problems.length === 0 ? {} : { details: { problems } }) } };
}

function said(findings: readonly Finding[]): string {
  const shown = findings
    .slice(0, findingsSaidMax)
    .map(({ code, path, message }) => `${code}${path === '' ? '' : ` at ${path}`}: ${message}`);
  const more = findings.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
}
