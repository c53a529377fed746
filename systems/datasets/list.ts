/** `ai/dataset/list`: the data sets in a folder, the newest first. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Context } from '../../operations/command.ts';
import { openIn } from '../../operations/files/outside-folders.ts';
import { foldersOf } from './settings.ts';
import { Manifest, manifestIn } from './manifest.ts';

const listedMax = 1_000;

export const ListParams = z.strictObject({ path: z.string().min(1).default('datasets') });

export const Archive = Manifest.extend({ path: z.string() });

export const Listed = z.strictObject({
  archives: z.array(Archive),
  /** Folders whose `dataset.json` cannot be read. */
  unreadable: z.array(z.string()),
});
type Listed = z.infer<typeof Listed>;

/** A folder that is not there has none. */
export async function list({ path }: z.infer<typeof ListParams>, context: Context): Promise<Listed> {
  const folder = openIn(path, context, { create: false, folders: foldersOf(context) });
  if (folder === null) return { archives: [], unreadable: [] };
  try {
    const entries = await readdir(folder.place, { withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .toSorted()
      .slice(0, listedMax);
    const archives: Listed['archives'] = [];
    const unreadable: string[] = [];
    for (const name of names) {
      const manifest = await manifestIn(join(folder.place, name));
      if (manifest === null) unreadable.push(name);
      else archives.push({ ...manifest, path: join(folder.path, name) });
    }
    return { archives: archives.toSorted((a, b) => b.createdAt - a.createdAt), unreadable };
  } finally {
    folder.close();
  }
}
