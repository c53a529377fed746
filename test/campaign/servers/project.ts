/** The project of the campaign: a system of its own, with what follows events and what is done in the background. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONFIG = `
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, defineSystem, z } from 'sentinel-engine/commands';

const tell = async (id, what) => {
  for (let tries = 0; ; tries += 1) {
    try {
      return void (await fetch('URL_OUTSIDE/posts', { method: 'POST', body: JSON.stringify({ id, what }) }));
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(200);
    }
  }
};
const nothing = { params: z.strictObject({}), result: z.any() };

const camp = defineSystem({
  name: 'camp',
  summary: 'what a campaign counts',
  tables: {
    counted: \`
      create table camp_added (id bigserial primary key, run text not null, what text not null);
      create table camp_heard (position bigint not null, run text not null, what text not null);
      create table camp_tick (id bigserial primary key, key text not null);
      create table camp_sweep (id bigserial primary key, key text not null);
    \`,
  },
  events: { 'camp:added': z.strictObject({ id: z.string(), what: z.string() }) },
  background: {
    ticking: { everyMs: 2500, command: 'camp/tick' },
    sweeping: { everyMs: 5000, command: 'camp/sweep' },
  },
  followers: { hearing: { event: 'camp:added', command: 'camp/heard' } },
  commands: [
    defineCommand({
      name: 'camp/add', permission: 'write', speed: 'quick',
      params: z.strictObject({ id: z.string(), what: z.string() }), result: z.null(),
      async run({ id, what }, { tx }) {
        await tx.query('insert into camp_added (run, what) values ($1, $2)', [id, what]);
        await tx.publish('camp:added', { id, what });
        return null;
      },
    }),
    defineCommand({
      name: 'camp/heard', permission: 'write', speed: 'quick', doors: ['follower'],
      params: z.strictObject({ event: z.object({ position: z.number(), data: z.object({ id: z.string(), what: z.string() }) }) }),
      result: z.null(),
      async run({ event }, { tx }) {
        await tx.query('insert into camp_heard (position, run, what) values ($1, $2, $3)', [event.position, event.data.id, event.data.what]);
        return null;
      },
    }),
    defineCommand({
      name: 'camp/post', permission: 'network',
      params: z.strictObject({ id: z.string(), what: z.string() }), result: z.string(),
      async run({ id, what }) {
        await tell(id, what + ' begun');
        await sleep(what === 'long' ? 2500 : 300);
        await tell(id, what);
        return what;
      },
    }),
    defineCommand({
      name: 'camp/spawned', permission: 'shell',
      params: z.strictObject({ id: z.string(), out: z.string() }), result: z.string(),
      async run({ id, out }, { spawn }) {
        await spawn('sh', { args: ['append.sh', id, 'first', out] });
        await sleep(300);
        return (await spawn('sh', { args: ['append.sh', id, 'second', out] })).stdout;
      },
    }),
    defineCommand({
      name: 'camp/leased', permission: 'network',
      params: z.strictObject({ id: z.string() }), result: z.null(),
      async run({ id }, { lease }) {
        await lease('campaign', { capacity: 1 });
        await tell(id, 'lease begun');
        await sleep(1500);
        await tell(id, 'lease');
        return null;
      },
    }),
    defineCommand({
      name: 'camp/renewed', permission: 'network',
      params: z.strictObject({ id: z.string() }), result: z.null(),
      async run({ id }, { lease }) {
        await lease('for long', { capacity: 2 });
        await sleep(4500);
        await tell(id, 'lease for long');
        return null;
      },
    }),
    defineCommand({
      name: 'camp/tick', permission: 'write', speed: 'quick', doors: ['background'], ...nothing,
      run: ({}, { tx, key }) => tx.query('insert into camp_tick (key) values ($1)', [key]),
    }),
    defineCommand({
      name: 'camp/sweep', permission: 'write', doors: ['background'], ...nothing,
      async run({}, { tx, key }) {
        await sleep(500);
        return tx.query('insert into camp_sweep (key) values ($1)', [key]);
      },
    }),
  ],
});

export default {
  systems: [{ system: camp, may: ['read', 'write', 'network', 'shell'] }],
  limits: { tools: { 'camp/post': { concurrent: 500 } } },
  notify: [{ url: 'URL_OUTSIDE/notices', on: ['failed'] }],
};
`;

const APPEND = `echo "$1 $2-begun" >> "$3"; sleep 0.4; echo "$1 $2" >> "$3"; echo "$2"\n`;

const LASTING = `echo "$1 lasting-begun" >> "$2"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $i; sleep 1; done
echo "$1 lasting" >> "$2"
`;

export function writeProject(project: string, url: string): void {
  writeFileSync(join(project, 'sentinel.config.ts'), CONFIG.replaceAll('URL_OUTSIDE', url));
  writeFileSync(join(project, 'append.sh'), APPEND);
  writeFileSync(join(project, 'lasting.sh'), LASTING);
  for (const folder of ['files', 'undone', 'git']) mkdirSync(join(project, folder));
  for (const path of ['a', 'b', 'c']) writeFileSync(join(project, `${path}.txt`), `what ${path} says`);
  writeFileSync(join(project, '.gitignore'), '.sentinel/\nlines\n');
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: project, stdio: 'ignore' });
  git('init', '-b', 'main');
  git('config', 'user.name', 'campaign');
  git('config', 'user.email', 'campaign@example.com');
  git('commit', '--allow-empty', '-m', 'begun');
}
