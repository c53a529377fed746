/** `sentinel command NAME --key=value`: which words are parameters, and what the sources' lines become behind their alias. */
import { expect, test } from 'vitest';
import { commandParams } from '../../../cli/request/command-params.ts';
import { withParams } from '../../../cli/request/command-flags.ts';
import { builtInList } from '../../../client/lookup/command-list.ts';
import type { JsonObject } from '../../../language/json.ts';

const known = builtInList();
const schemaOf = (name: string): JsonObject | null => known.find((one) => one.name === name)?.params ?? null;

/** As a shell hands them over. */
const words = (line: string): string[] =>
  Array.from(line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g), ([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );

test.each<[typed: string, read: string]>([
  ['command data/list --collection=todos --limit=5', 'command data/list --param collection=todos --param limit=5'],
  ['command data/list --collection todos --json', 'command data/list --param collection=todos --json'],
  ['--json command data/read --collection=a --id=7', '--json command data/read --param collection=a --param id=7'],
  // An option of the verb has a space, and so has one that the command takes, too.
  ['command data/read --id call-1 --collection=a', 'command data/read --id call-1 --param collection=a'],
  ['command code/read --id=call-1 --path=a', 'command code/read --id=call-1 --param path=a'],
  [
    'command sentinel/step/update --sentinelId=a --index=0 --params=b',
    'command sentinel/step/update --param sentinelId=a --param index=0 --param params=b',
  ],
  ['command sentinel/step/update --params b', 'command sentinel/step/update --params b'],
  ['command code/verify --fullTest --path=a', 'command code/verify --param fullTest=true --param path=a'],
  ['command code/verify --full-test', 'command code/verify --param fullTest=true'],
  ['command data/list --limit -1', 'command data/list --param limit=-1'],
  [
    'command --project /a own/shout --text=hi --odd-name=3',
    'command --project /a own/shout --param text=hi --param odd-name=3',
  ],
  [
    'command --id call-1 data/list --by ada --collection=',
    'command --id call-1 data/list --by ada --param collection=',
  ],
  ['command data/list -- --collection=a', 'command data/list -- --collection=a'],
  ['command --help', 'command --help'],
  ['command', 'command'],
])('%s', (typed, read) => {
  expect(withParams(words(typed), schemaOf)).toEqual(words(read));
});

/** Behind `alias jtag='sentinel command'`. */
const jtag = async (line: string): Promise<JsonObject> => {
  const [, , ...rest] = withParams(['command', ...words(line).slice(1)], schemaOf);
  const param = rest.filter((_word, at) => rest[at - 1] === '--param');
  expect(rest).toEqual(param.flatMap((one) => ['--param', one]));
  const name = words(line)[1] ?? '';
  const command = known.find((one) => one.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return commandParams(command, { param });
};

test.each<[string, JsonObject]>([
  [
    'jtag sentinel/export --sentinelId="build-fix-v3" --output="./sentinels/build-fix-v3.json" --includeHistory=true',
    { sentinelId: 'build-fix-v3', output: './sentinels/build-fix-v3.json', includeHistory: true },
  ],
  [
    'jtag sentinel/import --file="./sentinels/build-fix-v3.json" --personaId="junior-dev-ai" --addToMemory=true',
    { file: './sentinels/build-fix-v3.json', personaId: 'junior-dev-ai', addToMemory: true },
  ],
  [
    'jtag memory/recall --personaId="junior-dev-ai" --type="sentinel" --query="build fix"',
    { personaId: 'junior-dev-ai', type: 'sentinel', query: 'build fix' },
  ],
  ['jtag sentinel/create --file=".continuum/sentinels/build.json"', { file: '.continuum/sentinels/build.json' }],
  [
    `jtag sentinel/run --type=pipeline --steps='[{"type":"shell","cmd":"npm test"}]'`,
    { type: 'pipeline', steps: [{ type: 'shell', cmd: 'npm test' }] },
  ],
  ['jtag sentinel/status --handle=abc', { handle: 'abc' }],
  ['jtag sentinel/list --personaId="helper-ai"', { personaId: 'helper-ai' }],
  [
    'jtag sentinel/logs/tail --handle=abc --stream=combined --lines=50',
    { handle: 'abc', stream: 'combined', lines: 50 },
  ],
  [
    `jtag data/list --collection=sentinels --filter='{"parentPersonaId":"helper-ai"}' --orderBy='[{"field":"name","direction":"asc"}]'`,
    {
      collection: 'sentinels',
      filter: { parentPersonaId: 'helper-ai' },
      orderBy: [{ field: 'name', direction: 'asc' }],
    },
  ],
])('%s', async (line, params) => {
  expect(await jtag(line)).toEqual(params);
});
