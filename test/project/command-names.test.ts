/** What a command does stands in the command: code elsewhere asks what it states, and knows none by its name. */
import { expect, test } from 'vitest';
import { builtInCommands } from '../../systems/built-in.ts';
import { PLANNED } from '../../systems/planned.ts';
import { codeOf, files, isSource } from './tree.ts';

const names = [...builtInCommands.map(({ name }) => name), ...Object.keys(PLANNED)];
const families = new Set(names.filter((name) => name.includes('/')).map((name) => `${name.split('/')[0]}/`));

/** Where a name may stand, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'cli/verbs/chat.ts collaboration/chat/read': 'the verb is the door to this command',
  'cli/verbs/chat.ts collaboration/chat/list': 'the verb is the door to this command',
  'cli/verbs/chat.ts collaboration/chat/send': 'the verb is the door to this command',
  'cli/verbs/data.ts data/list': 'the verb is the door to this command',
  'cli/verbs/data.ts data/read': 'the verb is the door to this command',
  'cli/verbs/data.ts data/delete': 'the verb is the door to this command',
  'cli/saved/travel.ts sentinel/export': 'the verb is the door to this command',
  'cli/saved/travel.ts sentinel/import': 'the verb is the door to this command',
  'cli/saved/travel.ts sentinel/deploy': 'the verb is the door to this command',
  'client/client.ts inbox/acknowledge': 'the method is the door to this command',
  'client/open-client.ts inbox/list': 'the method is the door to this command',
  'client/open-client.ts sentinel/load': 'the method is the door to this command',
  'client/open-client.ts sentinel/delete': 'the method is the door to this command',
  'cli/verbs/chat.ts collaboration/chat/mentions': 'the option of the verb is the door to this command',
  'interpreter/walk/join.ts sentinel/status': 'a `join` step is what a model does that looks at runs with it',
  'interpreter/keys.ts sentinel/': 'workflow ids begin so',
  'language/catalogue.ts code/shell/execute': 'the format says what a shell step is as a command',
  'language/catalogue.ts rag/build': 'the format says what collects the sources of a definition',
  'language/models/pictures.ts screenshot': 'a field that may hold a picture',
  'language/read/inventory/mend.ts code/read': 'stands for any command while a broken definition is read on',
  'language/read/rewrites/dojo.ts data/create': 'a dojo is written out as steps',
  'language/read/rewrites/dojo.ts ai/dataset/create': 'a dojo is written out as steps',
  'language/read/rewrites/json-values.ts code/': 'spellings are read before there is a catalogue',
  'language/read/rewrites/run-parameters.ts sentinel/run': 'spellings are read before there is a catalogue',
  'language/read/rewrites/run-parameters.ts sentinel/start': 'spellings are read before there is a catalogue',
  'language/policy/start-choices.ts sentinel/run': 'the one list of the doors that start runs',
  'language/policy/start-choices.ts sentinel/start': 'the one list of the doors that start runs',
  'language/rights/powers.ts *':
    'the one table of who may do what, held against the commands by test/cli/attacks/powers.test.ts',
};

const isException = (path: string, name: string): boolean =>
  Object.hasOwn(exceptions, `${path} ${name}`) || Object.hasOwn(exceptions, `${path} *`);

const sources = files.filter(
  (path) => isSource(path) && /^(?!test|systems|scripts|docs|examples|bench)[a-z]+\//.test(path),
);

/** Each literal (one in double quotes stands in a sentence) that is the name of a command, or what the names of a system begin with. */
const literals = sources.flatMap((path) => {
  const code = codeOf(path);
  return Array.from(code.matchAll(/(['`])([A-Za-z_][\w/-]*)\1/g), ([, , text = '']) => ({ path, text })).filter(
    ({ text }) => names.includes(text) || families.has(text),
  );
});

test('no code outside of the systems knows a command by its name', () => {
  expect(sources.length).toBeGreaterThan(500);
  const broken = literals.filter(({ path, text }) => !isException(path, text));
  expect(broken.map(({ path, text }) => `${path}: '${text}'`)).toEqual([]);
});

test('an exception is one', () => {
  const used = new Set(literals.flatMap(({ path, text }) => [`${path} ${text}`, `${path} *`]));
  expect(Object.keys(exceptions).filter((one) => !used.has(one))).toEqual([]);
});
