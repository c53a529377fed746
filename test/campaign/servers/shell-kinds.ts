/** Runs whose shell commands the campaign counts: each form in which a process is asked for, and each way in which it ends. */
import { counted, once, shell } from '../../server/harness/definitions.ts';
import { command, type Kind, row, say } from './kind-steps.ts';

/** In a sandbox only the project can be written to. */
export const LINES_INSIDE = 'lines';

const fails = { failOn: 'nonzero', retry: { attempts: 3, backoffMs: 200 }, onError: 'skip' } as const;

export const shellKinds = {
  shell: { definition: once('shell', [say('one'), row('between'), say('two')]) },
  stepwise: {
    definition: counted('stepwise', 2, [shell('echo $id pass-$iteration >> $out; sleep 0.3; echo $iteration')], {
      durability: 'step',
    }),
  },
  args: {
    definition: once('args', [shell('sh', { args: ['append.sh', '$id', 'args', '$out'] }), row('after')]),
  },
  fed: { definition: once('fed', [shell('cat >> $out; sleep 0.3', { stdin: '$id fed\n' }), row('after')]) },
  piped: {
    definition: once('piped', [
      shell(
        '(echo $id piped-begun >> $out; seq 1 9000; sleep 0.3; echo $id piped >> $out; seq 1 9) | sort -n | tail -n 1',
        { outputTo: 'last' },
      ),
      row('$last.stdout'),
    ]),
  },
  executed: {
    definition: once('executed', [
      command('code/shell/execute', {
        command: 'echo $id executed-begun >> $out; sleep 0.4; echo $id executed >> $out',
      }),
      row('after'),
    ]),
  },
  sandboxed: {
    isSandboxed: true,
    definition: once(
      'sandboxed',
      [
        shell(`echo $id in-begun >> ${LINES_INSIDE}; sleep 0.3; echo $id in >> ${LINES_INSIDE}; echo inside`),
        row('between'),
        shell(`echo $id again >> ${LINES_INSIDE}`),
      ],
      { mode: 'sandboxed' },
    ),
  },
  chosen: {
    definition: counted('chosen', 2, [
      { type: 'condition', check: '$iteration === 1', then: [say('then')], else: [say('else')] },
    ]),
  },
  deep: {
    definition: once('deep', [
      {
        type: 'parallel',
        branches: [
          [
            {
              type: 'loop',
              loop: { type: 'count', max: 2 },
              steps: [shell('echo $id loop-$iteration >> $out; sleep 0.2')],
            },
          ],
          [{ type: 'sentinel', definition: once('deeper', [say('deeper'), row('deeper')]) }],
        ],
      },
      row('joined'),
    ]),
  },
  cleaning: {
    definition: once('cleaning', [say('worked'), { type: 'fail', message: 'it was to fail', code: 'ON_PURPOSE' }], {
      always: [say('cleaned'), row('cleaned')],
    }),
  },
  retried: {
    definition: once('retried', [shell('echo $id tried >> $out; sleep 0.2; exit 3', fails), row('after')]),
  },
  lasting: {
    definition: once('lasting', [
      shell('sh', { args: ['lasting.sh', '$id', '$out'], outputTo: 'lasted' }),
      row('$lasted.stdout'),
    ]),
  },
  timed: {
    definition: once('timed', [
      shell('echo $id timed-begun >> $out; sleep 30; echo $id timed >> $out', { timeoutMs: 2500, onError: 'skip' }),
      row('after'),
    ]),
  },
  spawned: {
    definition: once('spawned', [command('camp/spawned', { id: '$id', out: '$out' }), row('after')]),
  },
  verified: {
    definition: once('verified', [
      command('code/write', {
        path: 'checked/$id/package.json',
        content: '{"scripts":{"test":"echo $id verified-begun >> $out; sleep 0.4; echo $id verified >> $out"}}',
      }),
      command('code/verify', { path: 'checked/$id' }, { outputTo: 'verified' }),
      row('$verified.success'),
    ]),
  },
  abandoned: {
    company: 'abandons',
    definition: once('abandoned', [
      row('before'),
      shell('echo $id abandoned >> $out; sleep 240; echo $id ended >> $out'),
    ]),
  },
  unknown: {
    company: 'orphans',
    definition: once('unknown', [
      row('before'),
      shell('echo $id begun >> $out; sleep 6', { onUnknown: 'skip' } as object),
      row('after'),
    ]),
  },
} satisfies { [name: string]: Kind };
