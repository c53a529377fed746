/**
 * One conversation with a language server: it is started, shown files, asked what it finds in them, and ended.
 * Servers that are asked (pull) answer at once; of those that tell by themselves (push) the last word on each
 * file counts, once they have been silent for a moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import {
  ConfigurationRequest,
  createProtocolConnection,
  type DataCallback,
  type Diagnostic,
  type Disposable,
  DidOpenTextDocumentNotification,
  DocumentDiagnosticReportKind,
  DocumentDiagnosticRequest,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  WorkDoneProgressCreateRequest,
} from 'vscode-languageserver-protocol/node';
import { Failure } from '../../../world/failures/failures.ts';
import { breachFailure } from '../../../operations/shell/breach.ts';
import { endChild, startTalking, type Talking } from '../../../operations/shell/child.ts';
import type { ShellContext } from '../../../operations/shell/request.ts';
import { languageIdOf, type LanguageServer } from './servers.ts';

export interface OpenFile {
  /** From the project. */
  path: string;
  /** The real path. */
  file: string;
  text: string;
}

const DIAGNOSTICS_BOUNDS = {
  /** How long a server that tells by itself is silent once it has said all. */
  silentMs: 1_500,
  endMs: 1_000,
  stderrLengthMax: 4_000,
  /** Of all that it says, and how often it may speak: each message is read in the worker's event loop. */
  bytesMax: 32 * 1024 * 1024,
  messagesMax: 20_000,
} as const;

export interface Asked {
  server: LanguageServer;
  root: string;
  files: readonly OpenFile[];
  timeoutMs: number;
}

/** What is found in each file, by its path. */
export async function askServer(asked: Asked, context: ShellContext): Promise<Map<string, Diagnostic[]>> {
  const { server, timeoutMs } = asked;
  // The short list of variables, in `full` too.
  const within: ShellContext = { ...context, confinement: { mode: 'readonly', ...context.confinement } };
  const request = {
    command: server.program,
    args: [...server.args],
    timeoutMs,
    env: { NO_COLOR: '1' },
    sandbox: { readable: [...server.folders] },
  };
  const talking = await startTalking(request, within);
  let said = '';
  talking.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-DIAGNOSTICS_BOUNDS.stderrLengthMax);
  });
  const over = new AbortController();
  const { connection, flooded } = connect(talking, server);
  let found: Map<string, Diagnostic[]>;
  try {
    found = await Promise.race([
      converse(connection, asked, over.signal),
      ended(talking, server, () => said),
      breached(talking, server, context),
      flooded,
      cancelled(context.signal, over.signal),
      timedOut(asked, over.signal),
    ]);
  } finally {
    over.abort();
    connection.dispose();
    await endChild(talking.leader, context, DIAGNOSTICS_BOUNDS.endMs);
  }
  const late = await talking.lateBreach();
  if (late !== null) throw breachFailure(late, server.program, context.confinement);
  return found;
}

interface Connected {
  connection: ProtocolConnection;
  /** Rejects when the server says more than anybody reads. */
  flooded: Promise<never>;
}

/** What a server says, up to the bounds. */
class BoundedReader extends StreamMessageReader {
  readonly flooded: Promise<never>;
  #messages = 0;
  #flood: (finding: string) => void = () => undefined;

  constructor(stdout: Readable, name: string) {
    super(stdout);
    const { bytesMax } = DIAGNOSTICS_BOUNDS;
    let bytes = 0;
    this.flooded = new Promise((_resolve, reject) => {
      this.#flood = (finding) => {
        stdout.destroy();
        const remedy = 'name a folder or a file as "path"';
        reject(new Failure('LANGUAGE_SERVER_FAILED', `${name} sent more than ${finding}; ${remedy}`));
      };
    });
    // Also where nobody waits for it any more.
    this.flooded.catch(() => undefined);
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) this.#flood(`${bytesMax / 1024 / 1024} MiB`);
    });
  }

  override listen(callback: DataCallback): Disposable {
    const { messagesMax } = DIAGNOSTICS_BOUNDS;
    return super.listen((message) => {
      this.#messages += 1;
      if (this.#messages <= messagesMax) callback(message);
      else this.#flood(`${messagesMax} messages`);
    });
  }
}

function connect({ stdin, stdout }: Talking, { name }: LanguageServer): Connected {
  // What it is told after it has ended is of no use to anybody.
  stdin.on('error', () => undefined);
  const reader = new BoundedReader(stdout, name);
  const connection = createProtocolConnection(reader, new StreamMessageWriter(stdin));
  connection.onRequest(ConfigurationRequest.type, ({ items }) => items.map(() => null));
  connection.onRequest(RegistrationRequest.type, () => undefined);
  connection.onRequest(WorkDoneProgressCreateRequest.type, () => undefined);
  connection.onError(() => undefined);
  return { connection, flooded: reader.flooded };
}

async function converse(
  connection: ProtocolConnection,
  { root, files }: Asked,
  over: AbortSignal,
): Promise<Map<string, Diagnostic[]>> {
  const told = new Map<string, Diagnostic[]>();
  let toldAt = performance.now();
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
    told.set(uri, diagnostics);
    toldAt = performance.now();
  });
  connection.listen();
  const rootUri = pathToFileURL(root).href;
  const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: 'project' }],
    capabilities: {
      textDocument: { publishDiagnostics: {}, diagnostic: {}, synchronization: {} },
      workspace: { workspaceFolders: true, configuration: true },
    },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  for (const { path, file, text } of files) {
    const uri = pathToFileURL(file).href;
    const textDocument = { uri, languageId: languageIdOf(path), version: 1, text };
    await connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  }
  const uris = files.map(({ path, file }) => [path, pathToFileURL(file).href] as const);
  const found = new Map<string, Diagnostic[]>();
  if (capabilities.diagnosticProvider === undefined) {
    const isSilent = (): boolean => performance.now() - toldAt > DIAGNOSTICS_BOUNDS.silentMs;
    while (!over.aborted && !(uris.every(([, uri]) => told.has(uri)) && isSilent())) await sleep(50);
    for (const [path, uri] of uris) found.set(path, told.get(uri) ?? []);
  } else {
    for (const [path, uri] of uris) {
      const report = await connection.sendRequest(DocumentDiagnosticRequest.type, { textDocument: { uri } });
      found.set(path, report.kind === DocumentDiagnosticReportKind.Full ? report.items : []);
    }
  }
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  return found;
}

/** Before it has answered. */
async function ended({ exit }: Talking, { name }: LanguageServer, said: () => string): Promise<never> {
  const { code, signal } = await exit;
  // What it answered just before it ended is read first.
  await sleep(DIAGNOSTICS_BOUNDS.endMs);
  throw new Failure(
    'LANGUAGE_SERVER_FAILED',
    `${name} ended with ${signal ?? code ?? 'no code'} before it had answered: ${said().trim() || 'it said nothing'}`,
  );
}

async function breached({ breach }: Talking, { program }: LanguageServer, context: ShellContext): Promise<never> {
  throw breachFailure(await breach, program, context.confinement, { stdout: '', stderr: '' });
}

async function cancelled(signal: AbortSignal, over: AbortSignal): Promise<never> {
  await aborted(signal, over);
  throw signal.reason;
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
}

async function timedOut({ server, timeoutMs, files }: Asked, over: AbortSignal): Promise<never> {
  await sleep(timeoutMs, undefined, { signal: over }).catch(() => new Promise<never>(() => undefined));
  throw new Failure(
    'STEP_TIMEOUT',
    `${server.name} had not answered for ${files.length} files after ${timeoutMs} ms; name a folder or a file as "path", or raise timeoutMs`,
  );
}
