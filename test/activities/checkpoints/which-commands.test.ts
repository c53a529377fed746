/** Which commands are done between two states of the project: all that may change it, and none that reads. */
import { expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Catalogue, Permission } from '../../../language/catalogue.ts';
import { writesFiles } from '../../../activities/steps/checkpointed.ts';
import { mayWriteFiles } from '../../../language/permissions.ts';

const registry = builtInRegistry();

const git = (...operations: string[]): [string, { operation: string }][] =>
  operations.map((operation) => ['code/git', { operation }]);

it.each([
  ['code/write', {}],
  ['code/edit', {}],
  ['code/verify', {}],
  ['code/undo', {}],
  ['code/shell/execute', {}],
  ...git('add', 'commit', 'switch', 'unstage', 'restore', 'stash', 'unstash', 'merge', 'pull'),
] as [string, object][])('%s %j is', (name, params) => {
  expect(writesFiles(registry, name, params as Record<string, string>)).toBe(true);
});

it.each([
  ['code/read', {}],
  ['code/search', {}],
  ['code/tree', {}],
  ['code/diagnostics', {}],
  ['search_tools', {}],
  ['screenshot', {}],
  ['collaboration/chat/send', {}],
  ['data/create', {}],
  ['sentinel/run', {}],
  ['nobody/knows', {}],
  ...git('status', 'diff', 'log', 'show', 'branches', 'stashes', 'fetch', 'push'),
] as [string, object][])('%s %j is not', (name, params) => {
  expect(writesFiles(registry, name, params as Record<string, string>)).toBe(false);
});

it.each<[Permission, boolean]>([
  ['read', false],
  ['write', true],
  ['delete', true],
  ['shell', true],
  ['network', true],
])('code of others with the permission "%s": %s', (permission, is) => {
  const own: Catalogue = { 'own/act': { permission, speed: 'long', unconfined: true } };
  expect(mayWriteFiles(own, 'own/act', {})).toBe(is);
});
