/**
 * One MCP server, connected to when it is first needed, and again where the connection was lost. Whoever
 * holds it closes it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../language/json.ts';
import { looksSecret } from '../../language/secrets.ts';
import { keepOwnKeys } from '../own-keys/own-keys.ts';
import { Failure } from '../failures/failures.ts';
import { openTransport } from './open-transport.ts';
import { listedTools, CallResult, ListedTools } from './odd-answers.ts';
import type { McpTool, ServerSettings } from './settings.ts';

const connectMs = 30_000;
/** A list that is older is asked for again before the next call. */
const listedForMs = 10_000;
const pagesMax = 50;
const timerMax = 2 ** 31 - 1;
const messageLengthMax = 4_000;

/** Of a call from a run in a workspace: its folder. The server works in the project, whichever run calls. */
const ROOT_META = 'sentinel/root';

/** Headers that hold no key. */
const PUBLIC = /^(?:accept|content|user-agent|cache|mcp-|origin|referer|host|x-request-id)/i;

export interface CallLimits {
  signal: AbortSignal;
  timeoutMs: number;
}

/** Which tools a connection has to have, and under which word of a person they have to be. */
export interface WantedTools {
  under: string;
  fit(tools: readonly McpTool[]): boolean;
}

interface Open {
  client: Client;
  /** The word that was wanted when it began. */
  under: string | undefined;
  said: () => string;
  /** Its tools, and when they were listed; null: not yet, or they have changed since. */
  listed: { at: number; tools: McpTool[] } | null;
  /** How often it said that its tools have changed. */
  changes: number;
  /** Questions under way. */
  asked: number;
  /** Another one takes what comes; it closes when its questions are answered. */
  isRetired: boolean;
  isClosed: boolean;
}

export class McpConnection {
  readonly name: string;
  readonly #settings: ServerSettings;
  readonly #project: string;
  #opening: Promise<Open> | undefined;
  #under: string | undefined;
  readonly #retired = new Set<Open>();
  #isEnded = false;

  constructor(name: string, settings: ServerSettings, project: string) {
    this.name = name;
    this.#settings = settings;
    this.#project = project;
    const held = Object.entries('url' in settings ? settings.headers : settings.env);
    keepOwnKeys(held.filter(([key]) => 'url' in settings || looksSecret(key)).filter(([key]) => !PUBLIC.test(key)));
  }

  /**
   * What the server has now, or had a moment ago. A process that was begun under another word may have what
   * is there no more when it starts: where its tools do not fit, it is begun anew.
   */
  async tools(limits: CallLimits, wanted?: WantedTools): Promise<McpTool[]> {
    if (wanted !== undefined) this.#under = wanted.under;
    for (;;) {
      const { open, tools } = await this.#ask(limits, 'did not list its tools', async (asked) => ({
        open: asked,
        tools: await toolsOf(asked, limits),
      }));
      if (wanted === undefined || open.under === wanted.under || wanted.fit(tools)) return tools;
      this.#retire(open);
    }
  }

  /** `root`: where the run works, if that is not the project; the server is told. */
  async call(
    tool: string,
    args: JsonObject,
    { root, ...limits }: CallLimits & { root?: string | undefined },
  ): Promise<CallToolResult> {
    const { signal } = limits;
    const timeout = timerOf(limits);
    return this.#ask(limits, `went away during "${tool}"`, async ({ client }) => {
      const options = { signal, timeout, maxTotalTimeout: timeout };
      const asked = { name: tool, arguments: args, ...(root === undefined ? {} : { _meta: { [ROOT_META]: root } }) };
      return (await client.callTool(asked, CallResult as never, options)) as CallToolResult;
    });
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    const open = await this.#opening?.catch(() => undefined);
    const all = open === undefined ? [...this.#retired] : [open, ...this.#retired];
    await Promise.all(all.map(({ client }) => client.close().catch(() => undefined)));
  }

  async #ask<Answer>(limits: CallLimits, finding: string, ask: (open: Open) => Promise<Answer>): Promise<Answer> {
    for (let isFirst = true; ; isFirst = false) {
      const open = await this.#open(limits);
      open.asked += 1;
      try {
        return await ask(open);
      } catch (error) {
        if (!limits.signal.aborted && isGone(error)) this.#drop(open);
        // A server that was started again knows nothing of the session before, and has done nothing.
        if (isFirst && error instanceof StreamableHTTPError && error.code === 404) continue;
        throw this.#failure(error, limits, open, finding);
      } finally {
        open.asked -= 1;
        this.#closeIdle(open);
      }
    }
  }

  /** One connection for all who ask at the same time; another where that one was lost. */
  async #open(limits: CallLimits): Promise<Open> {
    for (;;) {
      if (this.#isEnded)
        throw new Failure('MCP_UNREACHABLE', `the MCP server "${this.name}" has ended with its worker`);
      this.#opening ??= this.#begin();
      const opening = this.#opening;
      const open = await this.#within(limits, opening);
      if (!open.isClosed && !open.isRetired) return open;
      this.#forget(opening);
    }
  }

  #begin(): Promise<Open> {
    const opening = this.#connect();
    opening.catch(() => this.#forget(opening));
    return opening;
  }

  /** The others wait on where one has no more time. */
  async #within(limits: CallLimits, opening: Promise<Open>): Promise<Open> {
    const { signal, timeoutMs } = limits;
    const left = new AbortController();
    const late = sleep(timerOf(limits), undefined, { signal: AbortSignal.any([signal, left.signal]) }).then(
      () => Promise.reject(this.#late(timeoutMs)),
      () => (left.signal.aborted ? opening : Promise.reject(signal.reason as Error)),
    );
    try {
      return await Promise.race([opening, late]);
    } finally {
      left.abort();
    }
  }

  #forget(opening: Promise<Open>): void {
    if (this.#opening === opening) this.#opening = undefined;
  }

  async #connect(): Promise<Open> {
    const { transport, said } = await openTransport(this.#settings, this.#project);
    const client = new Client({ name: 'sentinel', version: '0.1.0' });
    const state = { listed: null, changes: 0, asked: 0, isRetired: false, isClosed: false };
    const open: Open = { client, said, under: this.#under, ...state };
    Object.assign(client, { onclose: () => this.#drop(open) });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      open.listed = null;
      open.changes += 1;
    });
    try {
      await client.connect(transport, { timeout: connectMs });
      return open;
    } catch (error) {
      await client.close().catch(() => undefined);
      throw this.#unreachable(error, open, 'cannot be reached');
    }
  }

  #retire(open: Open): void {
    if (open.isRetired) return;
    open.isRetired = true;
    this.#retired.add(open);
    this.#closeIdle(open);
  }

  #closeIdle(open: Open): void {
    if (open.isRetired && open.asked === 0) this.#drop(open);
  }

  #drop(open: Open): void {
    this.#retired.delete(open);
    if (open.isClosed) return;
    open.isClosed = true;
    void open.client.close().catch(() => undefined);
  }

  #failure(error: unknown, { signal, timeoutMs }: CallLimits, open: Open, finding: string): unknown {
    if (signal.aborted) return signal.reason;
    if (!(error instanceof McpError) || isGone(error)) return this.#unreachable(error, open, finding);
    if (error.code === (ErrorCode.RequestTimeout as number)) return this.#late(timeoutMs);
    return new Failure('MCP_TOOL_FAILED', this.#masked(`the MCP server "${this.name}" refused: ${error.message}`));
  }

  #late(timeoutMs: number): Failure {
    return new Failure('STEP_TIMEOUT', `the MCP server "${this.name}" took longer than ${timeoutMs} ms`);
  }

  #unreachable(error: unknown, open: Open, finding: string): Failure {
    const words = open.said();
    const quoted = words === '' ? '' : `; it said: ${words}`;
    const said = error instanceof Error ? error.message : String(error);
    const message = `the MCP server "${this.name}" ${finding} (${said})${quoted}`;
    return new Failure('MCP_UNREACHABLE', this.#masked(message), { retryable: true });
  }

  /** What its settings hold is nothing for the run's events. */
  #masked(text: string): string {
    const held = 'url' in this.#settings ? this.#settings.headers : this.#settings.env;
    return Object.entries(held)
      .filter(([, value]) => value.length >= 6)
      .reduce((rest, [name, value]) => rest.replaceAll(value, `[${name}]`), text)
      .slice(0, messageLengthMax);
  }
}

const timerOf = ({ timeoutMs }: CallLimits): number => Math.min(timeoutMs, timerMax);

/** Whether there is nobody to ask any more. */
const isGone = (error: unknown): boolean =>
  !(error instanceof McpError) || error.code === (ErrorCode.ConnectionClosed as number);

async function toolsOf(open: Open, limits: CallLimits): Promise<McpTool[]> {
  const { listed, changes } = open;
  if (listed !== null && performance.now() - listed.at < listedForMs) return listed.tools;
  const tools = await listTools(open.client, limits);
  if (changes === open.changes) open.listed = { at: performance.now(), tools };
  return tools;
}

async function listTools(client: Client, limits: CallLimits): Promise<McpTool[]> {
  const tools = new Map<string, McpTool>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const options = { signal: limits.signal, timeout: timerOf(limits) };
    const params = cursor === undefined ? {} : { cursor };
    const { tools: found, nextCursor } = await client
      .listTools(params, options)
      // One odd tool does not take the others with it.
      .catch((error: unknown) => {
        if (!isSchemaFault(error)) throw error;
        return client.request({ method: 'tools/list', params }, ListedTools, options);
      });
    for (const tool of listedTools(found)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    if (nextCursor === undefined || cursors.has(nextCursor)) return [...tools.values()];
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  throw new McpError(ErrorCode.InternalError, `it lists its tools on more than ${pagesMax} pages, and does not end`);
}

const isSchemaFault = (error: unknown): boolean =>
  error instanceof Error && /^\$?ZodError$/.test(error.constructor.name || error.name);
