/** A system as somebody writes it from the documentation alone; it imports one module. */
export const NOTES = `
import { CommandFailure, defineCommand, defineSystem, z } from 'sentinel-engine/commands';

const Settings = z.strictObject({ maxLength: z.number().int().positive().default(200) });

export const notes = defineSystem({
  name: 'notes',
  summary: 'notes that runs and people write down',
  settings: Settings,
  tables: {
    notes: \`
      create table notes_note (
        id bigserial primary key,
        key text not null unique,
        text text not null,
        by text not null,
        at timestamptz not null default now()
      );
      create unique index notes_note_text on notes_note (text);
      create table notes_heard (position bigint primary key, text text not null);
    \`,
  },
  events: { 'notes:added': z.strictObject({ id: z.number(), text: z.string() }) },
  failures: { NOTE_THERE: { title: 'There is such a note already', retryable: false }, NOTE_TOO_LONG: 'A note is longer than the settings allow' },
  commands: [
    defineCommand({
      name: 'notes/add',
      description: 'Writes a note down.',
      permission: 'write',
      speed: 'quick',
      textField: 'text',
      params: z.strictObject({ text: z.string().min(1) }),
      result: z.object({ id: z.number(), text: z.string() }),
      predict: ({ text }) => ({ id: 1, text }),
      async run({ text }, { tx, key, caller, settings }) {
        const { maxLength } = Settings.parse(settings);
        if (text.length > maxLength) throw new CommandFailure('NOTE_TOO_LONG', 'a note has at most ' + maxLength + ' characters');
        const by = caller.kind === 'step' ? caller.persona : caller.name;
        const [row] = await tx.query(
          'insert into notes_note (key, text, by) values ($1, $2, $3) on conflict (text) do nothing returning id',
          [key, text, by],
        );
        if (row === undefined) throw new CommandFailure('NOTE_THERE', 'there is a note "' + text + '" already');
        await tx.publish('notes:added', { id: row.id, text });
        return { id: row.id, text };
      },
    }),
    defineCommand({
      name: 'notes/list',
      description: 'Lists the notes.',
      permission: 'read',
      speed: 'quick',
      params: z.strictObject({ like: z.string().default('%') }),
      result: z.array(z.object({ id: z.number(), text: z.string(), by: z.string() })),
      run: ({ like }, { tx }) => tx.query('select id, text, by from notes_note where text like $1 order by id', [like]),
    }),
    defineCommand({
      name: 'notes/import',
      description: 'Writes many notes down, slowly.',
      permission: 'write',
      params: z.strictObject({ texts: z.array(z.string()), waitMs: z.number().default(0) }),
      result: z.object({ added: z.number(), attempt: z.number(), resumed: z.any() }),
      async run({ texts, waitMs }, { tx, key, log, heartbeat, attempt, resumed, call }) {
        for (const [index, text] of texts.entries()) {
          await tx.query('insert into notes_note (key, text, by) values ($1, $2, $3)', [key + '#' + index, text, 'import']);
          log('wrote ' + text);
          heartbeat({ written: index + 1 });
          if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        }
        await call('data/create', { collection: 'imports', data: { added: texts.length } });
        return { added: texts.length, attempt, resumed };
      },
    }),
    defineCommand({
      name: 'notes/heard',
      description: 'Remembers that a note was added.',
      permission: 'write',
      speed: 'quick',
      doors: ['follower'],
      params: z.strictObject({ event: z.object({ position: z.number(), data: z.object({ text: z.string() }) }) }),
      result: z.null(),
      async run({ event }, { tx }) {
        await tx.query('insert into notes_heard (position, text) values ($1, $2)', [event.position, event.data.text]);
        return null;
      },
    }),
    defineCommand({
      name: 'notes/followed',
      permission: 'read',
      speed: 'quick',
      doors: ['step', 'person'],
      params: z.strictObject({}),
      result: z.array(z.string()),
      run: async (_params, { tx }) => (await tx.query('select text from notes_heard order by position')).map(({ text }) => text),
    }),
    defineCommand({
      name: 'notes/peek',
      description: 'Tries what a command that reads may not.',
      permission: 'read',
      params: z.strictObject({ what: z.enum(['write', 'publish', 'call', 'others', 'commit', 'fail']) }),
      result: z.any(),
      async run({ what }, { tx, call }) {
        if (what === 'fail') throw new CommandFailure('NOTE_GONE', 'there is none');
        if (what === 'write') return tx.query('delete from notes_note returning id');
        if (what === 'publish') return tx.publish('notes:added', { id: 1, text: 'x' });
        if (what === 'commit') return tx.query('commit');
        if (what === 'call') return call('code/shell/execute', { command: 'touch acted' });
        return tx.query('with gone as (delete from runs returning 1) select * from gone');
      },
    }),
  ],
  followers: { hearing: { event: 'notes:added', command: 'notes/heard' } },
  definitions: {
    'notes-report': {
      steps: [{ type: 'command', command: 'notes/list', outputTo: 'notes' }],
      outputs: { notes: '$notes' },
    },
  },
  verbs: { add: { summary: 'write a note down', command: 'notes/add', args: ['text'] }, list: { summary: 'list the notes', command: 'notes/list' },
    import: { summary: 'write many notes down', command: 'notes/import', args: ['texts'] } },
});
`;

export const CONFIG = `
import { notes } from './notes.ts';
import { defineCommand, defineSystem, z } from 'sentinel-engine/commands';

const broken = defineSystem({
  name: 'broken',
  summary: 'tables that cannot be made',
  tables: { first: 'create table broken_one (id int); create table broken_one (id int)' },
  commands: [
    defineCommand({ name: 'broken/get', permission: 'read', params: z.strictObject({}), result: z.null(), run: () => null }),
  ],
});

export default { systems: [{ system: notes, settings: { maxLength: 40 } }, broken] };
`;
