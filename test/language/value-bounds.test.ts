/** How deep and how large a value of a run may be, and that whatever walks over values can walk over the deepest. */
import { describe, expect, test } from 'vitest';
import { canonicalText } from '../../language/canonical.ts';
import { eventDataFault } from '../../language/events/published-event.ts';
import { previewOf } from '../../language/events/preview.ts';
import { tryEvaluate } from '../../language/expression/evaluate.ts';
import { scopeOf } from '../../language/expression/scope.ts';
import { formFault } from '../../language/params/form.ts';
import { depthFault, faultOfValues, isDeeper, valueFault, type Json } from '../../language/json.ts';
import { eventDataBytesMax, valueBytesMax, valueDepthMax } from '../../language/limits.ts';
import { Value } from '../../language/model.ts';
import { interpolateValue } from '../../language/references/interpolation.ts';
import { Masker } from '../../language/masking/masker.ts';

function nested(levels: number, around: (value: Json) => Json = (value) => [value]): Json {
  let value: Json = 'x';
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

const inObjects = (value: Json): Json => ({ a: value });
const inBoth = (value: Json): Json => [{ a: value, b: 1 }];

/** Of so many bytes as JSON. */
const text = (bytes: number): string => 'x'.repeat(bytes - 2);

describe('depth', () => {
  test.each([
    ['arrays', nested(valueDepthMax), nested(valueDepthMax + 1)],
    ['objects', nested(valueDepthMax, inObjects), nested(valueDepthMax + 1, inObjects)],
    ['both', nested(valueDepthMax / 2, inBoth), nested(valueDepthMax / 2 + 1, inBoth)],
  ])('%s are taken up to the bound, and not beyond it', (_, fine, deep) => {
    expect(valueFault(fine, 'x')).toBeNull();
    expect(valueFault(deep, 'the input "x"')).toEqual({
      code: 'VALUE_TOO_LARGE',
      message: `the input "x" is nested deeper than ${valueDepthMax} levels; make it flatter, or hand it over as text`,
    });
  });

  test.each([3_000, 60_000, 1_000_000])('%i levels are refused without an overflow', (levels) => {
    expect(valueFault(nested(levels), 'x')?.code).toBe('VALUE_TOO_LARGE');
  });

  test('a value that holds itself has no depth, and is refused at once', () => {
    const round: { [key: string]: Json } = {};
    round['one'] = round;
    round['other'] = round;
    expect(valueFault(round, 'x')?.code).toBe('VALUE_NOT_JSON');
  });

  test('what will be put around a value counts', () => {
    expect(eventDataFault(nested(valueDepthMax - 1), 'the data')).toBeNull();
    expect(eventDataFault(nested(valueDepthMax), 'the data')?.message).toMatch(/deeper than 499 levels/);
  });
});

describe('size', () => {
  test('bytes count, not characters, up to the bound and not beyond it', () => {
    expect(valueFault(text(valueBytesMax), 'x')).toBeNull();
    expect(valueFault(text(valueBytesMax + 1), 'x')).toMatchObject({
      code: 'VALUE_TOO_LARGE',
      message: expect.stringMatching(/^x has 8388609 bytes as JSON, and at most 8388608 are taken/) as string,
    });
    expect(valueFault('é'.repeat(valueBytesMax / 2), 'x')?.code).toBe('VALUE_TOO_LARGE');
  });

  test('values together have the bound of one', () => {
    const half = text(valueBytesMax / 2);
    expect(faultOfValues({ a: half }, (name) => name)).toBeNull();
    expect(faultOfValues({ a: half, b: half }, (name) => name)?.message).toMatch(/^a and b has/);
  });

  test('data of an event fit into the event that a run reads', () => {
    expect(eventDataFault(text(eventDataBytesMax), 'the data')).toBeNull();
    expect(eventDataFault(text(eventDataBytesMax + 1), 'the data')?.code).toBe('VALUE_TOO_LARGE');
  });
});

describe('whatever walks over values takes the deepest there is', () => {
  // As deep as a result may be, with the levels that a run puts around its variables.
  const deepest = nested(valueDepthMax + 100, inObjects);
  const scope = scopeOf({ x: nested(valueDepthMax, inObjects), y: nested(valueDepthMax, inObjects) });

  test.each<[string, () => unknown]>([
    ['masking', () => new Masker([{ text: 'secret', shown: '***', isSecret: true }]).json(deepest)],
    ['the canonical text', () => canonicalText(deepest)],
    ['a preview', () => previewOf(deepest)],
    ['the reader of parameters', () => Value.parse(deepest)],
    ['JSON', () => JSON.parse(JSON.stringify(deepest))],
    ['a copy between threads', () => structuredClone(deepest)],
    ['a form', () => formFault({ type: 'object' }, deepest)],
    ['a template', () => interpolateValue({ a: '$x', b: 'text of $x' }, scope)],
    ['a comparison', () => tryEvaluate('$x === $y', scope)],
    ['a search', () => tryEvaluate('[$x].includes($x) && [$x, $y].length === 2', scope)],
    ['JSON in an expression', () => tryEvaluate('JSON.parse(JSON.stringify($x)).a', scope)],
  ])('%s', (_, walk) => {
    const result = walk();
    if (typeof result === 'object' && result !== null && 'ok' in result) expect(result).toMatchObject({ ok: true });
  });

  test('and none is told deep that is not', () => {
    expect(
      isDeeper(
        Array.from({ length: 100_000 }, () => [{}]),
        3,
      ),
    ).toBe(false);
    expect(depthFault(null, 'x')).toBeNull();
  });
});
