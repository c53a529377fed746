/** `integrate/begin`: the snapshot, and what the task is judged by. */
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { detect } from './detect.ts';
import { orNotJudged, placeIn } from './place.ts';
import { Settings } from './settings.ts';
import { DISABLED, UNJUDGED } from './stated-failures.ts';
import { TaskId } from './task-id.ts';
import { isEvidence } from './tree-changes.ts';

export const Framework = z.strictObject({
  name: z.string(),
  command: z.string(),
  check: z.string(),
  folder: z.string(),
});

const TierPlan = z.strictObject({
  model: z.string(),
  maxIterations: z.number(),
  /** Why it is left out; empty where it is not. */
  skip: z.string(),
  /** More than is ever spent, where there is no budget. */
  maxBudgetUsd: z.number(),
});

export const Begun = z.strictObject({
  task: TaskId,
  tree: z.string(),
  framework: Framework.nullable(),
  mode: z.enum(['auto', 'human-gated']),
  /** The commit against which placeholders are looked for. */
  base: z.string().nullable(),
  tier1: TierPlan,
  tier2: TierPlan,
  startedAt: z.number(),
  warnings: z.array(z.string()),
});
export type Begun = z.infer<typeof Begun>;

const Params = z.strictObject({
  task: TaskId.describe('the task, such as T003'),
  folder: z.string().default('').describe('the folder of the task, whose tests count before those of the project'),
  mode: z.enum(['', 'auto', 'human-gated']).default('').describe('as the settings say unless stated'),
});

const PROBE_MS = 5_000;

async function begin({ task, folder, mode }: z.infer<typeof Params>, context: Context): Promise<Begun> {
  const settings = Settings.parse(context.settings);
  if (!settings.enabled)
    throw new Failure('INTEGRATION_DISABLED', '"enabled" of the settings of "integrate" is false; leave it out');
  const { root, trees } = await placeIn(context);
  const state = await orNotJudged(() => trees.take());
  const warnings: string[] = [];
  const asked = folder === '' ? '' : pathIn(root, resolveInside(rootOf(context), folder));
  const pytest = new Map<string, boolean>();
  for (const at of new Set([asked, ''])) pytest.set(at, await hasPytest(at, context));
  const framework = detect(root, asked, (at) => pytest.get(at) === true);
  if (framework === null) warnings.push('no test framework was found: only placeholders were looked for');
  const large = Object.keys(state.large);
  if (large.length > 0) warnings.push(`too large to be looked at: ${large.slice(0, 5).join(', ')}`);
  const { tier1, tier2 } = settings;
  const skip = await whyNoOllama(tier1.model, context);
  if (skip !== '') warnings.push(`tier 1 was skipped: ${skip}`);
  return {
    task,
    tree: state.tree,
    framework,
    mode: mode === '' ? settings.mode : mode,
    base: await scanBase(context),
    tier1: { model: tier1.model, maxIterations: tier1.maxIterations, skip, maxBudgetUsd: Number.MAX_SAFE_INTEGER },
    tier2: { ...tier2, skip: '' },
    startedAt: context.now(),
    warnings,
  };
}

const pathIn = (root: string, place: string): string =>
  place === root ? '' : place.slice(root.length + 1).replaceAll('\\', '/');

async function hasPytest(folder: string, { spawn }: Pick<Context, 'spawn'>): Promise<boolean> {
  const line =
    'for python in .venv/bin/python venv/bin/python python3 python; do command -v "$python" >/dev/null 2>&1 && exec "$python" -c "import pytest"; done; exit 1';
  const { success } = await spawn(line, { timeoutMs: 60_000, ...(folder === '' ? {} : { cwd: folder }) });
  return success;
}

/** A local model behind Ollama is asked for before a task waits for it. */
async function whyNoOllama(model: string, { spawn }: Pick<Context, 'spawn'>): Promise<string> {
  if (!model.startsWith('ollama/')) return '';
  const url = process.env['OLLAMA_HOST'] ?? 'http://localhost:11434';
  const address = `${url.includes('://') ? url : `http://${url}`}/api/tags`;
  const { success } = await spawn('curl', { args: ['-sf', address], timeoutMs: PROBE_MS }).catch((error: unknown) => {
    if (error instanceof Failure) return { success: false };
    throw error;
  });
  return success ? '' : `Ollama does not answer at ${address}`;
}

/** What a task left uncommitted is new against HEAD; what it committed, against the commit before. Null: all is new. */
async function scanBase(context: Context): Promise<string | null> {
  const git = async (params: { operation: 'status' } | { operation: 'log'; count: number }) => {
    try {
      return (await context.call('code/git', params)) as {
        files?: { path: string }[];
        commits?: { hash: string }[];
      };
    } catch (error) {
      if (error instanceof Failure && error.code.startsWith('GIT_')) return null;
      throw error;
    }
  };
  const commits = (await git({ operation: 'log', count: 2 }))?.commits ?? [];
  const [head, parent] = commits;
  if (head === undefined) return null;
  const changed = ((await git({ operation: 'status' }))?.files ?? []).filter(({ path }) => !isEvidence(path));
  return changed.length > 0 ? head.hash : (parent ?? head).hash;
}

export const beginCommands: Command[] = [
  defineCommand({
    name: 'integrate/begin',
    description: 'Takes the snapshot that a task is judged by, and finds the tests of the project.',
    permission: 'shell',
    speed: 'long',
    doors: ['step'],
    failures: { ...DISABLED, ...UNJUDGED },
    params: Params,
    result: Begun,
    run: begin,
  }),
];
