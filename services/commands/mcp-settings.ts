/** What `mcpServers` of a `sentinel.config` may say. */
import * as z from 'zod';

const Permission = z.enum(['read', 'write', 'shell', 'delete', 'network']);
const texts = z.record(z.string().min(1), z.string());

const Rights = {
  /** Of each of its tools, unless `tools` says otherwise. */
  permission: Permission.default('network'),
  tools: z.record(z.string().min(1), z.strictObject({ permission: Permission })).default({}),
  /** How long a step may take that does not say. */
  timeoutMs: z.number().int().min(1).optional(),
};

const StdioServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  /** Of the project; absent: its root. */
  cwd: z.string().min(1).optional(),
  ...Rights,
});

const HttpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' }),
  headers: texts.default({}),
  ...Rights,
});

/** One of the two by what it holds, so that a mistake is told for the field it is in. */
const McpServer = z.unknown().transform((given, { issues, value }): z.infer<typeof StdioServer | typeof HttpServer> => {
  const isHttp = typeof given === 'object' && given !== null && 'url' in given;
  const read = isHttp ? HttpServer.safeParse(given) : StdioServer.safeParse(given);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues)
    issues.push({ code: 'custom', input: value, path: [...path], message });
  return z.NEVER;
});

const ServerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'an MCP server is named by letters, digits, _ and -');

export const McpServers = z.record(ServerName, McpServer);
export type McpServers = z.infer<typeof McpServers>;
