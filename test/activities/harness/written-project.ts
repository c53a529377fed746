/** A project and a home of Sentinel beside it, with states taken as a worker takes them. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ProjectTrees } from '../../../operations/checkpoints/project-trees.ts';
import { RECORD } from '../../../world/git/trees/entries.ts';
import { placeOf, ShadowGit } from '../../../world/git/trees/shadow-git.ts';
import { temporaryFolder } from './step-context.ts';

export interface WrittenProject {
  project: string;
  home: string;
  write: (files: Readonly<Record<string, string | Buffer>>) => void;
  read: (path: string) => string;
  /** Names, kinds and contents of everything below a folder, `.sentinel` left out. */
  everything: (folder?: string) => string[];
  /** The project's own git. */
  git: (...args: string[]) => string;
  /** As another process would look. */
  trees: () => Promise<ProjectTrees>;
}

export async function writtenProject(files: Readonly<Record<string, string | Buffer>> = {}): Promise<WrittenProject> {
  const [project, home] = [await temporaryFolder(), await temporaryFolder()];
  const written: WrittenProject = {
    project,
    home,
    write(wanted) {
      for (const [path, content] of Object.entries(wanted)) {
        mkdirSync(dirname(join(project, path)), { recursive: true });
        writeFileSync(join(project, path), content);
      }
    },
    read: (path) => readFileSync(join(project, path), 'utf8'),
    everything: (folder = project) => listed(folder, ''),
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', ...args], {
        cwd: project,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
      }),
    trees: async () => new ProjectTrees(await ShadowGit.open(placeOf(home, project), project)),
  };
  written.write(files);
  return written;
}

function listed(folder: string, below: string): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .filter(({ name }) => name !== '.sentinel')
    .flatMap((entry) => {
      const path = join(below, entry.name);
      const place = join(folder, path);
      if (entry.isDirectory()) return listed(folder, path);
      const executable = (lstatSync(place).mode & 0o100) === 0 ? '' : '*';
      return entry.isSymbolicLink()
        ? [`${path} -> ${readlinkSync(place)}`]
        : [`${path}${executable} ${readFileSync(place, 'latin1')}`];
    })
    .toSorted();
}

/** The paths of files that a tree holds, with their modes. */
export async function pathsIn(trees: ProjectTrees, tree: string): Promise<string[]> {
  const output = await trees.git.text(['ls-tree', '-r', '-z', '--full-tree', tree]);
  return output
    .split('\0')
    .filter((line) => line !== '' && !line.includes(`\t${RECORD}`))
    .map((line) => line.replace(/^(\d+) \S+ \S+\t/, '$1 '));
}
