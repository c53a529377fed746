/** docker-compose.yml, read as data: what it promises in docs/deployment.md is in it. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { readConfig } from '../../services/config/config.ts';
import { GRACE_SECONDS } from '../../services/config/worker-settings.ts';
import { WORKER_NODE_FLAGS } from '../../services/supervisor/worker-process.ts';

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const Service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  environment: z.record(z.string(), z.coerce.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: z
    .record(z.string(), z.object({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  deploy: z.object({ replicas: z.string() }).optional(),
  stop_grace_period: z.string().optional(),
});
const Compose = z.object({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.null()) });

const { services, volumes } = Compose.parse(parse(readFileSync(path('docker-compose.yml'), 'utf8'), { merge: true }));
const serviceNames = Object.keys(services);

/** `${NAME:-value}` as compose fills it in when the variable is not set. */
const filled = (environment: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );

describe('docker-compose.yml', () => {
  it.each(serviceNames)('%s waits only for services that are there and say that they are ready', (name) => {
    for (const [other, { condition }] of Object.entries(services[name]?.depends_on ?? {})) {
      expect(serviceNames).toContain(other);
      if (condition === 'service_healthy') expect(services[other]?.healthcheck, other).toBeDefined();
    }
  });

  it.each(serviceNames)('%s publishes ports on loopback alone and mounts declared volumes', (name) => {
    for (const port of services[name]?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const volume of services[name]?.volumes ?? []) {
      const [source = ''] = volume.replace(/\$\{\w+:-([^}]*)\}/, '$1').split(':');
      if (!source.startsWith('.')) expect(Object.keys(volumes)).toContain(source);
    }
  });

  it.each([
    ['worker', ['sentinel']],
    ['host-worker', ['sentinel', 'sentinel@localhost']],
    ['prepare', ['sentinel']],
  ])('%s has settings that Sentinel accepts, and servers that are there', (name, queues) => {
    const config = readConfig(filled(services[name]?.environment));
    expect(config.taskQueues).toEqual(queues);
    expect([config.temporal.isExternal, config.database.isExternal]).toEqual([true, true]);
    expect(serviceNames).toContain(config.temporal.address?.split(':')[0]);
    expect(serviceNames).toContain(new URL(config.database.url ?? '').hostname);
  });

  it('gives Sentinel the password its database has', () => {
    const { password, username, pathname } = new URL(filled(services['worker']?.environment)['DATABASE_URL'] ?? '');
    const database = filled(services['postgres']?.environment);
    expect([username, password, pathname.slice(1)]).toEqual([
      database['POSTGRES_USER'],
      database['POSTGRES_PASSWORD'],
      database['POSTGRES_DB'],
    ]);
  });

  it('starts several workers, with time to end their steps', () => {
    expect(services['worker']?.deploy?.replicas).toBe('${SENTINEL_WORKERS:-2}');
    for (const name of ['worker', 'host-worker'])
      expect(services[name]?.stop_grace_period, name).toBe(`${GRACE_SECONDS}s`);
  });

  it('gives the time that a worker takes, which is the time that the docs name', () => {
    expect(readConfig({}).graceMs).toBe(1000 * GRACE_SECONDS);
    const page = readFileSync(path('docs/deployment.md'), 'utf8');
    expect(page).toContain(`\`TimeoutStopSec=${GRACE_SECONDS}\`, \`stop_grace_period: ${GRACE_SECONDS}s\``);
    expect(page).toMatch(new RegExp(`^\\| \`SENTINEL_GRACE_SECONDS\` \\|.*\\| ${GRACE_SECONDS} \\|$`, 'm'));
    const named = Array.from(page.matchAll(/(\d+) s in all|up to (\d+) s|"seconds": (\d+)/g), ([, ...numbers]) =>
      Number(numbers.find((number) => number !== undefined)),
    );
    expect(named).toEqual([GRACE_SECONDS, GRACE_SECONDS, GRACE_SECONDS]);
  });

  it('prepares the servers with a program whose source is there', () => {
    const program = services['prepare']?.command?.[1] ?? '';
    expect(existsSync(path(program.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true);
  });
});

describe('Dockerfile', () => {
  const lines = readFileSync(path('Dockerfile'), 'utf8').split('\n');

  it('ends as a user without rights, and runs the worker itself, not a shell around it', () => {
    expect(lines.findLast((line) => line.startsWith('USER '))).toBe('USER node');
    const command = lines.findLast((line) => line.startsWith('CMD '))?.slice('CMD '.length) ?? '';
    expect(JSON.parse(command)).toEqual(['node', ...WORKER_NODE_FLAGS, 'dist/worker/main.js']);
  });

  it('copies only what is there', () => {
    const sources = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(' ').slice(1, -1));
    for (const source of sources) expect(existsSync(path(source)), source).toBe(true);
  });
});
