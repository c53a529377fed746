/** A git repository with one commit: `a.txt`, one line. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { temporaryFolder } from './step-context.ts';

/** In a new folder, or in one that is there. */
export async function repository(folder?: string): Promise<string> {
  const project = folder ?? (await temporaryFolder());
  const git = (...args: string[]) => execa('git', args, { cwd: project });
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.org');
  await git('config', 'commit.gpgsign', 'false');
  await writeFile(join(project, 'a.txt'), 'one\n');
  await git('add', 'a.txt');
  await git('commit', '--quiet', '--message=first');
  return project;
}
