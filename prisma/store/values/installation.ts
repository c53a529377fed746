/** What those who share a database have in common. */
import type { Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';

interface Installation {
  id: string;
  key: string | null;
}

export function installation(database: Database): Pick<Store, 'installation' | 'sealKey'> {
  const ask = async (text: string, values: readonly unknown[]): Promise<Installation> => {
    const [row] = await database.query<Installation>(text, values);
    if (row === undefined) throw new Error('bug: a database without its installation');
    return row;
  };
  return {
    async installation() {
      const { id } = await ask('select id, seal_key as key from installation', []);
      return id;
    },
    async sealKey(made) {
      const { key } = await ask('select id, seal_key as key from installation', []);
      if (key !== null) return key;
      const kept = await ask(
        'update installation set seal_key = coalesce(seal_key, $1) returning id, seal_key as key',
        [made],
      );
      return kept.key ?? made;
    },
  };
}
