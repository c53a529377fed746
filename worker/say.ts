/** What the worker remarks, on stderr: with nothing in it that a terminal obeys, whoever wrote it. */
import { inspect } from 'node:util';
import type { LogEntry } from '@temporalio/worker';
import { ownMasker } from '../world/own-keys/own-keys.ts';
import { barred, visible } from '../language/events/visible.ts';

export function say(text: string): void {
  write(`worker: ${text}`);
}

/** What Temporal's SDK remarks. */
export function log({ level, message, meta, timestampNanos }: LogEntry): void {
  const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  write(`${at} [${level}] ${message}${meta === undefined ? '' : ` ${inspect(meta)}`}`);
}

function write(text: string): void {
  process.stderr.write(`${visible(barred(ownMasker().text(text)))}\n`);
}
