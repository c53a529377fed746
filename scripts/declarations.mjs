// The declarations of what programs import: those of the modules that package.json exports, and of all that these name.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const RELATIVE = /(from |import\()(['"])(\.{1,2}\/[^'"]*)\.ts\2/g;

/** Writes them into dist/, beside the modules. Answers with what the compiler says where it fails, else with null. */
export function writeDeclarations(root) {
  const drafts = mkdtempSync(join(tmpdir(), 'sentinel-declarations-'));
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const args = ['-p', 'tsconfig.build.json', '--declaration', '--emitDeclarationOnly', '--outDir', drafts];
    const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, ...args], { cwd: root, encoding: 'utf8' });
    if (status !== 0) return `${stdout}${stderr}`;
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const waiting = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [types]));
    const dist = join(root, 'dist');
    const files = new Set(waiting.map((file) => relative(dist, join(root, file))));
    for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.d.ts') && !files.has(name)) rmSync(join(dist, name));
    // A set is walked with what is added meanwhile.
    for (const file of files) {
      const text = readFileSync(join(drafts, file), 'utf8');
      for (const [, , , path] of text.matchAll(RELATIVE)) files.add(`${join(dirname(file), path)}.d.ts`);
      mkdirSync(dirname(join(dist, file)), { recursive: true });
      writeFileSync(join(dist, file), text.replace(RELATIVE, '$1$2$3.js$2'));
    }
    return null;
  } finally {
    rmSync(drafts, { recursive: true, force: true });
  }
}
