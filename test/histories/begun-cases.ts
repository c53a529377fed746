/** Shell steps that segments begin: those that end there, those that go on in an activity, one that is cancelled. */
import { counted, create, once, shell } from '../server/harness/definitions.ts';
import type { HistoryCase } from './history-case.ts';

export const BEGUN_CASES: readonly HistoryCase[] = [
  {
    name: 'begun-in-segments',
    definition: counted('begun-in-segments', 2, [
      shell('echo $iteration', { outputTo: 'said' }),
      create('history', { said: '$said.stdout' }),
      {
        type: 'parallel',
        branches: [
          [shell('sleep 0.7; echo a', { outputTo: 'a' }), create('history', { branch: 'a' })],
          [create('history', { branch: 'b' }), shell('echo b')],
          [shell('true'), shell('sleep 0.6')],
        ],
      },
      shell('echo $a.stdout'),
    ]),
  },
  {
    name: 'begun-and-cancelled',
    definition: once('begun-and-cancelled', [shell('sleep 60'), create('history', { never: true })]),
    say: 'cancel',
  },
];
