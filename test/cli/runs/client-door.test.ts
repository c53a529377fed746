/** Whatever value a program hands to the client: it is read as a file is, or refused with what is wrong; nothing in between. */
import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readForStart } from '../../../client/reading/read-for-start.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { ClientError } from '../../../runs/client-error.ts';
import { catalogue } from '../../catalogue.ts';
import { randomRuns } from '../../random-runs.ts';

const parts = {
  catalogue,
  store: { definitions: { find: async () => null } } as unknown as Pick<Store, 'definitions'>,
};

/** What is started of it; null where it is refused. */
async function started(written: unknown): Promise<unknown> {
  try {
    return (await readForStart(parts, written, { persona: 'ada', project: '/p', known: undefined })).definition;
  } catch (error) {
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ code: 'DEFINITION_INVALID' });
    return null;
  }
}

const read = (written: unknown): unknown => {
  const result = parseDefinition(written, { catalogue });
  return result.ok ? result.definition : null;
};

test('any value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (written) => {
      expect(await started(written)).toBeNull();
    }),
    randomRuns(3_000),
  );
});

test('what holds itself, many times over', async () => {
  const circle: Record<string, unknown> = { name: 'x', steps: [] };
  circle['steps'] = [circle, circle];
  expect(await started(circle)).toBeNull();
  let wide: object = { type: 'shell', command: 'true' };
  for (let depth = 0; depth < 60; depth += 1) wide = { type: 'loop', steps: [wide, wide] };
  expect(await started({ name: 'x', steps: [wide] })).toBeNull();
});

const folder = new URL('../../cases/definitions/good/', import.meta.url);
const authors = readdirSync(folder).map((file): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

type Change = { path: number[]; put: { value: unknown } | 'removed' };

const change: fc.Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  put: fc.oneof(
    fc.constant('removed' as const),
    fc
      .oneof(fc.jsonValue(), fc.constant(undefined), fc.constantFrom('1 == 2', '$x', 'shel', -1))
      .map((value) => ({ value })),
  ),
});

describe('a definition of an author', () => {
  test.each([1, 2, 5])(
    'with values changed or removed in up to %i places is what a file with it would be',
    async (max) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...authors),
          fc.array(change, { minLength: 1, maxLength: max }),
          async (author, changes) => {
            const changed = changes.reduce((value: unknown, one) => withChange(value, one.path, one.put), author);
            const asFile = JSON.stringify(changed);
            expect(await started(changed)).toEqual(asFile === undefined ? null : read(JSON.parse(asFile)));
          },
        ),
        randomRuns(1_000),
      );
    },
  );
});

function withChange(value: unknown, [first = 0, ...rest]: readonly number[], put: Change['put']): unknown {
  const own = (): unknown => (put === 'removed' ? value : put.value);
  if (typeof value !== 'object' || value === null) return own();
  const keys = Object.keys(value);
  if (keys.length === 0) return own();
  const key = keys[first % keys.length] ?? '';
  const inner = (value as Record<string, unknown>)[key];
  const isRemoved = rest.length === 0 && put === 'removed';
  const next = rest.length > 0 ? withChange(inner, rest, put) : put === 'removed' ? undefined : put.value;
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => {
      if (String(index) !== key) return [item];
      return isRemoved ? [] : [next ?? null];
    });
  const { [key]: _replaced, ...others } = value as Record<string, unknown>;
  return isRemoved ? others : { ...value, [key]: next };
}
