/** What is read of a worker's event loop from its log. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { atText, loopLine, loopStanding, type LoopLine } from '../../services/supervisor/worker-loop.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-loop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const line = (loop: LoopLine['loop'], pid: number, at: number): LoopLine => ({
  loop,
  pid,
  at,
  seconds: 3,
  steps: [{ handle: 'nightly', key: 'steps.0@1' }],
});

function logOf(...lines: readonly (LoopLine | string)[]): string {
  const log = join(folder, 'worker.log');
  writeFileSync(log, lines.map((one) => `${typeof one === 'string' ? one : loopLine(one)}\n`).join(''));
  return log;
}

test.each<[string, (LoopLine | string)[], boolean, number]>([
  ['nothing was said', ['{"ready":true,"pid":7}'], false, 0],
  ['it is silent', [line('silent', 7, 100)], true, 0],
  ['it answers again', [line('silent', 7, 100), 'words', line('answers', 7, 200)], false, 0],
  ['it was silent, and ended', [line('silent', 6, 100), line('ended', 6, 200)], false, 1],
  ['the one before was ended, and this one is silent', [line('ended', 6, 100), line('silent', 7, 200)], true, 1],
  ['that one is silent, and this one is not', [line('silent', 6, 100)], false, 0],
  ['it was ended long ago', [line('ended', 6, 10)], false, 0],
  ['somebody else wrote a broken line', ['{"loop":"silent","pid":7', '{"loop":'], false, 0],
])('%s', (_what, lines, isSilent, ended) => {
  const standing = loopStanding(logOf(...lines), 7, 50);
  expect([standing.silent !== null, standing.ended.length]).toEqual([isSilent, ended]);
});

test('the steps are named, the first five of them', () => {
  const many = {
    ...line('silent', 7, 100),
    steps: Array.from({ length: 9 }, (_, at) => ({ handle: 'h', key: `k${at}` })),
  };
  const { silent } = loopStanding(logOf(many), 7, 0);
  expect(silent === null ? '' : atText(silent)).toBe(' while it was at h k0, h k1, h k2, h k3, h k4');
  expect(atText({ steps: [] })).toBe('');
});
