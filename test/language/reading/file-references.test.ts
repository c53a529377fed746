/** A `$ref` that is a path: read in place, confined to the project, its problems told where they are written. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runTestCase, subjectOf } from '../../../authoring/definition-tests/run-case.ts';
import { readCases } from '../../../authoring/definition-tests/test-file.ts';
import { filesAround } from '../../../client/read-definition.ts';
import { readDefinitionFile, type DefinitionRead } from '../../../world/definitions/definition-files.ts';
import { definitionBytesMax } from '../../../language/limits.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { canonicalForm } from '../../../language/read/canonical-form.ts';
import { readNestedDefinition } from '../../../language/read/nested-definition.ts';
import { catalogue, NO_FILES } from '../../catalogue.ts';

const child = {
  name: 'child',
  steps: [{ type: 'shell', command: 'true', outputTo: 'done' }],
  loop: { type: 'once' },
};
const refersTo = (ref: string, more: object = {}): object => ({
  name: 'parent',
  steps: [{ type: 'sentinel', definition: { $ref: ref } }],
  loop: { type: 'once' },
  ...more,
});

let folder: string;
let project: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sentinel-paths-')));
  project = join(folder, 'project');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, content: object | string): string {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return file;
}

const read = (file: string, root = project): DefinitionRead =>
  readDefinitionFile(file, filesAround(file, { catalogue, root }, folder));

const shown = (path: string): string => relative('.', join(project, path));

/** The problems in one line each, with their places. */
const places = ({ problems }: Pick<DefinitionRead, 'problems'>): string[] =>
  problems.map(({ code, path, file, line, column }) => [code, path, file, line, column].filter(Boolean).join(' '));

describe('what a path leads to', () => {
  test.each([
    ['./lib/child.json', 'lib/child.json', child],
    [
      './child.yaml',
      'child.yaml',
      'name: child\nsteps:\n  - { type: shell, command: "true", outputTo: done }\nloop: { type: once }\n',
    ],
    [
      './child.yml',
      'child.yml',
      'name: child\nsteps:\n  - { type: shell, command: "true", outputTo: done }\nloop: { type: once }\n',
    ],
    ['./child.jsonc', 'child.jsonc', `// why\n${JSON.stringify(child)}`],
    ['../child.json', '../child.json', child],
  ])('%s stands in place of the reference', (ref, file, content) => {
    write(join('flows', file), content);
    expect(read(write('flows/parent.json', refersTo(ref)))).toMatchObject({
      problems: [],
      definition: { steps: [{ type: 'sentinel', definition: child }] },
    });
  });

  test('a path may stand as a text, also of a whole run', () => {
    write('my child.json', child);
    const step = { type: 'sentinel', definition: './my child.json' };
    expect(read(write('parent.json', { ...refersTo(''), steps: [step] })).definition?.steps[0]).toMatchObject({
      definition: child,
    });
    expect(read(write('run.json', { $ref: './my child.json' })).definition?.steps[0]).toMatchObject({
      definition: child,
    });
  });

  test('a path is relative to the file that says it', () => {
    write('lib/inner/leaf.json', child);
    write('lib/middle.json', refersTo('./inner/leaf.json', { name: 'middle' }));
    expect(read(write('flows/parent.json', refersTo('../lib/middle.json'))).definition?.steps[0]).toMatchObject({
      definition: { name: 'middle', steps: [{ definition: child }] },
    });
  });

  test('what is read is canonical, and reads as itself', () => {
    write('child.json', { name: 'child', pipeline: [{ cmd: 'true' }] });
    const { definition } = read(write('parent.json', refersTo('./child.json')));
    expect(parseDefinition(definition, { catalogue })).toMatchObject({ ok: true, definition, inferred: [] });
  });

  test('a file that names lead to may refer to files itself', () => {
    write('lib/leaf.json', child);
    write('middle.json', refersTo('./lib/leaf.json', { name: 'middle' }));
    const file = write('parent.json', refersTo('middle'));
    const around = filesAround(file, { catalogue, root: project }, folder);
    expect(readDefinitionFile(file, around).problems).toEqual([]);
    expect(around.known('middle')?.steps[0]).toMatchObject({ definition: child });
  });

  test('its defaults are its own', () => {
    write('child.json', child);
    write('strict.json', { ...child, name: 'strict', defaults: { shell: { failOn: 'nonzero' } } });
    const defaults = { shell: { failOn: 'nonzero' } };
    const steps = ['./child.json', './strict.json'].map(($ref) => ({ type: 'sentinel', definition: { $ref } }));
    expect(read(write('parent.json', { ...refersTo(''), steps, defaults })).definition).toMatchObject({
      steps: [{ definition: { defaults: { shell: { failOn: 'never' } } } }, { definition: { defaults } }],
    });
    expect(read(write('plain.json', refersTo('./child.json'))).definition?.steps[0]).toMatchObject({
      definition: expect.not.objectContaining({ defaults: expect.anything() }),
    });
  });

  test('a case of a test file walks through it', async () => {
    write('child.json', child);
    write('parent.json', refersTo('./child.json'));
    const testFile = join(project, 'parent.sentinel-test.json');
    for (const definition of [undefined, refersTo('./child.json')]) {
      const cases = readCases(
        {
          ...(definition && { definition }),
          replies: { true: { exitCode: 0 } },
          expect: { trace: ['…', 'steps.0/steps.0@1 shell ok "true"', '…'] },
        },
        'case',
      );
      const [first] = 'cases' in cases ? cases.cases : [];
      if (first === undefined) throw new Error(JSON.stringify(cases));
      const around = filesAround(testFile, { catalogue, root: project }, folder);
      const subject = subjectOf(first, testFile, around);
      expect(subject.problems).toEqual([]);
      expect(await runTestCase(first, subject)).toMatchObject({
        outcome: { trace: expect.arrayContaining([expect.stringContaining('shell ok "true"')]) },
      });
    }
  });
});

describe('problems of the file', () => {
  test('have its name, line and column, and the path in it', () => {
    write(
      'lib/child.json',
      '{\n  "name": "child",\n  "steps": [\n    { "type": "shell", "comand": "true" }\n  ],\n  "loop": { "type": "once" }\n}',
    );
    const found = read(write('parent.json', refersTo('./lib/child.json')));
    expect(places(found)).toEqual([`UNKNOWN_KEY steps.0.comand ${shown('lib/child.json')} 4 24`]);
    expect(found.problems[0]?.source).toContain('"comand"');
    expect(found.definition).toBeNull();
  });

  test('are told once, however often it is named, beside those of the parent', () => {
    write('child.json', { ...child, steps: [{ type: 'shell' }] });
    const steps = [1, 2, 3].map(() => ({ type: 'sentinel', definition: { $ref: './child.json' } }));
    expect(places(read(write('parent.json', { ...refersTo(''), steps: [...steps, { type: 'emit' }] })))).toEqual([
      `MISSING_KEY steps.3.event ${shown('parent.json')} 22 5`,
      `MISSING_KEY steps.0.command ${shown('child.json')} 4 5`,
    ]);
  });

  test('what it reads is looked for among what is set around it', () => {
    write('child.json', { ...child, steps: [{ type: 'emit', event: 'e', data: '$given $nobody' }] });
    const found = read(write('parent.json', refersTo('./child.json', { inputs: { given: 1 } })));
    expect(found.definition).not.toBeNull();
    expect(places(found)).toEqual([`UNKNOWN_REFERENCE steps.0.data ${shown('child.json')} 7 7`]);
  });

  test.each([
    ['what is no JSON', '{"name": ', 'NOT_JSON'],
    [
      'a key that is there twice',
      '{"name": "a", "name": "b", "steps": [{"type": "shell", "command": "true"}]}',
      'DUPLICATE_KEY',
    ],
    ['a list', '[]', 'WRONG_TYPE'],
    ['another object', '{"version": 2}', 'MISSING_KEY'],
    ['what is too deep', `{"name": "n", "steps": ${'['.repeat(70)}${']'.repeat(70)}}`, 'TOO_DEEP'],
  ])('%s is no definition', (_what, text, code) => {
    write('child.json', text);
    const found = read(write('parent.json', refersTo('./child.json')));
    expect(found.definition).toBeNull();
    expect(found.problems.map((problem) => `${problem.code} ${problem.file}`)).toContain(
      `${code} ${shown('child.json')}`,
    );
  });
});

const refused = (ref: string): string[] => {
  const found = read(write('flows/parent.json', refersTo(ref)));
  expect(found.definition).toBeNull();
  expect(found.problems.every(({ path }) => path === 'steps.0.definition.$ref')).toBe(true);
  return found.problems.map(({ code, message }) => `${code}: ${message}`);
};

describe('what a path cannot lead to', () => {
  test('a file that is not there', () => {
    expect(refused('./gone.json')).toEqual([
      expect.stringMatching(/^FILE_NOT_READABLE: "\.\/gone\.json": .*gone\.json does not exist; check the path$/),
    ]);
  });

  test('a folder', () => {
    mkdirSync(join(project, 'flows/child.json'), { recursive: true });
    expect(refused('./child.json')).toEqual([expect.stringMatching(/^FILE_NOT_READABLE: .* is no file; /)]);
  });

  test('a file outside of the project', () => {
    write('../outside.json', child);
    expect(refused('../../outside.json')).toEqual([expect.stringMatching(/^PATH_OUTSIDE_PROJECT: .* leads out of /)]);
  });

  test('a file that a link leads to outside of the project', () => {
    const outside = write('../outside/child.json', child);
    mkdirSync(join(project, 'flows'), { recursive: true });
    symlinkSync(outside, join(project, 'flows/link.json'));
    symlinkSync(dirname(outside), join(project, 'flows/linked'));
    expect(refused('./link.json')).toEqual([expect.stringMatching(/^PATH_OUTSIDE_PROJECT: /)]);
    expect(refused('./linked/child.json')).toEqual([expect.stringMatching(/^PATH_OUTSIDE_PROJECT: /)]);
  });

  test('a link inside the project is followed', () => {
    const real = write('lib/child.json', child);
    mkdirSync(join(project, 'flows'), { recursive: true });
    symlinkSync(real, join(project, 'flows/link.json'));
    expect(read(write('flows/parent.json', refersTo('./link.json'))).problems).toEqual([]);
  });

  test('a file that lies outside of the project stays in its own folder', () => {
    write('../elsewhere/child.json', child);
    write('../near.json', child);
    expect(read(write('../elsewhere/parent.json', refersTo('./child.json'))).problems).toEqual([]);
    expect(places(read(write('../elsewhere/parent.json', refersTo('../near.json'))))[0]).toContain(
      'PATH_OUTSIDE_PROJECT',
    );
  });

  test.each([
    ['./child', /^BAD_FILE_REFERENCE: .*does not end as a definition does/],
    ['./child.sentinel-test.json', /^BAD_FILE_REFERENCE: .*is a test of a definition/],
    ['./$which.json', /^BAD_FILE_REFERENCE: .*before the run has variables/],
  ])('%s', (ref, says) => {
    expect(refused(ref)).toContainEqual(expect.stringMatching(says));
  });

  test('what stands beside the path', () => {
    write('child.json', child);
    const step = { type: 'sentinel', definition: { $ref: './child.json', timeoutMs: 5 } };
    const found = read(write('parent.json', { ...refersTo(''), steps: [step] }));
    expect(found.problems.map(({ code }) => code)).toEqual(['UNKNOWN_KEY']);
  });
});

const twice = (ref: string): object[] => [1, 2].map(() => ({ type: 'sentinel', definition: { $ref: ref } }));

describe('files without end', () => {
  test.each([
    ['itself', { 'a.json': './a.json' }, 'a.json → a.json'],
    ['another', { 'a.json': './b.json', 'b.json': './lib/../a.json' }, 'a.json → b.json → a.json'],
    ['two others', { 'a.json': './b.json', 'b.json': './c.json', 'c.json': './b.json' }, 'b.json → c.json → b.json'],
  ])('a file that comes back to %s', (_what, files, way) => {
    for (const [file, ref] of Object.entries(files)) write(file, refersTo(ref, { name: file }));
    const found = read(join(project, 'a.json'));
    expect(found.problems.map(({ code }) => code)).toEqual(['REFERENCE_CYCLE']);
    expect(found.problems[0]?.message.replaceAll(`${relative('.', project)}/`, '')).toContain(way);
  });

  test('more sentinels inside one another than a run may have', () => {
    for (let at = 0; at < 12; at += 1) write(`${at}.json`, refersTo(`./${at + 1}.json`, { name: `n${at}` }));
    write('12.json', child);
    const found = read(join(project, '0.json'));
    expect(found.problems.map(({ code }) => code)).toEqual(['NESTING_TOO_DEEP']);
  });

  test('files that double at each level are bounded before they are read in', () => {
    for (let at = 0; at < 20; at += 1)
      write(`${at}.json`, { name: `n${at}`, steps: twice(`./${at + 1}.json`), loop: { type: 'once' } });
    write('20.json', { ...child, description: 'x'.repeat(1_000) });
    const found = read(join(project, '0.json'));
    expect(found.definition).toBeNull();
    expect(found.problems.length).toBeLessThan(5);
    expect(['TOO_LARGE', 'TOO_DEEP']).toContain(found.problems[0]?.code);
  });

  test('files that are too large together', () => {
    write('child.json', { ...child, description: 'x'.repeat(definitionBytesMax / 4) });
    const steps = [1, 2, 3, 4, 5].map(() => ({ type: 'sentinel', definition: { $ref: './child.json' } }));
    const found = read(write('parent.json', { ...refersTo(''), steps }));
    expect(found.problems.map(({ code, path }) => `${code} ${path}`)).toEqual(['TOO_LARGE steps.3.definition.$ref']);
  });
});

describe('a definition that comes from no file', () => {
  test('cannot refer to one by a path', () => {
    expect(parseDefinition(refersTo('./child.json'), { catalogue })).toMatchObject({
      ok: false,
      problems: [
        {
          code: 'BAD_FILE_REFERENCE',
          path: 'steps.0.definition.$ref',
          message: expect.stringContaining('comes from no file'),
        },
      ],
    });
  });

  test('what is handed to a command comes from none', () => {
    write('child.json', child);
    const step = { type: 'command', command: 'sentinel/run', params: { definition: refersTo('./child.json') } };
    const found = read(write('parent.json', { ...refersTo(''), steps: [step] }));
    expect(found.problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['warning BAD_FILE_REFERENCE']);
  });

  test.each([
    ['sentinel/run', { definition: { $ref: './child.json' } }, 'steps.0.params.definition.$ref'],
    ['sentinel/start', { definition: './child.json' }, 'steps.0.params.definition'],
    ['sentinel/create', { definition: { $ref: './child.json' } }, 'steps.0.params.definition.$ref'],
  ])('nor does a reference that is handed to one: %s %j', (command, params, path) => {
    write('child.json', child);
    const found = read(write('parent.json', { ...refersTo(''), steps: [{ type: 'command', command, params }] }));
    expect(found.problems.filter(({ code }) => code === 'BAD_FILE_REFERENCE')).toMatchObject([
      { severity: 'warning', path, message: expect.stringContaining('comes from no file') as string },
    ]);
  });

  test.each(['./child.json', '{"$ref": "./child.json"}'])('what a variable holds comes from none: %s', (value) => {
    expect(
      readNestedDefinition(
        { value, library: {}, around: 'boss', label: 'x', names: [], isBounded: true },
        { catalogue, stored: {} },
      ),
    ).toMatchObject({ findings: [{ code: 'BAD_FILE_REFERENCE' }] });
  });

  test('without files the canonical form keeps the reference', () => {
    const { value, problems } = canonicalForm(refersTo('./child.json'));
    expect(value).toEqual(refersTo('./child.json'));
    expect(problems).toHaveLength(1);
    expect(NO_FILES.known('./child.json')).toBeUndefined();
  });
});
