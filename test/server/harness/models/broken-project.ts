/** The example that builds until it passes, and a TypeScript project that does not build. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition } from '../../../../language/model.ts';
import { parseDefinitionText } from '../../../../language/read/definition.ts';
import { catalogue } from '../../../catalogue.ts';
import type { ModelDouble } from './model-double.ts';
import { root } from '../../../project/tree.ts';

export function shippedExample(name: string): Definition {
  const text = readFileSync(join(root, 'sentinels', 'examples', `${name}.json`), 'utf8');
  const read = parseDefinitionText(text, { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}

/** A model that `auto` finds. */
export function listModel({ double }: ModelDouble): void {
  const data = [{ id: 'some-model' }];
  double.route('/v1/models', { status: 200, pieces: [JSON.stringify({ object: 'list', data })] });
}

export const SOURCE = 'src/total.ts';
/** The last line but one lacks its declaration. */
const BROKEN = `export interface Item {
  price: number;
  count: number;
}

export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + priceOf(item), 0);
}
`;

export const git = (project: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: project, encoding: 'utf8' });

export function writeBrokenProject(project: string): void {
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, SOURCE), BROKEN);
  const described = { name: 'sample', private: true, type: 'module', scripts: { build: 'tsc -p .' } };
  writeFileSync(join(project, 'package.json'), JSON.stringify(described));
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', types: [] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  writeFileSync(join(project, '.gitignore'), 'node_modules\n.sentinel\n');
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  commitAll(project);
}

/** A repository with one commit of all that is there. */
export function commitAll(project: string): void {
  git(project, 'init', '--quiet', '--initial-branch=main');
  for (const [name, value] of [
    ['user.name', 'Tester'],
    ['user.email', 'tester@example.org'],
    ['commit.gpgsign', 'false'],
  ] as const)
    git(project, 'config', name, value);
  git(project, 'add', '--all');
  git(project, 'commit', '--quiet', '--message=as it was');
}
