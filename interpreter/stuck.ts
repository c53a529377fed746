/**
 * Whether a model turns in circles, from what the run knows of its calls: what was called with which
 * arguments, and a fingerprint of what came of it. Nothing here looks at the world.
 *
 * - the same call with the same arguments: 3 times in a row with the same result, 6 times whatever it gave
 *   (who waits for a long process asks the same again and again, and sees something new);
 * - two calls in turn: 3 times with the same results, 6 times whatever they gave;
 * - errors: 3 times in a row the same, 6 times any;
 * - no change: `unchangedMax` turns without a call that can have changed the project.
 */
import { canonicalText } from '../language/canonical.ts';
import type { Json, JsonObject } from '../language/json.ts';

/** A call as far as another is the same: fingerprints of what was asked and of what came of it. */
export interface CallMark {
  name: string;
  call: string;
  gave: string;
  ok: boolean;
}

export const marksMax = 12;
const repeatsMax = 3;
/** Whatever came of them. */
const repeatsAnywayMax = 6;

/** The call and what it gave; of an error its message. */
export function markOf(name: string, input: JsonObject, gave: { value: Json } | { error: string }): CallMark {
  const ok = 'value' in gave;
  return {
    name,
    call: fingerprint(`${name} ${canonicalText(input)}`),
    gave: fingerprint(ok ? canonicalText(gave.value) : gave.error),
    ok,
  };
}

/** What is found, in words that fit a person and a model; null where the calls lead somewhere. */
export function circleIn(marks: readonly CallMark[]): string | null {
  const last = marks.at(-1);
  if (last === undefined) return null;
  const same = inARow(marks, (mark) => mark.call === last.call);
  const alike = inARow(marks, (mark) => mark.call === last.call && mark.gave === last.gave);
  if (alike >= repeatsMax)
    return `the last ${alike} calls were all of ${last.name} with the same arguments, and gave the same`;
  if (same >= repeatsAnywayMax) return `the last ${same} calls were all of ${last.name} with the same arguments`;
  return alternating(marks) ?? failing(marks, last);
}

function alternating(marks: readonly CallMark[]): string | null {
  const [before, last] = marks.slice(-2);
  if (before === undefined || last === undefined || before.call === last.call) return null;
  const pairs = (isSame: (a: CallMark, b: CallMark) => boolean): number => {
    const turned = marks.toReversed();
    const differs = turned.findIndex((mark, index) => !isSame(mark, index % 2 === 0 ? last : before));
    return Math.floor((differs === -1 ? turned.length : differs) / 2);
  };
  const alike = pairs((a, b) => a.call === b.call && a.gave === b.gave);
  if (alike < repeatsMax && pairs((a, b) => a.call === b.call) < repeatsAnywayMax) return null;
  return `the last calls went back and forth between ${before.name} and ${last.name}, with the same arguments each time`;
}

function failing(marks: readonly CallMark[], last: CallMark): string | null {
  if (last.ok) return null;
  const same = inARow(marks, (mark) => !mark.ok && mark.gave === last.gave);
  if (same >= repeatsMax) return `the last ${same} calls failed with the same error`;
  const failed = inARow(marks, (mark) => !mark.ok);
  return failed >= repeatsAnywayMax ? `the last ${failed} calls failed` : null;
}

function inARow(marks: readonly CallMark[], fits: (mark: CallMark) => boolean): number {
  const turned = marks.toReversed();
  const differs = turned.findIndex((mark) => !fits(mark));
  return differs === -1 ? turned.length : differs;
}

/** 53 bits (cyrb53), in hexadecimal: enough to tell a dozen calls of one step apart. */
function fingerprint(text: string): string {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 2654435761);
    high = Math.imul(high ^ unit, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return ((high & 0x1fffff) * 2 ** 32 + (low >>> 0)).toString(16);
}
