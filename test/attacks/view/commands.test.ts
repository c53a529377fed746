/** Commands that reach a file by its path while another process puts a link in the place of a folder. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stateAt, writeAt } from '../../../world/git/trees/files-in-place.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { refFiles } from '../../../world/definitions/ref-files.ts';
import { imageOf } from '../../../activities/turns/images.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { command } from '../inside.ts';

const tries = 60;
const files = ['key.txt', 'key.png', 'child.json'];

async function withMover(): Promise<{ project: string; outside: string }> {
  const [project, outside] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(project, 'a'));
  for (const name of files) {
    await writeFile(join(project, 'a', name), 'own text');
    await writeFile(join(outside, name), 'own text with a s3cret');
  }
  const end = new AbortController();
  const line = `while :; do mv a gone; ln -s ${outside} a; rm a; mv gone a; done`;
  const mover = execa('/bin/sh', ['-c', line], {
    cwd: project,
    stdio: 'ignore',
    cancelSignal: end.signal,
    reject: false,
  });
  onTestFinished(async () => {
    end.abort();
    await mover;
  });
  await sleep(20);
  return { project, outside };
}

/** What came of each try: a value, or the code of the failure; anything else is thrown. */
async function repeatedly(act: (index: number) => unknown): Promise<string[]> {
  const said: string[] = [];
  for (let index = 0; index < tries; index += 1) {
    try {
      said.push(JSON.stringify(await act(index)) ?? 'nothing');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (!(error instanceof Failure) && !/^E[A-Z]+$/.test(code)) throw error;
      said.push(code);
    }
  }
  return said;
}

describe('while a process moves a folder and puts a link to another in its place', { timeout: 60_000 }, () => {
  const reads: [string, (project: string, index: number) => unknown][] = [
    ['code/read', (project) => command(project, 'code/read', { path: 'a/key.txt' }, 'full')],
    ['code/search', (project) => command(project, 'code/search', { pattern: 'own text.*' }, 'full')],
    [
      'a picture of a prompt',
      async (project) => {
        const image = await imageOf(project, 'a/key.png');
        return image === null || !('data' in image) ? null : Buffer.from(image.data, 'base64').toString('utf8');
      },
    ],
    [
      'a definition of a definition',
      (project) => refFiles(join(project, 'main.json'), project).read('./a/child.json', join(project, 'main.json')),
    ],
    ['the state of a file before an undo', (project) => stateAt(project, 'a/key.txt')],
  ];

  it.each(reads)('%s shows nothing from outside', async (_what, read) => {
    const { project } = await withMover();
    expect((await repeatedly((index) => read(project, index))).join('\n')).not.toContain('s3cret');
  });

  const writes: [string, (project: string, index: number) => unknown][] = [
    [
      'code/write',
      (project, index) => command(project, 'code/write', { path: `a/new-${index}/file`, content: 'x' }, 'full'),
    ],
    [
      'an undo',
      (project, index) => writeAt(project, `a/new-${index}/file`, { mode: '100644', content: Buffer.from('x') }),
    ],
  ];

  it.each(writes)('%s makes nothing outside, neither a file nor a folder', async (_what, write) => {
    const { project, outside } = await withMover();
    await repeatedly((index) => write(project, index));
    expect((await readdir(outside)).toSorted()).toEqual(files.toSorted());
  });
});

describe('where nothing moves', () => {
  it('files are found, read and written in new folders, whatever their encoding', async () => {
    const project = await temporaryFolder();
    await command(project, 'code/write', { path: 'a/b/c/file.txt', content: 'one line\n' }, 'full');
    await writeFile(join(project, 'wide.txt'), Buffer.from('\uFEFFone wide line\n', 'utf16le'));
    expect(await command(project, 'code/search', { pattern: 'one' }, 'full')).toEqual({
      matches: [
        { path: 'a/b/c/file.txt', line: 1, text: 'one line' },
        { path: 'wide.txt', line: 1, text: 'one wide line' },
      ],
      truncated: false,
    });
  });
});
