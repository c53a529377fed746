/**
 * The tests by what they need. `npx vitest run --project fast` needs nothing; the others start a real
 * Postgres, a real Temporal server or a browser. Files of a project run side by side, because each has a
 * database, a task queue, a folder and ports of its own; `kill`, `slow-kill` and `chaos` run one file at a time,
 * because they hold what happens at a moment against what happens at another.
 */
import { availableParallelism, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { defined } from './language/defined.ts';

/** The configurations that tests write into folders of their own run unasked; tests of trust unset it. */
process.env['SENTINEL_TRUST'] ??= 'all';
/** Which homes were made is not written down among what the user of this machine has decided. */
process.env['XDG_STATE_HOME'] ??= join(tmpdir(), `sentinel-test-state-${userInfo().uid}`);

const minute = 60_000;
/** Tests that are also among the everyday ones take all of their cases (test/random-runs.ts). */
const soak = { SENTINEL_SOAK: '1' };

interface Needs {
  include: string[];
  exclude?: string[];
  timeoutMs: number;
  globalSetup?: string[];
  maxWorkers?: number;
  /** Whether each file has a process of its own; loading the code again costs more than half of a pure case. */
  isolate?: boolean;
  setupFiles?: string[];
  env?: Record<string, string>;
}

function project(
  name: string,
  { include, exclude = [], timeoutMs, globalSetup = [], setupFiles = [], maxWorkers, isolate = true, env = {} }: Needs,
) {
  return {
    test: {
      name,
      include,
      exclude,
      globalSetup,
      setupFiles,
      env,
      pool: 'forks' as const,
      isolate,
      testTimeout: timeoutMs,
      hookTimeout: Math.max(timeoutMs, 2 * minute),
      ...defined({ maxWorkers }),
    },
  };
}

/** They hold the processor time of one call against a bound, which a second worker on the same cores would stretch. */
const timed = [
  'test/language/events/event-glob.test.ts',
  'test/language/expressions/{expression,interpolation}.test.ts',
  'test/language/properties/fuzz.test.ts',
  'test/language/reading/definition.test.ts',
];

/**
 * Of what takes long, only what finds most is tried at each change. These take turns: a soak tries a quarter of them,
 * another for each commit (scripts/check.mjs).
 */
const unhurried = {
  fast: [
    'test/cli/attacks/{mcp-accept,powers,project-code}.test.ts',
    'test/cli/config/proxied-models.test.ts',
    'test/cli/output/flag-values.test.ts',
    'test/cli/processes/{declared,looking-verbs,mcp-verb,simulate,test-verb,trigger-verbs,usage}.test.ts',
  ],
  store: [
    'test/activities/attacks/{mcp-answers,pages,pages-of-any-size,paid-answers,undone-files}.test.ts',
    'test/activities/{checkpoints/project-trees,commands/screenshot,mcp/servers,verify/code-verify}.test.ts',
    'test/attacks/{git,git-by-model,homes,named-pipes,step-init}.test.ts',
    'test/attacks/view/{inner-definitions,kernel,states}.test.ts',
    'test/activities/{checkpoints/known-project,commands/own-commands}.test.ts',
    'test/activities/{shell/hostile-process,shell/kept-hostile,workspaces/merge}.test.ts',
    'test/store/{connection/database-finding,events/file-events}.test.ts',
  ],
  services: [
    'test/services/{ending,kept-build,kept-settings,kept-worker,looking,project-room,project-workers,supervisor,webhook-port}.test.ts',
    'test/services/attacks/{foreign-home,strangers}.test.ts',
  ],
  server: [
    'test/server/attacks/{approved/{actions,checks},doors,lost-workers/*,limits-of-others,model-attempts}.test.ts',
    'test/server/attacks/{agents/{nested-pauses,saved-alone},attempts/names-within-step,names-of-others,starters/{last-run,unread-start},unmarked-processes}.test.ts',
    'test/server/attacks/strangers/{copied-start,replaced-key}.test.ts',
    'test/server/cli/{ask-verbs,command-verb,evaluation,hostile-text,init,jobs,mcp-serve,programs,record-extended,run-under-way,run-verb,saved,see-verbs,speakers,tutorial}.test.ts',
    'test/server/events/{rated,triggers,watching,webhook-sources}.test.ts',
    'test/server/groups/forked-group.test.ts',
    'test/server/limits/limits.test.ts',
    'test/server/models/{background-samples,build-fix-loop,cassettes,fork-turn,live,misbehaving,own-commands,shipping,shown,spending,tell}.test.ts',
    'test/server/notifications/notifications.test.ts',
    'test/server/programs/{every-door,proxies}.test.ts',
    'test/server/questions/{approval,second-answer,whole-action}.test.ts',
    'test/server/replay/{outlasting,same-trace,side-by-side}.test.ts',
    'test/server/steering/{fork,legible,retry-items,shared-project,undo}.test.ts',
    'test/server/steps/{loaded,over,own-process,silent}.test.ts',
    'test/server/values/large-numbers.test.ts',
    'test/server/workers/{ending,large,large-lists,versions}.test.ts',
    'test/server/workspaces/forks.test.ts',
  ],
  kill: [
    'test/server/kill/{changesets,fan,force-cancel,groups,heard,leases,one-branch,overtaken,person-calls,quiet-trigger,services,stopped,undo}.test.ts',
    'test/server/kill/models/{agent-segments,compaction,model-calls,model-context,model-turns,replayed-turns}.test.ts',
    'test/server/kill/questions/*.test.ts',
  ],
};

/** What shows that a system is one folder, ours and a stranger's: `npm run systems`. */
const systems = {
  services: ['test/services/{added-system,package}.test.ts'],
  server: ['test/server/systems/**/*.test.ts'],
  kill: ['test/server/kill/{background,systems,words}.test.ts'],
};

export default defineConfig({
  test: {
    teardownTimeout: minute,
    projects: [
      project('fast', {
        include: [
          'test/{language,interpreter,conformance,cli,project,models}/**/*.test.ts',
          'test/histories/{replay,ledger}.test.ts',
        ],
        exclude: [...timed, ...unhurried.fast, 'test/models/local/**'],
        timeoutMs: minute,
        maxWorkers: availableParallelism(),
        isolate: false,
        setupFiles: ['test/own-clock.ts'],
      }),
      project('alone', { include: timed, timeoutMs: minute, maxWorkers: 1 }),
      project('models', {
        include: ['test/models/local/**/*.test.ts'],
        timeoutMs: 5 * minute,
        globalSetup: ['test/models/local/global-setup.ts', 'test/postgres.ts'],
        // A model takes every core.
        maxWorkers: 1,
      }),
      project('trainer', {
        include: ['test/trainer/**/*.test.ts'],
        timeoutMs: 30 * minute,
        globalSetup: ['test/models/local/global-setup.ts'],
        maxWorkers: 1,
      }),
      project('store', {
        include: ['test/{store,activities,attacks}/**/*.test.ts'],
        exclude: unhurried.store,
        timeoutMs: 2 * minute,
        globalSetup: ['test/postgres.ts'],
        maxWorkers: 2,
      }),
      project('services', {
        include: ['test/services/**/*.test.ts'],
        exclude: [...unhurried.services, ...systems.services],
        timeoutMs: 5 * minute,
        globalSetup: ['test/services/harness/global-setup.ts'],
        maxWorkers: 2,
      }),
      project('server', {
        include: ['test/server/**/*.test.ts', 'test/histories/record.test.ts'],
        exclude: ['test/server/{kill,slow,chaos}/**', ...unhurried.server, ...systems.server],
        timeoutMs: 5 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        // Three on two cores made command lines take seconds, and with them tests that wait for seconds fail.
        maxWorkers: 2,
      }),
      project('kill', {
        include: ['test/server/kill/**/*.test.ts'],
        exclude: [...unhurried.kill, ...systems.kill],
        timeoutMs: 5 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 1,
      }),
      project('random', {
        include: ['test/{language,interpreter}/properties/**/*.test.ts'],
        timeoutMs: 10 * minute,
        // The fuzz among them is one of those that are timed.
        maxWorkers: 1,
        env: soak,
      }),
      project('slow-fast', { include: unhurried.fast, timeoutMs: minute, maxWorkers: availableParallelism() }),
      project('slow-store', {
        include: unhurried.store,
        timeoutMs: 2 * minute,
        globalSetup: ['test/postgres.ts'],
        maxWorkers: 2,
      }),
      project('slow-services', {
        include: unhurried.services,
        timeoutMs: 5 * minute,
        globalSetup: ['test/services/harness/global-setup.ts'],
        maxWorkers: 2,
      }),
      project('slow-server', {
        include: ['test/server/nested/held-while-it-begins.test.ts', ...unhurried.server],
        timeoutMs: 5 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 2,
        env: soak,
      }),
      project('slow-kill', {
        include: ['test/server/slow/**/*.test.ts', ...unhurried.kill],
        timeoutMs: 30 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 1,
        env: soak,
      }),
      project('chaos', {
        include: ['test/server/chaos/**/*.test.ts'],
        timeoutMs: 30 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 1,
      }),
      project('systems-package', {
        include: systems.services,
        timeoutMs: 5 * minute,
        globalSetup: ['test/services/harness/global-setup.ts'],
        maxWorkers: 2,
      }),
      project('systems', {
        include: systems.server,
        timeoutMs: 5 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 2,
      }),
      project('systems-kill', {
        include: systems.kill,
        timeoutMs: 5 * minute,
        globalSetup: ['test/server/harness/global-setup.ts'],
        maxWorkers: 1,
      }),
      project('browser', { include: ['test/browser/**/*.test.ts'], timeoutMs: 5 * minute, maxWorkers: 1 }),
    ],
  },
});
