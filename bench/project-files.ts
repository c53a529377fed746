/** Projects of a size, as somebody's are: source files of two kilobytes in a hundred folders. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

const text = (file: number): string => `// file ${file}\n${'export const value = 1;\n'.repeat(80)}`;

export async function writeProject(folder: string, files: number): Promise<void> {
  for (let at = 0; at < files; at += 1) {
    const below = join(folder, String(at % 100));
    if (at < 100) await mkdir(below, { recursive: true });
    await writeFile(join(below, `${at}.ts`), text(at));
  }
}

/** All of them committed. */
export async function writeGitProject(folder: string, files: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeProject(folder, files);
  const git = (...args: string[]): Promise<unknown> => execa('git', args, { cwd: folder });
  await git('init', '--quiet');
  await git('add', '.');
  await git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '--quiet', '--message', 'files');
}
