/** A run's project in a folder of its own, and the context a step runs in. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ShellContext } from '../../../operations/shell/request.ts';
import { livingGroups } from '../../../world/processes/process-table.ts';
import type { BegunChunk, LogChunk } from '../../../prisma/store/contract/contract.ts';

export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sentinel-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The log port, kept in memory: the same part again replaces the chunk, as the store has it. */
export class MemoryLog {
  readonly chunks = new Map<string, LogChunk>();
  writes = 0;
  /** Rejects while true, as a store whose database is away. */
  isAway = false;

  async append(chunks: readonly LogChunk[], fence = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.isAway) throw new Error('connection refused');
    if ([...this.chunks.values()].some(({ attempt }) => attempt > fence)) return;
    this.writes += 1;
    for (const chunk of chunks) this.chunks.set(`${chunk.attempt}:${chunk.part}`, { ...chunk });
  }

  async begun({ attempt }: Pick<LogChunk, 'attempt'>): Promise<BegunChunk[]> {
    return [...this.chunks.values()]
      .filter((chunk) => chunk.attempt === attempt)
      .toSorted((a, b) => a.part - b.part)
      .map(({ readBytes = null, text, ...chunk }) => ({ ...chunk, readBytes, bytes: Buffer.byteLength(text) }));
  }

  of(stream: string): LogChunk[] {
    return [...this.chunks.values()].filter((chunk) => chunk.stream === stream).toSorted((a, b) => a.part - b.part);
  }

  text(stream: string): string {
    return this.of(stream)
      .map(({ text }) => text)
      .join('');
  }
}

export interface TestContext extends ShellContext {
  log: MemoryLog;
  beats: number;
}

let runs = 0;

export function shellContext(project: string, over: Partial<ShellContext> = {}): TestContext {
  const log = new MemoryLog();
  runs += 1;
  const context: TestContext = {
    run: { handle: `test-${process.pid}-${runs}`, project, persona: 'tester', definitionHash: 'none' },
    key: 'steps.0@1',
    attempt: 1,
    signal: new AbortController().signal,
    store: { logs: log },
    log,
    beats: 0,
    heartbeat() {
      context.beats += 1;
    },
    now: () => Date.now(),
    ...over,
  };
  return context;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export const isGroupAlive = async (group: number): Promise<boolean> => (await livingGroups()).has(group);
