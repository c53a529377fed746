/** The example of docs/sharing.md, and the lines of the export and import of the sources as they are printed, between two projects. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Harness, Said } from '../harness/harness.ts';
import { useTwoProjects } from '../harness/two-projects.ts';

const page = readFileSync(new URL('../../../docs/sharing.md', import.meta.url), 'utf8');
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(page)?.[1] ?? '';

const { harness: opened, other: bakery } = useTwoProjects();
let harness: Harness;
beforeAll(() => {
  harness = opened();
});

const documentOf = ({ out }: Said): JsonObject => JSON.parse(out) as JsonObject;
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/(?:[^\s"]|"[^"]*")+/g), ([word]) => word.replaceAll('"', ''));

test('the example of the page', async () => {
  writeFileSync(join(harness.project, 'build-fix-v3.json'), block('json'));
  for (const line of block('sh').trim().split('\n')) {
    const [program, ...words] = wordsOf(line.replaceAll('../bakery', bakery));
    if (program === 'cp') copyFileSync(join(harness.project, words[0] ?? ''), join(bakery, words[0] ?? ''));
    else expect(await harness.command(...words), line).toMatchObject({ code: 0 });
  }
  const listed = JSON.parse((await harness.command('saved', 'list', '--json')).out) as JsonObject[];
  expect(listed.filter(({ name }) => name === 'build-fix-v3')).toMatchObject([
    { personaId: 'ada', project: harness.project, version: 1, runCount: 1, successRate: 1, parentPersonaId: null },
    { personaId: 'junior-dev-ai', project: bakery, version: 1, runCount: 1, parentPersonaId: 'ada' },
  ]);
});

test('5.2 as it is printed: export with history, import for another persona in another project, recalled by that one', async () => {
  const jtag = async (line: string, project: string): Promise<Json> => {
    const said = await harness.command('command', ...wordsOf(line).slice(1), '--project', project, '--json');
    expect(said, `${line}: ${said.err}${said.out}`).toMatchObject({ code: 0 });
    return documentOf(said)['result'] ?? null;
  };
  const exported = await jtag(
    'jtag sentinel/export --sentinelId="build-fix-v3" --output="./sentinels/build-fix-v3.json" --includeHistory=true',
    harness.project,
  );
  expect(exported).toMatchObject({ name: 'build-fix-v3', versions: 1, runs: 1 });
  const other = join(bakery, 'other');
  mkdirSync(join(other, 'sentinels'), { recursive: true });
  copyFileSync(join(harness.project, 'sentinels', 'build-fix-v3.json'), join(other, 'sentinels', 'build-fix-v3.json'));
  const imported = await jtag(
    'jtag sentinel/import --file="./sentinels/build-fix-v3.json" --personaId="junior-dev-ai" --addToMemory=true',
    other,
  );
  expect(imported).toMatchObject({
    name: 'build-fix-v3',
    personaId: 'junior-dev-ai',
    signer: { name: 'this installation' },
    changes: [{ name: 'build-fix-v3', state: 'new' }],
    done: true,
    addedToMemory: true,
  });
  const recalled = await jtag(
    'jtag memory/recall --personaId="junior-dev-ai" --type="sentinel" --query="build fix"',
    other,
  );
  const brought = (recalled as JsonObject[]).filter(({ tags }) => (tags as string[]).includes('imported'));
  expect(brought).toMatchObject([
    { type: 'sentinel', content: { name: 'build-fix-v3', executions: 1, successRate: 1 } },
  ]);
  // The file is no definition, and hides none of that name.
  expect(await harness.command('run', 'build-fix-v3', '--project', other, '--persona', 'junior-dev-ai')).toMatchObject({
    code: 0,
  });
  writeFileSync(join(other, 'sentinels', 'beside.json'), block('json'));
  expect((await harness.command('validate', join(other, 'sentinels'))).code).toBe(0);
});

test('what would change is shown, and nothing is saved without a yes', async () => {
  const file = 'changed.sentinel.json';
  const changed = block('json').replace('"maxIterations": 5', '"maxIterations": 7');
  writeFileSync(join(harness.project, 'build-fix-v3.json'), changed);
  expect((await harness.command('save', 'build-fix-v3.json', '--by', 'ada')).code).toBe(0);
  expect((await harness.command('saved', 'export', 'build-fix-v3', file, '--by', 'ada')).code).toBe(0);
  copyFileSync(join(harness.project, file), join(bakery, file));
  const importing = ['saved', 'import', file, '--project', bakery, '--persona', 'junior-dev-ai'];
  const shown = await harness.command(...importing);
  expect(shown).toMatchObject({ code: 0, out: '' });
  expect(shown.err).toMatch(/^-.*5,?$/m);
  expect(shown.err).toMatch(/^\+.*7,?$/m);
  const bakers = { persona: 'junior-dev-ai', project: bakery };
  expect((await harness.store.definitions.find('build-fix-v3', bakers))?.version).toBe(1);
  expect(documentOf(await harness.command(...importing, '--json'))).toMatchObject({
    changes: [{ state: 'changed' }],
    done: false,
  });
  expect(documentOf(await harness.command(...importing, '--yes', '--json'))).toMatchObject({ done: true });
  expect((await harness.store.definitions.find('build-fix-v3', bakers))?.version).toBe(2);
});

test('a person deploys into another project, with what it names', async () => {
  const part = { name: 'part', loop: { type: 'once' }, steps: [{ type: 'shell', command: 'echo part' }] };
  const whole = { name: 'whole', loop: { type: 'once' }, steps: [{ type: 'sentinel', definition: { $ref: 'part' } }] };
  mkdirSync(join(harness.project, 'flows'));
  for (const one of [part, whole])
    writeFileSync(join(harness.project, 'flows', `${one.name}.json`), JSON.stringify(one));
  expect((await harness.command('save', 'flows/whole.json', '--by', 'ada')).code).toBe(0);
  const deploying = ['saved', 'deploy', 'whole', bakery, '--by', 'ada', '--json'];
  expect(documentOf(await harness.command(...deploying))).toMatchObject({ done: false });
  const session = harness.store.session();
  const there = async (): Promise<string[]> =>
    (await harness.store.sentinels.list(session, { project: bakery, persona: 'ada' })).map(({ name }) => name);
  expect(await there()).toEqual([]);
  expect(documentOf(await harness.command(...deploying, '--yes'))).toMatchObject({
    project: bakery,
    changes: [
      { name: 'whole', state: 'new' },
      { name: 'part', state: 'new' },
    ],
    commands: [],
    done: true,
  });
  expect(await there()).toEqual(['part', 'whole']);
  await session.close();
});
