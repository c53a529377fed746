/**
 * Objects of a git folder of ours, written without git: for a few files its processes cost more than the work.
 * As git does it: under a name of their own first, and not flushed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

type ObjectType = 'blob' | 'tree';

const whole = (type: ObjectType, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);

const nameOf = (object: Buffer): string => createHash('sha1').update(object).digest('hex');

export const objectName = (type: ObjectType, content: Buffer): string => nameOf(whole(type, content));

/** To make a file takes the system half a millisecond, which this process does not wait for by itself. */
const atOnce = 8;

export class ObjectWriter {
  readonly #place: string;
  #objects = new Map<string, Buffer>();

  /** `place`: the git folder. */
  constructor(place: string) {
    this.#place = place;
  }

  /** Its name; it is written by the next `flush`. */
  add(type: ObjectType, content: Buffer): string {
    const object = whole(type, content);
    const name = nameOf(object);
    this.#objects.set(name, object);
    return name;
  }

  async flush(): Promise<void> {
    const objects = [...this.#objects];
    this.#objects = new Map();
    const next = objects.values();
    const write = async (): Promise<void> => {
      for (const [name, object] of next) await this.#write(name, object);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, objects.length) }, write));
  }

  async #write(name: string, object: Buffer): Promise<void> {
    const file = join(this.#place, 'objects', name.slice(0, 2), name.slice(2));
    if (await isMadeYoung(file)) return;
    await mkdir(dirname(file), { recursive: true });
    const draft = join(this.#place, 'objects', `tmp_obj_${process.pid}-${randomBytes(6).toString('hex')}`);
    try {
      await writeFile(draft, deflateSync(object, { level: 1 }), { flag: 'wx', mode: 0o444 });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}

/** One that is there: the clean-up takes what is old and not referred to. */
async function isMadeYoung(file: string): Promise<boolean> {
  try {
    const now = new Date();
    await utimes(file, now, now);
    return true;
  } catch {
    return false;
  }
}
