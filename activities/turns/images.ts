/** Pictures that go with a prompt, as models take them. */
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FoundPicture } from '../../language/models/pictures.ts';
import { readBounded } from '../../operations/files/whole-file.ts';
import { resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { ImageBlock } from '../../world/models/port/message.ts';

const imageBytesMax = 5 * 1024 * 1024;
const MEDIA: { readonly [extension: string]: ImageBlock['mediaType'] } = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

export const isImageType = (mediaType: string): mediaType is ImageBlock['mediaType'] =>
  Object.values(MEDIA).some((known) => known === mediaType);

/** Null: the text only looked like a path to a picture. */
export async function imageOf(project: string, found: FoundPicture): Promise<ImageBlock | null> {
  if (typeof found === 'string') return imageAt(project, found);
  if ('mention' in found) return (await isThere(project, found.mention)) ? imageAt(project, found.mention) : null;
  const mediaType = Object.values(MEDIA).find((known) => known === found.mediaType);
  if (mediaType === undefined)
    throw new Failure('FILE_NOT_USABLE', `models take no pictures of the type "${found.mediaType}"; make it a PNG`);
  const bytes = Math.floor((found.data.length * 3) / 4);
  if (bytes > imageBytesMax) throw tooLarge('that the prompt refers to', bytes);
  return { type: 'image', mediaType, data: found.data };
}

async function isThere(project: string, path: string): Promise<boolean> {
  try {
    return (await stat(resolveInside(project, path))).isFile();
  } catch {
    // A text that leads nowhere, or where nobody may read, is only a text.
    return false;
  }
}

async function imageAt(project: string, path: string): Promise<ImageBlock> {
  const file = resolveInside(project, path);
  const mediaType = MEDIA[extname(path).toLowerCase()];
  if (mediaType === undefined)
    throw new Failure(
      'FILE_NOT_USABLE',
      `"${path}" is no picture that models take; name one that ends in ${Object.keys(MEDIA).join(', ')}`,
    );
  const found = await stat(file).catch(() => null);
  if (found === null) throw new Failure('FILE_NOT_FOUND', `there is no picture "${path}"; make it before this step`);
  if (!found.isFile() || found.size > imageBytesMax) throw tooLarge(`"${path}"`, found.size);
  return { type: 'image', mediaType, data: (await readBounded(file, path)).toString('base64') };
}

const tooLarge = (which: string, bytes: number): Failure =>
  new Failure(
    'FILE_NOT_USABLE',
    `the picture ${which} has ${bytes} bytes, and models take files of at most ${imageBytesMax}; make it smaller`,
  );
