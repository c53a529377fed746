/** `code/diagnostics`: what a language server finds in files of the project. */
import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver-protocol';
import * as z from 'zod';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import type { OpenFile } from './diagnostics/language-server.ts';
import { languageOf, serverFor, type Language, type LanguageServer } from './diagnostics/servers.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { endStep } from '../../world/processes/orphans.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { projectFiles } from '../../world/files/project-files.ts';
import { readBounded } from '../../operations/files/whole-file.ts';

const Severity = z.enum(['error', 'warning', 'information', 'hint']);
const Found = z.strictObject({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  severity: Severity,
  code: z.string().exactOptional(),
  message: z.string(),
});
type Found = z.infer<typeof Found>;

const Params = z.strictObject({
  path: z.string().min(1).optional().describe('a file or a folder of the project; without it, all its sources'),
  timeoutMs: z.number().int().positive().optional(),
});

const Result = z.strictObject({
  diagnostics: z.array(Found),
  errors: z.number(),
  files: z.number(),
  servers: z.array(z.string()),
  /** Languages without a server. */
  unread: z.array(z.string()),
  truncated: z.boolean(),
  text: z.string(),
});

async function diagnose({ path = '.', timeoutMs }: z.infer<typeof Params>, context: CommandContext) {
  const root = resolveInside(rootOf(context), '.');
  const listed = await sourcesAt(path, root, context);
  const files = listed.slice(0, COMMAND_BOUNDS.diagnosedFilesMax);
  if (files.length === 0)
    throw new Failure(
      'LANGUAGE_SERVER_MISSING',
      `there are no sources at "${path}" that a language server reads (TypeScript, JavaScript, Python); name a folder that has some`,
    );
  const time = Math.min(timeoutMs ?? context.timeoutMs, context.timeoutMs);
  if (context.attempt > 1) await endStep(context.run.handle, context.key, SHELL_BOUNDS.graceMs);
  return ask({ root, files, isPart: listed.length > files.length, timeoutMs: time }, context);
}

interface Asking {
  root: string;
  files: readonly string[];
  isPart: boolean;
  timeoutMs: number;
}

async function ask({ root, files, isPart, timeoutMs }: Asking, context: CommandContext) {
  const endsAt = context.now() + timeoutMs;
  const languages = [...new Set(files.map((file) => languageOf(file)))].filter((one) => one !== null);
  const servers = languages.map((language): [Language, LanguageServer | null] => [
    language,
    serverFor(language, root, context.confinement),
  ]);
  const there = servers.filter((pair): pair is [Language, LanguageServer] => pair[1] !== null);
  if (there.length === 0) throw noServer(languages);
  // Its library is large, and few runs ask one.
  const { askServer } = await import('./diagnostics/language-server.ts');
  const found: Found[] = [];
  for (const [language, server] of there) {
    const opened = await openFiles(
      files.filter((file) => languageOf(file) === language),
      context,
    );
    const asked = { server, root, files: opened, timeoutMs: Math.max(1, endsAt - context.now()) };
    for (const [file, diagnostics] of await askServer(asked, context))
      found.push(...diagnostics.map((one) => readDiagnostic(file, one)));
  }
  const sorted = found.toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity]);
  const shown = sorted.slice(0, COMMAND_BOUNDS.diagnosticsMax);
  return {
    diagnostics: shown,
    errors: found.filter(({ severity }) => severity === 'error').length,
    files: files.length,
    servers: there.map(([, { name }]) => name),
    unread: servers.flatMap(([language, server]) => (server === null ? [language] : [])),
    truncated: isPart || shown.length < found.length,
    text: shown.length === 0 ? 'no findings' : shown.map(lineOf).join('\n'),
  };
}

async function sourcesAt(path: string, root: string, context: CommandContext): Promise<string[]> {
  const place = resolveInside(rootOf(context), path, accessOf(context));
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined)
    throw new Failure('FILE_NOT_FOUND', `"${path}" does not exist in the project; name a file or a folder that does`);
  const below = relative(root, place).split(sep).join('/');
  if (found.isFile()) return languageOf(below) === null ? [] : [below];
  const { paths } = await projectFiles(root);
  return paths.filter((file) => (below === '' || file.startsWith(`${below}/`)) && languageOf(file) !== null);
}

async function openFiles(paths: readonly string[], context: CommandContext): Promise<OpenFile[]> {
  const opened: OpenFile[] = [];
  for (const path of paths) {
    const file = resolveInside(rootOf(context), path, accessOf(context));
    if (statSync(file).size > COMMAND_BOUNDS.searchedBytesMax) continue;
    opened.push({ path, file, text: (await readBounded(file, path)).toString('utf8') });
  }
  return opened;
}

const SEVERITIES: readonly Found['severity'][] = ['error', 'error', 'warning', 'information', 'hint'];
const RANKS: { readonly [severity in Found['severity']]: number } = { error: 0, warning: 1, information: 2, hint: 3 };

function readDiagnostic(file: string, { range, severity, code, message }: Diagnostic): Found {
  return {
    file,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITIES[severity ?? 1] ?? 'error',
    ...(code === undefined ? {} : { code: String(code) }),
    message: typeof message === 'string' ? message : message.value,
  };
}

const lineOf = ({ file, line, column, severity, code, message }: Found): string =>
  `${file}:${line}:${column} ${severity}${code === undefined ? '' : ` ${code}`}: ${message}`;

const noServer = (languages: readonly Language[]): Failure =>
  new Failure(
    'LANGUAGE_SERVER_MISSING',
    `there is no language server for ${languages.join(' and ')}; install "typescript" from version 7 on (before it also "typescript-language-server") or "pyright" in the project or on the worker's host`,
  );

export const diagnosticsCommands: Command[] = [
  defineCommand({
    name: 'code/diagnostics',
    description: 'Asks a language server what is wrong in files of the project, with file, line and message.',
    permission: 'read',
    speed: 'long',
    secrets: 'values',
    textField: 'text',
    failures: {
      LANGUAGE_SERVER_FAILED: 'A language server ended before it had answered',
      LANGUAGE_SERVER_MISSING: { title: 'There is no language server for these files', retryable: false },
    },
    params: Params,
    result: Result,
    run: diagnose,
  }),
];
