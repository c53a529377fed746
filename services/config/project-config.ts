/**
 * `sentinel.config.ts` (or `.js`, `.mjs`) in the root of a project: what its models, its own
 * commands, its MCP servers, who may send it webhooks, and the defaults of the command line are. It is code, so it runs only
 * where the user has trusted it, with all that it loads.
 */
import * as z from 'zod';
import { McpServers } from '../commands/mcp-settings.ts';
import { OwnCommand } from '../commands/own-commands.ts';
import { ProjectSystem } from '../commands/own-systems.ts';
import { WebhooksConfig } from './webhook-config.ts';
import { LimitsConfig, NotifyConfig } from './limits-config.ts';
import { ConfigError } from '../home/config-error.ts';
import { readProjectCode, type ProjectCode } from '../trust/project-code.ts';
import { refuseUntrusted } from '../trust/trusted-code.ts';
import type { ConfigFile } from './project-file.ts';

const price = z.number().min(0);
const Rates = { input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() };
const Prices = z.strictObject({
  ...Rates,
  long: z.strictObject({ above: z.number().int().positive(), ...Rates }).optional(),
});

const Dialect = z.strictObject({
  maxTokens: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  system: z.enum(['system', 'developer']).optional(),
  emptyContent: z.enum(['null', 'empty', 'omit']).optional(),
  streamUsage: z.boolean().optional(),
  schema: z.enum(['json_schema', 'json_object']).optional(),
  toolResultName: z.boolean().optional(),
  effort: z.boolean().optional(),
});

const ProviderConfig = z.strictObject({
  kind: z.enum(['anthropic', 'openai', 'ollama', 'local']),
  apiKey: z.string().min(1).optional(),
  baseUrl: z.string().min(1).optional(),
  isLocal: z.boolean().optional(),
  dialect: Dialect.optional(),
  threads: z.number().int().min(1).max(1024).optional(),
  restMs: z.number().int().min(1).optional(),
});

const model = z.string().min(1);
const tiers = z.strictObject({
  small: z.array(model).optional(),
  medium: z.array(model).optional(),
  large: z.array(model).optional(),
});
const Routes = z.strictObject({
  text: tiers.optional(),
  tools: tiers.optional(),
  schema: tiers.optional(),
  vision: tiers.optional(),
  '*': tiers.optional(),
});

const ProviderName = z.string().regex(/^[A-Za-z0-9][\w.-]*$/, 'a provider is named by letters, digits, and . _ -');

export const ProjectConfig = z.strictObject({
  models: z
    .strictObject({
      providers: z.record(ProviderName, ProviderConfig).default({}),
      aliases: z.record(model, model).default({}),
      prices: z.record(model, Prices).default({}),
      routes: Routes.default({}),
      windows: z.record(model, z.number().int().min(256)).default({}),
      embedding: model.optional(),
    })
    .prefault({}),
  commands: z.array(OwnCommand).default([]),
  systems: z.array(ProjectSystem).default([]),
  /** Of systems that come with the engine, by name; these say what they take (runs/commands/system-settings.ts). */
  settings: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  mcpServers: McpServers.default({}),
  limits: LimitsConfig.prefault({}),
  notify: NotifyConfig.default([]),
  webhooks: WebhooksConfig.default({}),
  defaults: z
    .strictObject({
      persona: z.string().min(1).optional(),
      host: z.string().min(1).optional(),
      /** The rules of its runs, which whoever starts them reads (runs/policies.ts). */
      policy: z.unknown().optional(),
    })
    .default({}),
});
export type ProjectConfig = z.infer<typeof ProjectConfig>;

export const NO_PROJECT_CONFIG: ProjectConfig = ProjectConfig.parse({});

/** Runs the file's code, if the user trusts it. Throws `ConfigError`, which names the file and the field. */
export const loadProjectConfig = ({ path }: ConfigFile): Promise<ProjectConfig> => runProjectConfig(trustedCode(path));

/** All that the file loads. Throws `ConfigError` where the user does not trust it. */
export function trustedCode(path: string): ProjectCode {
  const code = readProjectCode(path);
  refuseUntrusted(code);
  return code;
}

/** Of code that is trusted. */
export async function runProjectConfig(code: ProjectCode, how?: { asKept: boolean }): Promise<ProjectConfig> {
  const { path } = code;
  const [{ runCode }, commands] = await Promise.all([
    import('../trust/run-code.ts'),
    import('../commands/for-projects.ts'),
  ]);
  const given: unknown = await runCode(code, { 'sentinel-engine/commands': commands }, how).catch((error: unknown) => {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  });
  const parsed = ProjectConfig.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.length === 0 ? 'its default export' : issue.path.join('.');
    return `${field}: ${issue.message}`;
  });
  throw new ConfigError(`${path}: ${problems.join('; ')}.`);
}
