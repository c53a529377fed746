/** Which queries Prisma makes (decision 3): reads of work that lasts, in one folder. */
import { describe, expect, test } from 'vitest';
import { codeOf, files } from './tree.ts';

const FOLDER = 'prisma/store/lasting/';
const sources = files.filter((path) =>
  /^(?:prisma\/store|systems|operations|runs|client|cli|worker)\/.*\.ts$/.test(path),
);
const [lasting, others] = [true, false].map((isInside) =>
  sources.filter((path) => path.startsWith(FOLDER) === isInside),
) as [string[], string[]];

const SQL = /\/database\.ts'|\$(?:query|execute)Raw/;
const WRITES = /\.(?:create|update|upsert|delete)(?:Many)?(?:AndReturn)?\(/;
const ASKS_PRISMA = /\bprisma\.get\(/;

describe('Prisma', () => {
  test.each(lasting)('makes the queries of %s, which reads', (path) => {
    expect(codeOf(path)).toMatch(ASKS_PRISMA);
    expect(codeOf(path)).not.toMatch(SQL);
    expect(codeOf(path)).not.toMatch(WRITES);
  });

  test('makes no others', () => {
    expect(lasting.length).toBeGreaterThan(0);
    expect(others.filter((path) => ASKS_PRISMA.test(codeOf(path)))).toEqual([]);
  });
});
