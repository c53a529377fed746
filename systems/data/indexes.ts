/** The indexes that a project declares for its collections: made by a worker of it, and looked after by `doctor`. */
import type { Preparation, Standing } from '../../operations/system.ts';
import type { IndexState, RecordIndex } from '../../prisma/store/contract/record-contract.ts';
import { indexesIn, Settings } from './settings.ts';

const titleOf = ({ collection, fields }: RecordIndex): string =>
  `index of ${collection} (${fields.map(({ field, direction }) => `${field}${direction === 'desc' ? ' desc' : ''}`).join(', ')})`;

const UNMADE: { [state in Exclude<IndexState['state'], 'ready'>]: { found: string; remedy: string } } = {
  missing: {
    found: 'has not been made',
    remedy: 'Run "sentinel up" in the project; the log of the worker says what is wrong with it.',
  },
  building: { found: 'is being made', remedy: 'Wait for it: lists of the collection take longer until then.' },
  broken: {
    found: 'was not finished',
    remedy: 'Run "sentinel down" and "sentinel up" in the project, which makes it again.',
  },
};

function standingOf(index: IndexState): Standing {
  const name = titleOf(index);
  return index.state === 'ready' ? { name, ok: true, found: index.name } : { name, ok: false, ...UNMADE[index.state] };
}

export const indexes: Preparation = {
  settings: Settings,
  async make({ records }, set) {
    const made = await records.makeIndexes(indexesIn(set));
    return made.map((index) =>
      index.failure === null
        ? `made the ${titleOf(index)}`
        : `the ${titleOf(index)} cannot be made: ${index.failure}; lists of the collection take longer without it`,
    );
  },
  standings: async ({ records }, set) => (await records.indexStates(indexesIn(set))).map(standingOf),
};
