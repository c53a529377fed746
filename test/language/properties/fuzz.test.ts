/** A short piece of the long fuzz (`npm run fuzz`): hostile inputs, and that the watch over them sees anything at all. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { examine, examineCall, type Kind } from '../../fuzz/examine.ts';
import { CANARY } from '../../fuzz/hostile.ts';
import { isSoak } from '../../random-runs.ts';

const inputs: readonly [Kind, number][] = [
  ['evaluator', isSoak ? 15_000 : 1_500],
  ['reader', isSoak ? 5_000 : 500],
];

test.each(inputs)(
  'hostile inputs for the %s: no crash, no hang, nothing inherited read, the same answer twice',
  (kind, count) => {
    const findings = Array.from({ length: count }, (_, seed) => examine(kind, seed + 1)).filter(
      (finding) => finding !== undefined,
    );
    expect(findings.slice(0, 5)).toEqual([]);
  },
  300_000,
);

test.each([7_011_250, 7_032_287, 5_008_599])('what the long fuzz once found stays mended: %i', (seed) => {
  expect(examine('reader', seed)).toBeUndefined();
});

test('the long fuzz runs as it is started', () => {
  const script = join(import.meta.dirname, '..', '..', '..', 'scripts', 'fuzz.mjs');
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, '--count', '20'], { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toMatch(/^20 inputs for the evaluator, 20 inputs for the reader in \d+ s: nothing found\n$/);
}, 60_000);

describe('the watch notices', () => {
  const data: { [name: string]: unknown } = {};

  test.each<[string, (turn: number) => unknown, RegExp]>([
    ['an inherited property', () => data[CANARY], /inherited property was read/],
    [
      'a changed prototype',
      () => Reflect.defineProperty(Object.getPrototypeOf({}) as object, 'added', { configurable: true, value: 1 }),
      /prototype was changed/,
    ],
    ['an exception', () => data['a']?.toString().length ?? (null as unknown as string).length, /threw TypeError/],
    ['another answer', (turn) => turn, /another one/],
    ['a function', () => ({ answer: () => 1 }), /holds a function/],
    ['a number that JSON cannot hold', () => ({ answer: Number.NaN }), /number that JSON cannot/],
    ['a hang', () => waste(60), /one call took/],
  ])('%s', (_name, call, finding) => {
    expect(examineCall(call)).toMatch(finding);
    Reflect.deleteProperty(Object.prototype, 'added');
  });
});

/** Of the time that passes and of processor time alike, because the watch takes whichever is less. */
function waste(ms: number): null {
  const [began, before] = [performance.now(), process.cpuUsage()];
  for (let spent = 0; spent < ms;) {
    const { user, system } = process.cpuUsage(before);
    spent = Math.min(performance.now() - began, (user + system) / 1000);
  }
  return null;
}
