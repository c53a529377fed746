/** The catalogue of moments at which a worker may die is the code's: each stands where it says, and no other does. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ARMED, armedDeaths } from '../../world/crash-points/armed-deaths.ts';
import { CRASH_POINTS } from '../../world/crash-points/catalogue.ts';
import { codeOf, files, isSource } from './tree.ts';

const CALLED = /\bcrashPoint(?:Soon)?\(\s*'([^']*)'/g;
const ANY = /\bcrashPoint(?:Soon)?\(/g;
const holders = files.filter(
  (path) => isSource(path) && !path.startsWith('test/') && !path.startsWith('world/crash-points/'),
);

test('each point of the catalogue stands in its file, and nowhere else', () => {
  const found = new Set(
    holders.flatMap((path) => Array.from(codeOf(path).matchAll(CALLED), ([, name = '']) => `${name} in ${path}`)),
  );
  const stated = Object.entries(CRASH_POINTS).map(([name, place]) => `${name} in ${place.in}`);
  expect(stated.length).toBeGreaterThan(60);
  expect([...found].toSorted()).toEqual(stated.toSorted());
});

test('a point is named where it stands', () => {
  const unnamed = holders.filter((path) => {
    const code = codeOf(path);
    return code.match(ANY)?.length !== code.match(CALLED)?.length;
  });
  expect(unnamed).toEqual([]);
});

test('code that is replayed holds none: it would die again at each replay', () => {
  const replayed = holders.filter(
    (path) => /^(?:language|interpreter|workflows)\//.test(path) && /crash-point/.test(codeOf(path)),
  );
  expect(replayed).toEqual([]);
});

test('a process that was armed notes the points that it passes, and arms nothing that it starts', () => {
  const record = join(mkdtempSync(join(tmpdir(), 'sentinel-armed-')), 'passed');
  const far = { point: 'command.begun', nth: 99, do: 'kill' } as const;
  const early = { point: 'turn.kept', nth: 1, fromRuns: 2, do: 'kill' } as const;
  const other = { point: 'turn.kept', nth: 1, of: 'c-other-', do: 'kill' } as const;
  const env = { [ARMED]: JSON.stringify({ record, deaths: [far, early, other] }) };
  const armed = armedDeaths(env);
  expect(env).toEqual({});
  expect(armedDeaths(env)).toBeNull();
  armed?.pass('command.begun', { handle: 'c-one-1', key: 'steps.0@1' });
  armed?.pass('turn.kept', { handle: 'c-one-1/steps.0@1' });
  const lines = readFileSync(record, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { pid: process.pid, point: 'command.begun', handle: 'c-one-1', key: 'steps.0@1' },
    { pid: process.pid, point: 'turn.kept', handle: 'c-one-1/steps.0@1' },
  ]);
});
