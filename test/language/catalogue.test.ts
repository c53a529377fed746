import { describe, expect, test } from 'vitest';
import { entriesFor, entryOf, shellLineOf, type Catalogue } from '../../language/catalogue.ts';
import { isRetryable } from '../../language/stated-failures.ts';
import { explain } from '../../language/explain/explain.ts';
import type { Definition, Step } from '../../language/model.ts';
import { permissionOf } from '../../language/permissions.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import { definitionSchema } from '../../language/schema/definition-schema.ts';
import { catalogue } from '../catalogue.ts';

/** The built-in commands and one of a project's own. */
const own: Catalogue = { ...catalogue, 'acme/deploy': { permission: 'write', speed: 'long', textField: 'log' } };
const deploy: Step = { type: 'command', command: 'acme/deploy', params: { to: 'staging' }, outputTo: 'deployed' };
const command = (name: string): Step => ({ type: 'command', command: name });
const once = (steps: Step[], more: Partial<Definition> = {}): Definition => ({
  name: 'ship',
  loop: { type: 'once' },
  steps,
  ...more,
});
const codesOf = (definition: unknown, known: Catalogue): string[] =>
  parseDefinition(definition, { catalogue: known }).problems.map(({ code }) => code);

describe("a project's own command", () => {
  test('is read where the catalogue has it', () => {
    expect(parseDefinition(once([deploy]), { catalogue: own })).toMatchObject({ ok: true, problems: [] });
    expect(codesOf(once([deploy]), catalogue)).toEqual(['UNKNOWN_COMMAND']);
  });

  test('is what a misspelt name is corrected to', () => {
    const { problems } = parseDefinition(once([command('acme/deplyo')]), { catalogue: own });
    expect(problems).toMatchObject([{ code: 'UNKNOWN_COMMAND', fix: 'write "acme/deploy"' }]);
  });

  test('is found in place of a step and as the key of one', () => {
    const written = { name: 'x', steps: [{ 'acme/deploy': { to: 'a' } }] };
    expect(parseDefinition(written, { catalogue: own }).problems[0]?.fix).toContain('"command": "acme/deploy"');
    expect(parseDefinition(written, { catalogue }).problems[0]?.fix).toBeUndefined();
  });

  test('is a warning where it is planned only', () => {
    const planned = { 'acme/deploy': { permission: 'write', speed: 'long', planned: true } } as const;
    expect(codesOf(once([deploy]), planned)).toEqual(['COMMAND_NOT_BUILT']);
  });

  test('is of the class that it states, and what nobody knows of the worst', () => {
    expect(permissionOf(own, deploy)).toBe('write');
    expect(permissionOf(catalogue, deploy)).toBe('shell');
    expect(codesOf(once([deploy], { mode: 'readonly' }), own)).toEqual(['REFUSED_BY_MODE']);
    expect(codesOf(once([deploy], { mode: 'sandboxed' }), own)).toEqual([]);
  });

  test('is explained by its class and its speed', () => {
    const { touches, estimate } = explain(once([deploy]), { catalogue: own });
    expect(touches).toMatchObject([{ permission: 'write', sentence: 'It writes: acme/deploy.', steps: ['steps.0'] }]);
    const quick = { ...own, 'acme/deploy': { permission: 'write', speed: 'quick' } } as const;
    expect(explain(once([deploy]), { catalogue: quick }).estimate.pass.most.events).toBeLessThan(
      estimate.pass.most.events,
    );
  });

  test('is an example of the schema', () => {
    expect(JSON.stringify(definitionSchema(own, {}))).toContain('"acme/deploy"');
    expect(JSON.stringify(definitionSchema(catalogue, {}))).not.toContain('"acme/deploy"');
  });

  test('takes a line for a shell, or a program, where it says so', () => {
    const step = { command: 'acme/deploy', params: { command: 'echo $HOME', plan: { steps: ['$later'] } } };
    expect(shellLineOf(own, step)).toBeUndefined();
    const known: Catalogue = {
      'acme/deploy': { permission: 'shell', speed: 'long', takesShellLine: true, programParams: ['plan'] },
    };
    expect(shellLineOf(known, step)).toBe('echo $HOME');
    expect(shellLineOf(known, { ...step, params: { ...step.params, args: [] } })).toBeUndefined();
    const planned = { ...deploy, params: { plan: step.params.plan } };
    expect(codesOf(once([planned]), known)).toEqual([]);
    expect(codesOf(once([planned]), own)).toEqual(['UNKNOWN_REFERENCE']);
  });
});

describe('the entries of a run', () => {
  const inner = once([command('data/list')], { always: [command('data/create')] });
  const everywhere = once(
    [
      {
        type: 'condition',
        check: 'true',
        then: [deploy],
        else: [command('code/read')],
        always: [command('code/write')],
      },
      { type: 'loop', loop: { type: 'count', max: 2 }, steps: [command('health-check')] },
      { type: 'parallel', branches: [[command('code/git')], [command('genome/train-voice')]] },
      { type: 'sentinel', definition: inner },
      { type: 'sentinel', definition: { $ref: 'other' } },
    ],
    { always: [command('sentinel/list')] },
  );

  test('are those that its definitions name, at any depth, as they stand in the catalogue but for the failures that a repeat may change', () => {
    const entries = entriesFor(own, [everywhere]);
    expect(Object.keys(entries).toSorted()).toEqual([
      'acme/deploy',
      'code/git',
      'code/read',
      'code/write',
      'data/create',
      'data/list',
      'genome/train-voice',
      'health-check',
      'sentinel/list',
    ]);
    expect(entries['data/create']?.failures).toHaveProperty('RECORD_EXISTS');
    for (const [name, { failures: kept = {}, ...entry }] of Object.entries(entries)) {
      const { failures = {}, ...carried } = own[name] ?? {};
      expect(entry).toStrictEqual(carried);
      const permanent = Object.entries(failures).filter(([, stated]) => !isRetryable(stated));
      expect(kept).toStrictEqual(Object.fromEntries(permanent));
    }
  });

  test('are also those of the definitions that it refers to', () => {
    const entries = entriesFor(own, [once([deploy]), once([command('code/git')])]);
    expect(Object.keys(entries)).toEqual(['code/git', 'acme/deploy']);
  });

  test('are none where it names no command, or an unknown one', () => {
    expect(entriesFor(own, [once([{ type: 'shell', command: 'true' }])])).toEqual({});
    expect(entriesFor(own, [once([command('constructor')])])).toEqual({});
  });

  test('say that it is a bug when one is missing', () => {
    expect(() => entryOf(catalogue, 'acme/deploy')).toThrow(/^bug: .*"acme\/deploy"/);
    expect(() => entryOf(catalogue, 'constructor')).toThrow(/^bug: /);
  });
});
