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
    return (await readForStart(parts, written)).definition;
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

describe('a definition of an author', () => {
  test('with one value changed is what a file with it would be', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...authors),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
        fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.constantFrom('1 == 2', '$x', 'shel', -1)),
        async (author, path, value) => {
          const changed = withChange(author, path, value);
          const asFile = JSON.stringify(changed);
          expect(await started(changed)).toEqual(asFile === undefined ? null : read(JSON.parse(asFile)));
        },
      ),
      randomRuns(2_000),
    );
  });
});

function withChange(value: unknown, [first = 0, ...rest]: readonly number[], put: unknown): unknown {
  if (typeof value !== 'object' || value === null) return put;
  const keys = Object.keys(value);
  if (keys.length === 0) return put;
  const key = keys[first % keys.length] ?? '';
  const inner = (value as Record<string, unknown>)[key];
  const next = rest.length === 0 ? put : withChange(inner, rest, put);
  if (Array.isArray(value)) return value.map((item: unknown, index) => (String(index) === key ? (next ?? null) : item));
  return { ...value, [key]: next };
}
