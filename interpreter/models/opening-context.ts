/** What a model is told besides its prompt: the variables that the run has set so far, and what was collected for the pass. */
import { contextCharactersMax, contextVariableCharactersMax } from '../../language/limits.ts';
import type { Json } from '../../language/json.ts';
import { textOf, textValue, type ScopeReader } from '../../language/expression/scope.ts';
import { hasSources } from '../../language/catalogue.ts';
import { withoutPictures } from '../../language/models/pictures.ts';
import { type LeftOut, shortenedText } from '../../language/models/left-out.ts';
import { defined } from '../../language/defined.ts';
import type { OpeningContext, Place, Variables } from '../effect.ts';
import type { Strand } from '../host.ts';
import { contextKey } from '../pass-context.ts';
import { withoutResults } from '../results.ts';
import type { Walk } from '../walk-state.ts';

/** So many are named as left out; the rest is a number. */
const leftOutMax = 50;

/** `read`: names that the step's own texts refer to: these are told there. */
export function contextOf(
  walk: Walk,
  strand: Strand,
  place: Pick<Place, 'passes'>,
  { read, scope }: { read: ReadonlySet<string>; scope: ScopeReader },
): OpeningContext | undefined {
  const accumulated = Object.entries(setSoFar(strand)).filter(([name, value]) => !read.has(name) && !isNothing(value));
  const variables: OpeningContext['variables'] = [];
  const crowdedOut: string[] = [];
  let left = contextCharactersMax;
  // Of what was set, the last is the most likely to matter.
  for (const [name, value] of accumulated.toReversed()) {
    const text = shortenedText(
      textOf(withoutPictures(textValue(scope, name, value) ?? null)),
      contextVariableCharactersMax,
    );
    if (text.length > left) crowdedOut.push(name);
    else {
      left -= text.length;
      variables.push({ name, text });
    }
  }
  const sources = hasSources(walk.input.definition) ? contextKey(place.passes) : undefined;
  if (sources === undefined && accumulated.length === 0) return undefined;
  return { ...defined({ sources }), variables, leftOut: leftOutOf(crowdedOut) };
}

/** By the strand and those around it; inputs are not among them. */
const setSoFar = (strand: Strand): Variables =>
  withoutResults(Object.assign({}, ...strand.outer.toReversed(), strand.own) as Variables);

const isNothing = (value: Json): boolean => value === null || value === '';

function leftOutOf(names: readonly string[]): LeftOut[] {
  const why = `the variables that were set after it fill the ${contextCharactersMax} characters that variables have`;
  const more = names.length - leftOutMax;
  return [
    ...names.slice(0, leftOutMax).map((name) => ({ name: `variable ${name}`, why })),
    ...(more > 0 ? [{ name: `${more} more variables`, why }] : []),
  ];
}
