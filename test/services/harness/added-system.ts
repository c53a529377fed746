/** A system as a developer of the engine adds it: a folder of files, and the line of the list that names it. */
export const LINE = "export { stock } from './stock/system.ts';\n";

export const STOCK: { readonly [path: string]: string } = {
  'system.ts': `/** What there is in a store room. */
import * as z from 'zod';
import { defineSystem } from '../../operations/system.ts';
import { Settings, stockCommands } from './commands.ts';

export const stock = defineSystem({
  name: 'stock',
  summary: 'what there is in a store room',
  commands: stockCommands,
  settings: Settings,
  tables: {
    items: \`
      create table stock_items (item text primary key, count integer not null);
      create table stock_heard (position bigint primary key, item text not null);
    \`,
  },
  events: { 'stock:put': z.strictObject({ item: z.string(), count: z.number() }) },
  followers: { hearing: { event: 'stock:put', command: 'stock/heard' } },
  verbs: {
    put: { summary: 'put something in', command: 'stock/put', args: ['item', 'count'] },
    list: { summary: 'list what there is', command: 'stock/list' },
  },
});
`,
  'commands.ts': `import * as z from 'zod';
import { defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';

/** What a project may set of it. */
export const Settings = z.strictObject({ max: z.number().int().positive().default(100) });

const Item = z.object({ item: z.string(), count: z.number() });

const put = defineCommand({
  name: 'stock/put',
  description: 'Puts something into the store room.',
  permission: 'write',
  speed: 'quick',
  doors: ['step', 'model', 'person', 'agent'],
  failures: { STOCK_FULL: 'The store room has no place for so much' },
  params: z.strictObject({ item: z.string().min(1), count: z.number().int().positive() }),
  result: Item,
  async run({ item, count }, { tx, settings }) {
    if (count > Settings.parse(settings).max) throw new Failure('STOCK_FULL', \`there is no place for \${count}\`);
    const rows = await tx.query<{ item: string; count: number }>(
      \`insert into stock_items (item, count) values ($1, $2)
       on conflict (item) do update set count = stock_items.count + excluded.count returning item, count\`,
      [item, count],
    );
    await tx.publish('stock:put', { item, count });
    return rows[0] ?? { item, count };
  },
});

const list = defineCommand({
  name: 'stock/list',
  description: 'Lists what there is in the store room.',
  permission: 'read',
  speed: 'quick',
  doors: ['step', 'model', 'person', 'agent'],
  params: z.strictObject({}),
  result: z.array(Item.extend({ heard: z.number() })),
  run: (_params, { tx }) =>
    tx.query(
      \`select item, count, (select count(*) from stock_heard where stock_heard.item = stock_items.item)::int as heard
       from stock_items order by item\`,
    ),
});

const heard = defineCommand({
  name: 'stock/heard',
  description: 'Remembers that something was put in.',
  permission: 'write',
  speed: 'quick',
  doors: ['follower'],
  params: z.strictObject({
    event: z.looseObject({ position: z.number(), data: z.looseObject({ item: z.string() }) }),
  }),
  result: z.null(),
  async run({ event }, { tx }) {
    await tx.query('insert into stock_heard (position, item) values ($1, $2)', [event.position, event.data.item]);
    return null;
  },
});

export const stockCommands = [put, list, heard];
`,
  'failures.md': `## STOCK_FULL

The store room has no place for so much.

### What happened

More was put in at once than the store room takes.

### What to do

Put in less.
`,
  'definitions/stock-report.json': `${JSON.stringify(
    {
      $schema: '../../../sentinels/sentinel.schema.json',
      name: 'stock-report',
      steps: [{ type: 'command', command: 'stock/list', outputTo: 'stock' }],
      outputs: { stock: '$stock' },
    },
    null,
    2,
  )}\n`,
};
