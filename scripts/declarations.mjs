// The declarations of what programs import: those of the modules that package.json exports, and of all that these name.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const RELATIVE = /(from |import\()(['"])(\.{1,2}\/[^'"]*)\.ts\2/g;

/** Of the declarations that the compiler wrote into dist/, keeps these, and has them name modules as they are there: `.js`. */
export function keepDeclarations(root) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const dist = join(root, 'dist');
  const exported = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [types]));
  const kept = new Set(exported.map((file) => relative(dist, join(root, file))));
  // A set is walked with what is added meanwhile.
  for (const file of kept) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, , , path] of text.matchAll(RELATIVE)) kept.add(`${join(dirname(file), path)}.d.ts`);
    writeFileSync(join(dist, file), text.replace(RELATIVE, '$1$2$3.js$2'));
  }
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.d.ts') && !kept.has(name)) rmSync(join(dist, name));
}
