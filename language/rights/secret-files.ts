/** Files that hold secrets, known by their names. No command reads or writes one that the definition does not name. */
import { isJsonObject, type Json } from '../json.ts';

/** Names that one file system or another takes for the same: case, and characters that nobody sees. */
export const plainName = (name: string): string =>
  PRINTABLE.test(name) ? name.toLowerCase() : name.normalize('NFKC').replaceAll(UNSEEN, '').toLowerCase();

const PRINTABLE = /^[ -~]*$/;
const UNSEEN = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g;

const FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.kube', '.docker']);
const NAMES: ReadonlySet<string> = new Set([
  '.dockercfg',
  '.envrc',
  '.git-credentials',
  '.htpasswd',
  '.netrc',
  '.npmrc',
  '.pgpass',
  '.pypirc',
  '_netrc',
  'credentials',
  'credentials.json',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'id_rsa',
  'postgres.password',
]);
const ENDS: readonly string[] = ['env', 'jks', 'kdbx', 'key', 'keystore', 'p12', 'pem', 'pfx'];
const FORMS: readonly RegExp[] = [
  /^\.env(?:\..+)?$/,
  new RegExp(String.raw`\.(?:${ENDS.join('|')})$`),
  /^secrets?\.(?:json|toml|ya?ml)$/,
];
/** They say which variables there are, and are made to be shown. */
const TEMPLATE = /\.(?:defaults|dist|example|sample|template)$/;

/** Certificates that everybody has, in programs that come with their own. */
const PUBLIC: ReadonlySet<string> = new Set(['cacert.pem']);

/** The same for git and for what searches a project, which ask by patterns. */
export const SECRET_GLOBS: readonly string[] = [
  ...[...FOLDERS].map((name) => `**/${name}/**`),
  ...[...NAMES].map((name) => `**/${name}`),
  '**/.env',
  '**/.env.*',
  ...ENDS.map((end) => `**/*.${end}`),
  ...['json', 'toml', 'yaml', 'yml'].flatMap((end) => [`**/secret.${end}`, `**/secrets.${end}`]),
];

/** `names`: of the folders that a path leads through, and at last of the file. */
export function isSecretFile(names: readonly string[]): boolean {
  const plain = names.map(plainName);
  const last = plain.at(-1) ?? '';
  if (plain.slice(0, -1).some((name) => FOLDERS.has(name))) return true;
  return !PUBLIC.has(last) && !TEMPLATE.test(last) && (NAMES.has(last) || FORMS.some((form) => form.test(last)));
}

const isNamed = (text: string): boolean => !/[$*{}\n]/.test(text) && isSecretFile(text.split('/'));

/** Sources of a context may say what they are. */
const withoutKind = (text: string): string => text.trim().replace(/^file:\s*/, '');

/** Texts of a value that are the path of such a file, as a whole and without a reference. */
export function secretFilesIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return isNamed(withoutKind(value)) ? [withoutKind(value)] : [];
  if (Array.isArray(value)) return value.flatMap((item) => secretFilesIn(item));
  return isJsonObject(value) ? Object.values(value).flatMap((item) => secretFilesIn(item)) : [];
}
