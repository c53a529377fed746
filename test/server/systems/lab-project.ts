/** A system that works in the background, and on queues of its own. */
export const LAB = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure, defineCommand, defineSystem, z } from 'sentinel-engine/commands';

const nothing = { params: z.strictObject({}), result: z.any() };
const train = (name, queue) => defineCommand({
  name, queue, permission: 'network',
  params: z.strictObject({ what: z.string(), waitMs: z.number().default(0) }),
  result: z.object({ what: z.string() }),
  async run({ what, waitMs }, { project }) {
    const say = (word) => appendFileSync(join(project, queue + '.log'), word + ' ' + what + '\\n');
    say('begins');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    say('ends');
    return { what };
  },
});

const lab = defineSystem({
  name: 'lab',
  summary: 'what is tried',
  tables: {
    ticks: \`
      create table lab_tick (id bigserial primary key, key text not null, caller jsonb not null, at timestamptz not null default now());
      create table lab_sweep (id bigserial primary key, key text not null, caller jsonb not null);
    \`,
  },
  failures: { NO_LUCK: 'It is a bad day' },
  queues: { bench: { atOnce: 1 }, gpu: { atOnce: 1 } },
  background: {
    ticking: { everyMs: 1000, command: 'lab/tick' },
    sweeping: { everyMs: 1000, command: 'lab/sweep' },
    failing: { everyMs: 1000, command: 'lab/fail' },
  },
  commands: [
    train('lab/train', 'bench'),
    train('lab/render', 'gpu'),
    defineCommand({
      name: 'lab/tick', permission: 'write', speed: 'quick', doors: ['background'], ...nothing,
      run: ({}, { tx, key, caller }) => tx.query('insert into lab_tick (key, caller) values ($1, $2)', [key, JSON.stringify(caller)]),
    }),
    defineCommand({
      name: 'lab/sweep', permission: 'write', doors: ['background'], ...nothing,
      async run({}, { tx, key, caller }) {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return tx.query('insert into lab_sweep (key, caller) values ($1, $2)', [key, JSON.stringify(caller)]);
      },
    }),
    defineCommand({
      name: 'lab/fail', permission: 'read', speed: 'quick', ...nothing,
      run() { throw new CommandFailure('NO_LUCK', 'not today'); },
    }),
    defineCommand({
      name: 'lab/calls', permission: 'network', ...nothing,
      run: ({}, { call }) => call('lab/train', { what: 'by call' }),
    }),
  ],
});

export default {
  systems: [{ system: lab, may: ['read', 'write', 'network'], queues: { gpu: { elsewhere: true } } }],
};
`;
