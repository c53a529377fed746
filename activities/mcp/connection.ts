/**
 * One MCP server, connected to when it is first needed, and again where the connection was lost. Whoever
 * holds it closes it.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';
import { openTransport } from './open-transport.ts';
import type { McpTool, ServerSettings } from './settings.ts';

const connectMs = 30_000;
/** A list that is older is asked for again before the next call. */
const listedForMs = 10_000;
const pagesMax = 50;
const timerMax = 2 ** 31 - 1;
const messageLengthMax = 4_000;

export interface CallLimits {
  signal: AbortSignal;
  timeoutMs: number;
}

interface Open {
  client: Client;
  said(): string;
  /** Its tools, and when they were listed; null: not yet, or they have changed since. */
  listed: { at: number; tools: McpTool[] } | null;
  isClosed: boolean;
}

export class McpConnection {
  readonly name: string;
  readonly #settings: ServerSettings;
  readonly #project: string;
  #opening: Promise<Open> | undefined;
  #isEnded = false;

  constructor(name: string, settings: ServerSettings, project: string) {
    this.name = name;
    this.#settings = settings;
    this.#project = project;
  }

  /** What the server has now, or had a moment ago. */
  async tools(limits: CallLimits): Promise<McpTool[]> {
    const open = await this.#open(limits);
    const { listed } = open;
    if (listed !== null && performance.now() - listed.at < listedForMs) return listed.tools;
    try {
      const tools = await listTools(open.client, limits);
      open.listed = { at: performance.now(), tools };
      return tools;
    } catch (error) {
      if (isGone(error)) this.#drop(open);
      throw this.#failure(error, limits, open, 'did not list its tools');
    }
  }

  async call(tool: string, args: JsonObject, limits: CallLimits): Promise<CallToolResult> {
    const open = await this.#open(limits);
    const { signal } = limits;
    const timeout = timerOf(limits);
    try {
      const result = await open.client.callTool({ name: tool, arguments: args }, CallToolResultSchema, {
        signal,
        timeout,
        maxTotalTimeout: timeout,
      });
      return result as CallToolResult;
    } catch (error) {
      if (isGone(error)) this.#drop(open);
      throw this.#failure(error, limits, open, `went away during "${tool}"`);
    }
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    const open = await this.#opening?.catch(() => undefined);
    await open?.client.close().catch(() => undefined);
  }

  #open(limits: CallLimits): Promise<Open> {
    if (this.#isEnded) throw new Failure('MCP_UNREACHABLE', `the MCP server "${this.name}" has ended with its worker`);
    this.#opening ??= this.#connect(limits).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #connect(limits: CallLimits): Promise<Open> {
    const { transport, said } = openTransport(this.#settings, this.#project);
    const client = new Client({ name: 'sentinel', version: '0.1.0' });
    const open: Open = { client, said, listed: null, isClosed: false };
    client.onclose = () => this.#drop(open);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      open.listed = null;
    });
    try {
      // Others may wait for the same connection: the signal of one step does not end it.
      await client.connect(transport, { timeout: Math.min(connectMs, timerOf(limits)) });
      return open;
    } catch (error) {
      await client.close().catch(() => undefined);
      throw this.#failure(error, limits, open, 'cannot be reached');
    }
  }

  #drop(open: Open): void {
    if (open.isClosed) return;
    open.isClosed = true;
    this.#opening = undefined;
    void open.client.close().catch(() => undefined);
  }

  #failure(error: unknown, { signal, timeoutMs }: CallLimits, open: Open, finding: string): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof Failure) return error;
    const said = error instanceof Error ? error.message : String(error);
    if (error instanceof McpError && error.code === (ErrorCode.RequestTimeout as number))
      return new Failure('STEP_TIMEOUT', `the MCP server "${this.name}" took longer than ${timeoutMs} ms`);
    if (error instanceof McpError && !isGone(error))
      return new Failure('MCP_TOOL_FAILED', this.#masked(`the MCP server "${this.name}" refused: ${said}`));
    const words = open.said();
    const quoted = words === '' ? '' : `; it said: ${words}`;
    return new Failure('MCP_UNREACHABLE', this.#masked(`the MCP server "${this.name}" ${finding} (${said})${quoted}`), {
      retryable: true,
    });
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

/** A server that was started again knows nothing of the session before. */
const isGone = (error: unknown): boolean =>
  error instanceof McpError ? error.code === (ErrorCode.ConnectionClosed as number) : !isRefusal(error);

const isRefusal = (error: unknown): boolean => error instanceof Failure;

async function listTools(client: Client, limits: CallLimits): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { tools: found, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, {
      signal: limits.signal,
      timeout: timerOf(limits),
    });
    for (const { name, description, inputSchema, outputSchema } of found)
      tools.push({
        name,
        ...(description === undefined ? {} : { description }),
        inputSchema: inputSchema as McpTool['inputSchema'],
        ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as McpTool['inputSchema'] }),
      });
    if (nextCursor === undefined) return tools;
    cursor = nextCursor;
  }
  return tools;
}
