import { setTimeout as sleep } from 'node:timers/promises';
import { array, assert, integer, nat, property, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import { ByteRing } from '../../../operations/shell/output/byte-ring.ts';
import { Capture } from '../../../operations/shell/output/capture.ts';
import { startChild } from '../../../operations/shell/child.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { StepLog } from '../../../operations/shell/output/step-log.ts';
import { MemoryLog, shellContext, temporaryFolder } from '../harness/step-context.ts';

const MIB = 1024 * 1024;
const label = { handle: 'h', key: 'steps.0@1', attempt: 1 };

/** Splits bytes at the given places, anywhere in a character. */
function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('captured output', () => {
  it('is the last bytes, whatever the chunks', () => {
    assert(
      property(
        array(uint8Array({ maxLength: 9000 }), { maxLength: 8 }),
        integer({ min: 1, max: 12_000 }),
        (chunks, capacity) => {
          const ring = new ByteRing(capacity);
          for (const chunk of chunks) ring.write(chunk);
          const all = Buffer.concat(chunks);
          expect(ring.bytes().equals(all.subarray(Math.max(0, all.length - capacity)))).toBe(true);
          expect(ring.dropped).toBe(Math.max(0, all.length - capacity));
        },
      ),
    );
  });

  it('never breaks a character, and counts every byte it drops', () => {
    assert(
      property(
        string({ unit: 'grapheme', maxLength: 300 }),
        array(nat(), { maxLength: 20 }),
        integer({ min: 8, max: 400 }),
        (text, cuts, bytesMax) => {
          const bytes = Buffer.from(text.replaceAll('\0', ''), 'utf8');
          const capture = new Capture(bytesMax);
          for (const chunk of chunksOf(bytes, cuts)) capture.write(chunk);
          const kept = capture.text();
          if (!capture.isTruncated) {
            expect(kept).toBe(bytes.toString('utf8'));
            return;
          }
          const [, head = '', dropped = '', tail = ''] = /^(.*)\n… (\d+) bytes dropped …\n(.*)$/s.exec(kept) ?? [];
          expect(Buffer.byteLength(head) + Number(dropped) + Buffer.byteLength(tail)).toBe(bytes.length);
          expect(bytes.toString('utf8').startsWith(head) && bytes.toString('utf8').endsWith(tail)).toBe(true);
        },
      ),
    );
  });

  it('holds its bound for bytes that are no text, one at a time', () => {
    const capture = new Capture(100);
    for (let count = 0; count < 1000; count += 1) capture.write(Buffer.from([0x80]));
    expect(capture.isTruncated).toBe(true);
    expect(capture.text().length).toBeLessThan(200);
  });
});

describe('the log of a step', () => {
  it('holds everything up to its head, in order of arrival', async () => {
    const context = shellContext(await temporaryFolder());
    await runShell({ command: 'echo 1; sleep 1; echo 2 >&2; sleep 1; printf "3 ü"', timeoutMs: 60_000 }, context);
    expect([...context.log.chunks.values()].map(({ stream, text, part }) => [part, stream, text])).toEqual([
      [0, 'stdout', '1\n'],
      [1, 'stderr', '2\n'],
      [2, 'stdout', '3 ü'],
    ]);
  });

  it('has what a process said that had ended before anybody listened', async () => {
    const child = await startChild(
      { command: 'echo out; echo err >&2', timeoutMs: 60_000 },
      shellContext(await temporaryFolder()),
    );
    await sleep(500);
    const heard: [string, string][] = [];
    child.listen((stream, text) => void (text.length > 0 && heard.push([stream, text.toString()])));
    await child.closed;
    child.release();
    expect(Object.fromEntries(heard)).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  });

  it('joins characters that arrive in pieces', async () => {
    const log = new MemoryLog();
    const step = new StepLog(log, label);
    for (const byte of Buffer.from('é😀\0x')) step.write('stdout', Buffer.from([byte]));
    expect(await step.finish(1000)).toBe(true);
    expect(log.text('stdout')).toBe('é😀\uFFFDx');
  });

  it('keeps the start and the end and says what lies between', async () => {
    const log = new MemoryLog();
    const step = new StepLog(log, label);
    const line = Buffer.from(`${'0123456789ä'.repeat(5000)}\n`);
    const lines = 100;
    for (let count = 0; count < lines; count += 1) step.write('stderr', line);
    await step.finish(1000);
    const chunks = log.of('stderr');
    const tail = chunks.at(-1);
    const head = chunks
      .slice(0, -1)
      .map(({ text }) => text)
      .join('');
    expect(chunks.slice(0, -1).every(({ droppedBytes }) => droppedBytes === 0)).toBe(true);
    expect(Buffer.byteLength(head)).toBeGreaterThanOrEqual(SHELL_BOUNDS.logHeadBytes);
    expect(Buffer.byteLength(tail?.text ?? '')).toBeGreaterThan(SHELL_BOUNDS.logTailBytes - 8);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail?.text ?? '') + (tail?.droppedBytes ?? 0)).toBe(
      line.length * lines,
    );
    expect(head + (tail?.text ?? '')).not.toContain('\uFFFD');
  });
});

describe('a log whose store is away', () => {
  it('waits for it, and loses nothing', async () => {
    const context = shellContext(await temporaryFolder());
    context.log.isAway = true;
    void sleep(1500).then(() => {
      context.log.isAway = false;
    });
    const result = await runShell({ command: 'echo before; sleep 0.3; echo after', timeoutMs: 60_000 }, context);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.logIncomplete).toBeUndefined();
    expect(context.log.text('stdout')).toBe('before\nafter\n');
  });

  it('gives up in the end, and says so', async () => {
    const log = new MemoryLog();
    log.isAway = true;
    const step = new StepLog(log, label);
    step.write('stdout', Buffer.from('lost'));
    expect(await step.finish(300)).toBe(false);
  });

  it('does not hold up a cancellation', async () => {
    const stop = new AbortController();
    const context = shellContext(await temporaryFolder(), { signal: stop.signal });
    context.log.isAway = true;
    const running = runShell({ command: 'echo out', timeoutMs: 60_000 }, context);
    await sleep(500);
    stop.abort(new Error('cancelled'));
    expect(await running).toMatchObject({ exitCode: 0, stdout: 'out\n', logIncomplete: true });
  });

  it('does not wait for a write that hangs', async () => {
    const step = new StepLog({ append: () => new Promise(() => undefined) }, label);
    step.write('stdout', Buffer.from('lost'));
    await sleep(200);
    expect(await step.finish(100)).toBe(false);
  });
});

describe('a gigabyte of output', () => {
  it('leaves memory flat and the log within its bounds', { timeout: 120_000 }, async () => {
    const context = shellContext(await temporaryFolder());
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const startedAt = performance.now();
    const result = await runShell({ command: 'yes 0123456789 | head -c 1000000000', timeoutMs: 100_000 }, context);
    clearInterval(watch);
    const kept = context.log
      .of('stdout')
      .reduce((sum, { text, droppedBytes }) => sum + Buffer.byteLength(text) + droppedBytes, 0);
    process.stdout.write(
      `1 GB: ${Math.round(performance.now() - startedAt)} ms, +${Math.round((peak - before) / MIB)} MiB, ${context.log.writes} log writes\n`,
    );
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(result.stdout).toMatch(/\n… 999000000 bytes dropped …\n/);
    expect(kept).toBe(1_000_000_000);
    expect(Buffer.byteLength(context.log.text('stdout'))).toBeLessThanOrEqual(
      SHELL_BOUNDS.logHeadBytes + SHELL_BOUNDS.logTailBytes + 4,
    );
    expect((peak - before) / MIB).toBeLessThan(150);
  });
});
