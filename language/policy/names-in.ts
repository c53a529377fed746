/**
 * The paths and the hosts that an action names, as far as its values say: those of parameters that are called after a
 * path, and for what is to be kept from an action every text that may be one, each word of a command line included.
 * What a program does by itself nobody reads here: a sandbox holds it in.
 */
import { isJsonObject, type Json } from '../json.ts';

export interface Named {
  /** Said to be paths, or hosts of URLs. */
  meant: readonly string[];
  /** Whatever may be one. */
  possible: readonly string[];
}

const pathLengthMax = 4_096;
const PATH_NAME = /(?:^|[a-z_-])(?:paths?|files?|dirs?|folders?|cwd|from|to|images?)$/i;
const IS_PATH_NAME = (name: string): boolean => PATH_NAME.test(name) && !/(?:profile|fromSeq)$/i.test(name);

/** What stands between words of a command line; a backslash hides nothing. */
const BETWEEN = /[\s"'`;|&<>()=,{}[\]]+/;

export function pathsIn(value: Json, project: string): Named {
  const meant: string[] = [];
  const possible: string[] = [];
  const within = cwdOf(value);
  const note = (text: string, list: string[]): void => {
    if (text === '' || text.length > pathLengthMax || text.includes('\n')) return;
    for (const path of placesOf(text, project, within)) if (!list.includes(path)) list.push(path);
  };
  eachText(value, (text, name) => {
    if (IS_PATH_NAME(name)) note(text, meant);
    note(text, possible);
    const words = text.replaceAll('\\', '').split(BETWEEN);
    if (words.length > 1 || words[0] !== text) for (const word of words) note(word, possible);
  });
  return { meant, possible };
}

const cwdOf = (value: Json): string | undefined => {
  const cwd = isJsonObject(value) ? value['cwd'] : undefined;
  return typeof cwd === 'string' && cwd !== '' ? cwd : undefined;
};

/** As the project has it, and where a folder to work in is named, as that has it. */
function placesOf(text: string, project: string, cwd: string | undefined): string[] {
  const own = plainPath(text, project);
  if (cwd === undefined || text === cwd || text.startsWith('/')) return [own];
  return [own, plainPath(`${cwd}/${text}`, project)];
}

/** Relative to the project where it is inside, without `.` and `..` as far as they lead nowhere else. */
export function plainPath(path: string, project: string): string {
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '..' || !isRooted) parts.push(part);
  }
  const plain = `${isRooted ? '/' : ''}${parts.join('/')}`;
  if (plain === project) return '.';
  if (plain.startsWith(`${project}/`)) return plain.slice(project.length + 1);
  return plain === '' ? '.' : plain;
}

const URL_HOST = /\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/@"']*@)?(\[[^\]\s]+\]|[^\s/:?#"'<>()\\,;]+)/gi;
/** `git@host:owner/name`. */
const SCP_HOST = /\b[\w.-]+@([a-z0-9][a-z0-9.-]*):/gi;
const HOST_NAME = /(?:^|[a-z_-])(?:hosts?|hostnames?|domains?)$/i;

export function hostsIn(value: Json): Named {
  const meant = new Set<string>();
  const possible = new Set<string>();
  eachText(value, (text, name) => {
    const found = [...text.matchAll(URL_HOST), ...text.matchAll(SCP_HOST)].map(([, host = '']) => plainHost(host));
    if (HOST_NAME.test(name)) found.push(plainHost(text));
    for (const host of found) {
      meant.add(host);
      possible.add(host);
    }
    for (const word of text.split(BETWEEN)) if (IS_HOST.test(word)) possible.add(plainHost(word));
  });
  return { meant: [...meant], possible: [...possible] };
}

/** A word of a command line that may be one: `curl example.com/x`. */
const IS_HOST = /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*(?::\d+)?(?:\/|$)|^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:\/|$)/i;

const plainHost = (host: string): string =>
  (host.split('/')[0] ?? '')
    .replace(/(?<!:):\d+$/, '')
    .replace(/\.$/, '')
    .toLowerCase();

function eachText(value: Json, tell: (text: string, name: string) => void, name = ''): void {
  if (typeof value === 'string') tell(value, name);
  else if (Array.isArray(value)) for (const item of value) eachText(item, tell, name);
  else if (isJsonObject(value)) for (const [key, inner] of Object.entries(value)) eachText(inner, tell, key);
}
