import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KeptProcess } from '../../../services/processes/kept-process.ts';

/** A process that runs `script`; `beforeLook` runs once it was spawned, before anybody looks at it. */
function kept(script: string, beforeLook: () => void = () => undefined): KeptProcess {
  return new KeptProcess({
    name: 'postgres',
    log: join(mkdtempSync(join(tmpdir(), 'kept-')), 'postgres.log'),
    stopSignal: 'SIGINT',
    stopGraceMs: 1000,
    readyWithinMs: 10_000,
    prepare: () => Promise.resolve(),
    command: () => {
      process.nextTick(beforeLook);
      return { command: '/bin/sh', args: ['-c', script], cwd: '/', env: { PATH: process.env['PATH'] } };
    },
    answers: () => Promise.resolve(false),
    onChange: () => undefined,
    onLog: () => undefined,
  });
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a process that ends while it starts', { timeout: 30_000 }, () => {
  const message = /^postgres ended while starting; last lines of .*postgres\.log:[^]*nonsense/;

  it('is told with the end of its log', async () => {
    await expect(kept('echo nonsense; sleep 0.2; exit 1').start(null)).rejects.toThrow(message);
  });

  it('is told in the same words when it is gone before it was looked at', async () => {
    await expect(kept('echo nonsense; exit 1', () => block(300)).start(null)).rejects.toThrow(message);
  });
});
