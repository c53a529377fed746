/** A project with a long command that has a place in a lease while it ticks into a file, and what the file says then. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition, Step } from '../../../language/model.ts';
import type { Harness } from './harness.ts';
import { once } from './definitions.ts';

const TICK_MS = 20;

const CONFIG = `
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, z } from 'sentinel-engine/commands';

export default {
  commands: [
    defineCommand({
      name: 'lease/use',
      description: 'Works while it has a place.',
      permission: 'read',
      params: z.strictObject({
        lease: z.string(), capacity: z.number(), scope: z.enum(['project', 'installation']).default('project'),
        forMs: z.number().default(300), how: z.enum(['ends', 'fails', 'leaves', 'waits']).default('ends'),
      }),
      result: z.number(),
      async run({ lease, capacity, scope, forMs, how }, { lease: leased, key, attempt, project, signal }) {
        const leave = await leased(lease, { capacity, scope });
        const until = Date.now() + forMs;
        const go = join(project, lease + '.go');
        do {
          appendFileSync(join(project, lease + '.ticks'), JSON.stringify({ at: Date.now(), who: key + '#' + attempt }) + '\\n');
          await sleep(${TICK_MS});
        } while (!signal.aborted && (how === 'waits' ? !existsSync(go) : Date.now() < until));
        if (how === 'fails') throw new Error('no luck');
        if (how === 'leaves') { await leave(); await sleep(60_000, undefined, { signal }); }
        return attempt;
      },
    }),
    defineCommand({
      name: 'lease/quick', permission: 'read', speed: 'quick',
      params: z.strictObject({}), result: z.null(),
      run: async (_params, { lease }) => { await lease('quick', { capacity: 1 }); return null; },
    }),
    defineCommand({
      name: 'lease/written', permission: 'write',
      params: z.strictObject({}), result: z.null(),
      async run(_params, { lease, call }) {
        await call('data/create', { collection: 'written', data: { a: 1 } });
        await lease('written', { capacity: 1 });
        return null;
      },
    }),
  ],
};
`;

export const writeLeasing = (project: string): void => writeFileSync(join(project, 'sentinel.config.ts'), CONFIG);

export const use = (lease: string, params: object, rest: object = {}): Step => ({
  type: 'command',
  command: 'lease/use',
  params: { lease, capacity: 1, ...params },
  timeoutMs: 120_000,
  ...rest,
});

export const using = (lease: string, params: object = {}): Definition => once('leasing', [use(lease, params)]);

/** Those that wait for it go on. */
export const letGo = ({ project }: Harness, lease: string): void => writeFileSync(join(project, `${lease}.go`), '');

interface Span {
  who: string;
  from: number;
  to: number;
}

/** When each attempt was at work, from its first tick to its last. */
export function spansOf({ project }: Harness, lease: string): Span[] {
  const file = join(project, `${lease}.ticks`);
  const spans = new Map<string, Span>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  for (const line of lines) {
    const { at, who } = JSON.parse(line) as { at: number; who: string };
    const span = spans.get(who);
    if (span === undefined) spans.set(who, { who, from: at, to: at });
    else span.to = at;
  }
  return [...spans.values()];
}

/** How many were at work at the same time at most. */
export const mostAtOnce = (spans: readonly Span[]): number =>
  Math.max(0, ...spans.map(({ from }) => spans.filter((other) => other.from <= from && from <= other.to).length));
