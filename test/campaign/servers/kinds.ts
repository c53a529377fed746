/**
 * What runs of the campaign do: each kind of step, command, loop and branch. Every effect says `$id`, the run that it
 * belongs to. A new kind is an entry here; what it comes to where nothing disturbs it is measured, not written down.
 */
import { spawnSync } from 'node:child_process';
import type { Step } from '../../../language/model.ts';
import { STATES_BEFORE_APPROVAL } from '../../activities/cycle/states-before-approval.ts';
import { counted, once, shell } from '../../server/harness/definitions.ts';
import { command, emit, type Kind, row, say } from './kind-steps.ts';
import { shellKinds } from './shell-kinds.ts';

const MODEL = 'openai/some-model';
/** Its window is so small that a conversation has to be shortened. */
const SMALL_MODEL = 'openai/small-model';

/** A run that an event starts has no inputs but that. */
const ofEvent: Step = { type: 'set', values: { id: '$event.run', out: '$event.out' } };
const model = (tools: string[], rest: object = {}): Step => ({
  type: 'llm',
  model: MODEL,
  prompt: '$id Go on until it is done',
  tools,
  onUnknown: 'retry',
  outputTo: 'answer',
  ...rest,
});

const kinds = {
  quick: {
    definition: counted('quick', 6, [
      row({ pass: '$iteration' }),
      emit('$iteration'),
      {
        type: 'condition',
        check: '$iteration % 2 === 0',
        then: [row('even')],
        else: [{ type: 'set', values: { odd: '$iteration' } }],
      },
    ]),
  },
  each: { definition: counted('each', 3, [row({ pass: '$iteration' }), emit('$iteration')], { durability: 'step' }) },
  ...shellKinds,
  failing: {
    definition: once(
      'failing',
      [
        shell('echo $id tried >> $out; exit 3', {
          failOn: 'nonzero',
          retry: { attempts: 2, backoffMs: 50 },
          onError: 'skip',
        } as object),
        command('code/read', { path: 'there-is-none' }, { onError: 'skip' }),
        { type: 'fail', message: 'it was to fail', code: 'ON_PURPOSE' },
      ],
      { always: [row('cleaned up')] },
    ),
  },
  files: {
    definition: once('files', [
      command('code/write', { path: 'files/$id.txt', content: 'first' }),
      command('code/read', { path: 'files/$id.txt' }, { outputTo: 'was' }),
      command('code/write', { path: 'files/$id.txt', content: 'then $was.content' }),
    ]),
  },
  undo: {
    definition: once('undo', [
      command('code/write', { path: 'undone/$id.txt', content: 'first' }),
      command('code/write', { path: 'undone/$id.second.txt', content: 'second' }),
      command('code/undo', {}),
      row('undone'),
    ]),
  },
  own: {
    definition: once('own', [
      command('camp/add', { id: '$id', what: 'first' }),
      command('camp/post', { id: '$id', what: 'one' }),
      command('camp/add', { id: '$id', what: 'second' }),
      command('camp/post', { id: '$id', what: 'two' }),
    ]),
  },
  leased: {
    definition: once('leased', [command('camp/leased', { id: '$id' }, { timeoutMs: 600_000 }), row('after')]),
  },
  renewed: {
    definition: once('renewed', [command('camp/renewed', { id: '$id' }, { timeoutMs: 600_000 }), row('after')]),
  },
  model: {
    definition: once('model', [model(['data/create', 'code/shell/execute']), row('$answer')]),
  },
  agent: {
    definition: once('agent', [model(['data/create']), row('$answer')]),
  },
  turns: {
    definition: once('turns', [model(['data/create', 'code/read']), row('$answer')], { durability: 'step' }),
  },
  compact: {
    definition: once('compact', [model(['code/read'], { model: SMALL_MODEL }), row('$answer')]),
  },
  calling: {
    definition: once('calling', [model(['camp/post']), row('$answer')]),
  },
  refused: {
    definition: once('refused', [model(['data/create'], { onError: 'skip' }), row('after')]),
  },
  nested: {
    definition: counted('nested', 2, [
      {
        type: 'sentinel',
        definition: counted('inner', 2, [row({ inner: '$iteration' }), say('inner')]),
        outputTo: 'inner',
      },
      row('$inner.iterations'),
    ]),
  },
  left: {
    definition: once('left', [
      { type: 'sentinel', definition: once('left-alone', [say('alone'), row('alone')]), await: false },
      row('not waited for'),
    ]),
  },
  branches: {
    definition: once('branches', [
      {
        type: 'parallel',
        branches: [
          [say('left'), row('left')],
          [row('middle'), command('camp/post', { id: '$id', what: 'middle' })],
          [row('right'), emit('right'), row('right again')],
        ],
      },
      row('joined'),
    ]),
  },
  items: {
    definition: once('items', [
      {
        type: 'parallel',
        over: '$list',
        as: 'item',
        maxConcurrency: 2,
        itemErrors: 'collect',
        steps: [row({ item: '$item' }), shell('echo $id item-$item >> $out; echo $item')],
        outputTo: 'all',
      },
    ]),
  },
  loops: {
    definition: once('loops', [
      {
        type: 'loop',
        loop: { type: 'while', check: '$iteration < 3', maxIterations: 5 },
        steps: [row({ while: '$iteration' })],
      },
      {
        type: 'loop',
        loop: { type: 'until', check: '$said.stdout === "3"', maxIterations: 5 },
        steps: [shell('echo $id until-$iteration >> $out; printf $iteration', { outputTo: 'said' })],
      },
      {
        type: 'loop',
        loop: { type: 'count', max: '$list.length', over: '$list', as: 'item' },
        steps: [row({ over: '$item' })],
      },
      { type: 'loop', loop: { type: 'continuous', intervalMs: 200, max: 3 }, steps: [emit('continuous')] },
    ]),
  },
  sleeping: { definition: once('sleeping', [row('before'), { type: 'sleep', durationMs: 4000 }, row('after')]) },
  budgeted: {
    definition: counted('budgeted', 9, [row('$iteration'), say('spent')], {
      safety: { maxIterations: 9, budget: { steps: 5 } },
    }),
  },
  asking: {
    definition: once('asking', [
      { type: 'approval', message: 'Go on with the first?', outputTo: 'first' },
      row('$first.choice'),
      say('approved'),
      { type: 'approval', message: 'Go on with the second?', outputTo: 'second' },
      row('$second.choice'),
    ]),
  },
  waiting: {
    company: 'publishes',
    definition: once('waiting', [
      row('before'),
      { type: 'watch', event: 'campaign:go:$id', outputTo: 'heard' },
      row('$heard.data'),
    ]),
  },
  edited: {
    company: 'edits',
    definition: once('edited', [{ type: 'approval', message: 'Is it edited?' }, row('as it was'), say('after')]),
  },
  paused: { company: 'pauses', definition: counted('paused', 4, [row('$iteration'), say('held')]) },
  terminated: {
    company: 'terminates',
    definition: once('terminated', [row('before'), { type: 'watch', event: 'campaign:never' }]),
  },
  grouped: {
    definition: once('grouped', [row('began'), say('held'), row('ended')], { concurrency: { group: 'campaign' } }),
  },
  changing: {
    definition: once(
      'changing',
      [
        command('cycle/start', { goal: '$id' }),
        ...STATES_BEFORE_APPROVAL.map((to) => command('cycle/transition', { to, must: true })),
        command(
          'changeset/approve',
          {
            operations: ['one', 'two', 'three'].map((name) => ({
              operation: 'CREATE',
              path: `changed/$id/${name}.txt`,
              content: '$id',
            })),
          },
          { outputTo: 'approved' },
        ),
        command('changeset/apply', { digest: '$approved.digest', operations: '$approved.operations' }),
        command('cycle/transition', { to: 'REFLECTING', must: true }),
        command('cycle/transition', { to: 'IDLE', must: true }),
        row('$approved.files.length'),
      ],
      {
        safety: { requireApproval: ['delete'] },
        concurrency: { group: 'changing' },
        outputs: { changed: '$approved.files.length' },
      },
    ),
  },
  starting: {
    definition: once('starting', [
      command(
        'sentinel/run',
        { definition: { name: 'started', steps: [{ type: 'approval', message: 'Go on?' }], loop: { type: 'once' } } },
        { outputTo: 'run' },
      ),
      command('sentinel/pause', { handle: '$run.handle', reason: 'the campaign' }),
      command('sentinel/resume', { handle: '$run.handle' }),
      command('sentinel/stop', { handle: '$run.handle' }),
      row('stopped'),
    ]),
  },
  background: {
    definition: once('background', [
      command(
        'code/shell/execute',
        { command: 'echo started; sleep 2; echo ready; sleep 25', wait: false },
        { outputTo: 'process' },
      ),
      {
        type: 'watch',
        executionId: '$process.executionId',
        rules: [{ pattern: 'ready', classification: 'ready' }],
        until: 'match',
        timeoutMs: 300_000,
      } as unknown as Step,
      row('it was ready'),
    ]),
  },
  large: {
    definition: once('large', [
      shell('echo $id large >> $out; head -c 60000 /dev/zero | tr "\\\\0" x', { outputTo: 'large' }),
      row('$large.exitCode'),
      command('camp/post', { id: '$id', what: 'long' }),
    ]),
  },
  triggered: {
    company: 'triggers',
    isTriggered: true,
    definition: once('triggered', [ofEvent, row('$event.n'), say('ordered')], {
      trigger: { type: 'event', event: 'campaign:ordered' },
    }),
  },
  scheduled: {
    company: 'schedules',
    isTriggered: true,
    definition: once('scheduled', [row('started'), say('due')]),
  },
  chatting: {
    definition: once('chatting', [
      command('collaboration/chat/send', { room: 'campaign', message: '$id first' }),
      say('between'),
      command('collaboration/chat/send', { room: 'campaign', message: '$id second' }),
    ]),
  },
  git: {
    definition: once(
      'git',
      [
        command('code/git', { operation: 'branch', name: '$id' }),
        command('code/write', { path: 'git/$id.txt', content: 'of $id' }),
        command('code/git', { operation: 'add', paths: ['git/$id.txt'] }),
        command('code/git', { operation: 'commit', message: '$id commit' }),
      ],
      { concurrency: { group: 'campaign-git' } },
    ),
  },
  posted: {
    company: 'posts',
    isTriggered: true,
    definition: once('posted', [ofEvent, row('$event.n')], { trigger: { type: 'event', event: 'campaign:posted' } }),
  },
} satisfies { [name: string]: Kind };

export type KindName = keyof typeof kinds;
export const KINDS: { readonly [name in KindName]: Kind } = kinds;
const hasSandbox = spawnSync('bwrap', ['--version']).status === 0;
export const KIND_NAMES = (Object.keys(kinds) as KindName[]).filter(
  (name) => hasSandbox || KINDS[name].isSandboxed !== true,
);

/** What `$id` of a run is, and, where no event starts it, its handle. */
export const idOf = (kind: KindName, nth: number): string => `c-${kind}-${nth}`;
export const kindOfId = (id: string): KindName | null => {
  const [, kind = ''] = /^c-([a-z]+)-\d+/.exec(id) ?? [];
  return Object.hasOwn(kinds, kind) ? (kind as KindName) : null;
};
