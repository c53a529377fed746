/** Who speaks is decided in one place, whatever the verb. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { speakerOf, speakerOption, userName } from '../../../cli/request/speaker.ts';
import { codeOf, files, isSource } from '../../project/tree.ts';

let before: string | undefined;
beforeEach(() => {
  before = process.env['USER'];
  process.env['USER'] = 'grace';
});
afterEach(() => {
  if (before === undefined) delete process.env['USER'];
  else process.env['USER'] = before;
});

describe('who speaks', () => {
  const config = { defaults: { persona: 'ada' } };

  it.each([
    ['who is named', { said: 'bob', owner: 'eve', config }, 'bob'],
    ['the owner of the definition', { said: undefined, owner: 'eve', config }, 'eve'],
    ['the persona of the project', { said: undefined, config }, 'ada'],
    ['the user, where the project names none', { said: undefined, config: { defaults: {} } }, 'grace'],
    ['the user, where there is no configuration', { said: undefined, config: null }, 'grace'],
  ])('%s', (_which, named, speaker) => expect(speakerOf(named)).toBe(speaker));

  it('is "local" where there is no user', () => {
    delete process.env['USER'];
    expect([userName(), speakerOf({ said: undefined, config: null })]).toEqual(['local', 'local']);
  });

  it.each([
    ['ada', 'ada'],
    ['ada@example.org', 'ada-example.org'],
    ['CORP\\\\ada lovelace', 'CORP-ada-lovelace'],
    ['ада', 'local'],
    ['ada-genome', 'local'],
  ])('of a user %j is an id of a persona', (user, id) => {
    process.env['USER'] = user;
    expect(userName()).toBe(id);
  });

  it('is refused where the name is empty, or no id', () => {
    const { parseArg } = speakerOption('--by <persona>', 'the author');
    expect(parseArg?.('bob', undefined)).toBe('bob');
    expect(parseArg?.('helper-ai', undefined)).toBe('helper-ai');
    for (const refused of [' ', '', 'ada lovelace', 'helper-genome', 'a/b', 'x'.repeat(101), "'; drop table runs; --"])
      expect(() => parseArg?.(refused, undefined)).toThrow(`--by: "${refused}" is no id of a persona`);
  });
});

it('no other file of the command line, the client or the authoring tools asks for the user or the default persona', () => {
  const asking = files.filter(
    (path) =>
      /^(?:cli|client|authoring)\//.test(path) &&
      isSource(path) &&
      /env(?:\['|\.)USER\b|defaults\??\.persona|userInfo\(/.test(codeOf(path)),
  );
  expect(asking).toEqual(['cli/request/speaker.ts']);
});
