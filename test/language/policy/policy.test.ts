/** What a policy's reader refuses, and which actions each key of `match` fits. */
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../catalogue.ts';
import { matchesGlob } from '../../../language/policy/glob.ts';
import { isLookedAt, refusesAlways, rulesFor, type ActionFacts } from '../../../language/policy/judge-policy.ts';
import { readPolicy, type PolicyRule } from '../../../language/policy/policy.ts';
import { globLengthMax, policyRulesMax } from '../../../language/limits.ts';
import { givenPolicy } from '../../../runs/policies.ts';

const rule = (match: PolicyRule['match'], verdict: PolicyRule['verdict'] = 'refuse', name = 'rule'): PolicyRule => ({
  name,
  match,
  verdict,
  reason: 'because',
});

const PATTERNS: readonly [pattern: string, text: string, fits: boolean][] = [
  ['data/*', 'data/list', true],
  ['data/*', 'data/list/deep', false],
  ['code/**', 'code/shell/execute', true],
  ['docs/**', 'docs', true],
  ['docs/**', 'docs-old/a', false],
  ['**/*.key', 'a.key', true],
  ['**/*.key', 'a/b/c.key', true],
  ['**/.env', 'x.env', false],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a/**/b', 'a/xb', false],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['*.example.com', 'api.example.com', true],
  ['*.example.com', 'example.com', false],
];
test.each(PATTERNS)('%s and %s', (pattern, text, fits) => expect(matchesGlob(pattern, text)).toBe(fits));

test('a pattern takes no longer than its length times that of the text', () => {
  const startedAt = performance.now();
  expect(matchesGlob(`${'**/*a'.repeat(99)}x`, 'a/'.repeat(2_000))).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

const facts = (over: Partial<ActionFacts>): ActionFacts => ({
  kinds: ['command'],
  command: 'code/write',
  permission: 'write',
  by: 'step',
  value: {},
  project: '/project',
  ...over,
});
const shell = (command: string, cwd?: string): ActionFacts =>
  facts({
    kinds: ['shell'],
    command: 'code/shell/execute',
    permission: 'shell',
    value: cwd === undefined ? { command } : { command, cwd },
  });
const file = (path: string): ActionFacts => facts({ value: { path, content: 'docs/secret.key' } });

const CASES: readonly [what: string, match: PolicyRule['match'], action: ActionFacts, fits: boolean][] = [
  ['everything', {}, facts({}), true],
  ['a kind', { kinds: ['shell'] }, facts({}), false],
  ['a kind that a command has besides', { kinds: ['shell'] }, facts({ kinds: ['command', 'shell'] }), true],
  ['a shell step by the command that it is', { commands: ['code/shell/*'] }, shell('ls'), true],
  ['what has no command', { commands: ['**'] }, facts({ kinds: ['emit'], command: undefined as never }), false],
  ['a class', { permissions: ['delete', 'write'] }, facts({}), true],
  ['what has no class', { permissions: ['read'] }, facts({ permission: null }), false],
  ['a model', { by: 'model' }, facts({}), false],
  ['all that is said', { by: 'step', permissions: ['read'] }, facts({}), false],
  ['a path', { paths: ['keys/**'] }, file('keys/a'), true],
  ['a path that goes around', { paths: ['keys/**'] }, file('./src/../keys//a'), true],
  ['a path from the root of the disk', { paths: ['keys/**'] }, file('/project/keys/a'), true],
  ['a path in other letters', { paths: ['keys/**'] }, file('KEYS/a'), true],
  ['a path outside', { paths: ['keys/**'] }, file('../keys/a'), false],
  ['any text of it', { paths: ['**/*.key'] }, file('a.txt'), true],
  ['a word of a line', { paths: ['keys/**'] }, shell('cat "keys/a";ls'), true],
  ['a word with a backslash in it', { paths: ['keys/**'] }, shell(String.raw`cat ke\ys/a`), true],
  ['a word from a folder', { paths: ['keys/**'] }, shell('cat a', 'keys'), true],
  ['a host of a URL', { hosts: ['*.example.com'] }, shell('curl https://me:x@API.example.com:8443/a'), true],
  ['a host that is a word', { hosts: ['example.com'] }, shell('ping example.com'), true],
  ['a host of a repository', { hosts: ['example.com'] }, shell('git clone git@example.com:a/b'), true],
  ['another host', { hosts: ['example.com'] }, shell('curl https://example.com.evil.org'), false],
];
test.each(CASES)('a rule that refuses fits %s', (_what, match, action, fits) => {
  expect(rulesFor([[rule(match)]], action)).toHaveLength(fits ? 1 : 0);
});

const ALLOWED: readonly [what: string, match: PolicyRule['match'], action: ActionFacts, fits: boolean][] = [
  ['all paths that are meant', { paths: ['docs/**'] }, file('docs/a'), true],
  [
    'not where one of them is another',
    { paths: ['docs/**'] },
    facts({ value: { from: 'docs/a', to: 'src/a' } }),
    false,
  ],
  ['not what names none', { paths: ['docs/**'] }, facts({ value: { content: 'docs/a' } }), false],
  ['not a path in other letters', { paths: ['docs/**'] }, file('DOCS/a'), false],
];
test.each(ALLOWED)('a rule that allows fits %s', (_what, match, action, fits) => {
  expect(rulesFor([[rule(match, 'allow')]], action)).toHaveLength(fits ? 1 : 0);
});

test('the first rule of each policy decides, and each policy is asked', () => {
  const first = [rule({}, 'allow', 'a'), rule({}, 'refuse', 'b')];
  const second = [rule({ by: 'model' }, 'refuse', 'c'), rule({}, 'ask', 'd')];
  expect(rulesFor([first, second], facts({})).map(({ name }) => name)).toEqual(['a', 'd']);
});

describe('a step is kept out of segments', () => {
  const list = { type: 'command', command: 'data/list' } as const;
  test.each([
    [rule({}, 'ask'), true],
    [rule({ paths: ['a'] }, 'ask'), true],
    [rule({ permissions: ['read'] }, 'ask'), true],
    [rule({ permissions: ['write'] }, 'ask'), false],
    [rule({}, 'refuse'), false],
  ])('by %j: %s', (given, isKeptOut) => expect(isLookedAt([[given]], catalogue, list)).toBe(isKeptOut));
});

describe('the reader', () => {
  const good = rule({ commands: ['a'] });
  test('takes rules', () => expect(readPolicy([good])).toEqual({ policy: [good] }));
  test.each([
    ['no list', {}, /it is no list/],
    ['a policy in an object', { policy: [good] }, /write the list of its "policy" alone/],
    ['an unknown key', [{ ...good, when: 1 }], /^0\.when \(rule "rule"\) is not taken$/],
    ['an unknown verdict', [{ ...good, verdict: 'deny' }], /0\.verdict \(rule "rule"\)/],
    ['no reason', [{ ...good, reason: ' ' }], /0\.reason/],
    ['an empty list', [{ ...good, match: { kinds: [] } }], /0\.match\.kinds/],
    ['a name with a space', [{ ...good, name: 'a b' }], /^0\.name is letters/],
    ['two rules of one name', [good, good], /^1\.name "rule" is the name of another rule/],
    ['a long pattern', [rule({ paths: ['a'.repeat(globLengthMax + 1)] })], /0\.match\.paths/],
    ['many rules', Array.from({ length: policyRulesMax + 1 }, (_, at) => rule({}, 'ask', `r${at}`)), /the policy/],
  ])('refuses %s', (_what, given, finding) => {
    const read = readPolicy(given);
    expect('findings' in read ? read.findings.join('\n') : 'taken').toMatch(finding);
    expect(() => givenPolicy(given)).toThrow(expect.objectContaining({ code: 'POLICY_INVALID' }) as Error);
  });
});

const others = rule({}, 'refuse', 'others');
const ALWAYS: readonly [what: string, policies: readonly PolicyRule[][], command: string, always: boolean][] = [
  ['its name is refused', [[rule({ commands: ['data/*'] })]], 'data/list', true],
  ['another name is', [[rule({ commands: ['data/*'] })]], 'code/read', false],
  ['its class is, to models', [[rule({ permissions: ['shell'], by: 'model' })]], 'code/shell/execute', true],
  ['it is refused to steps', [[rule({ commands: ['data/*'], by: 'step' })]], 'data/list', false],
  ['it is asked about', [[rule({ commands: ['data/*'] }, 'ask')]], 'data/list', false],
  ['it is allowed before', [[rule({ commands: ['data/list'] }, 'allow'), others]], 'data/list', false],
  ['another is allowed before', [[rule({ commands: ['data/list'] }, 'allow'), others]], 'data/create', true],
  ['some of its paths are allowed before', [[rule({ paths: ['docs/**'] }, 'allow'), others]], 'code/write', false],
  ['all is refused behind some of its paths', [[rule({ paths: ['docs/**'] }), others]], 'code/write', true],
  ['some of its paths are refused', [[rule({ paths: ['**'] })]], 'code/write', false],
  ['it takes no line for a shell where it starts a definition', [[rule({ kinds: ['shell'] })]], 'sentinel/run', false],
  ['lines for a shell are', [[rule({ kinds: ['shell'] })]], 'code/shell/execute', true],
  ['one of several policies does', [[rule({}, 'allow')], [rule({ commands: ['data/*'] })]], 'data/list', true],
  ['of its operations, those that write are', [[rule({ permissions: ['write'] })]], 'code/git', false],
  [
    'of its operations, all are',
    [[rule({ permissions: ['write'] })], [rule({ permissions: ['read', 'delete', 'network'] })]],
    'code/git',
    true,
  ],
];
test.each(ALWAYS)('whether it never gets past: %s', (_what, policies, command, always) =>
  expect(refusesAlways(policies, catalogue, command)).toBe(always),
);
