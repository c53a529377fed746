/** Models from GGUF files, run by node-llama-cpp in a process of their own. */
import { createRequire } from 'node:module';
import { statSync } from 'node:fs';
import { TurnError } from '../port/turn-failure.ts';
import type { TurnRequest } from '../port/turn.ts';
import type { ListedModel, Provider, ReportedFacts, Sending } from '../provider/provider.ts';
import { grammarSchema, toolSchema } from './grammar-schema.ts';
import type { ModelHost } from './model-host.ts';
import type { FromModel, LocalTurn } from './protocol.ts';
import type { LocalModels } from './registry.ts';

export interface LocalSettings {
  name: string;
  models: LocalModels;
  host: ModelHost;
  /** Relative paths of models start here. */
  project: string;
}

/** Each thousand tokens of context hold memory; configuration asks for more. */
const WINDOW_WANTED = 8192;

const NOT_INSTALLED = 'node-llama-cpp is not installed; run "npm install node-llama-cpp@3" where Sentinel is installed';

export function localProvider({ name, models, host, project }: LocalSettings): Provider {
  const fileOf = (model: string): string => {
    const file = models.find(model, project);
    if (file === null)
      throw new TurnError(
        { kind: 'model-not-found', retired: false },
        `${name}/${model}: there is no local model of that name; run "sentinel models add PATH.gguf --name ${model}"`,
      );
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      throw new TurnError(
        { kind: 'model-not-found', retired: false },
        `${name}/${model}: the file ${file} is not there; add it again with "sentinel models add"`,
      );
    return file;
  };
  return {
    name,
    isLocal: true,
    isListed: true,
    setting: null,
    missing: isInstalled() ? null : NOT_INSTALLED,
    async send(request, { facts, names, assembler, signal, limits }) {
      const file = fileOf(request.model);
      const turn = toTurn(request, facts.window ?? WINDOW_WANTED, names);
      const hear = (message: FromModel): void => {
        if (message.type === 'text') assembler.text('text', message.text);
        if (message.type === 'thinking') assembler.thinking('thinking', message.text);
        if (message.type === 'call')
          assembler.call(`call ${message.index}`, { name: message.name, arguments: message.arguments });
      };
      const { reason, usage } = await host.take(file, { turn, signal, limits, hear });
      return assembler.finish({
        reason,
        usage: { ...usage },
        model: request.model,
        requestId: null,
      });
    },
    describe: (model) => describeFile(fileOf(model)),
    list: () =>
      Promise.resolve(
        models.list().map(({ name: id, sizeBytes }): ListedModel => ({ id, sizeBytes, allocated: null, window: null })),
      ),
    close() {
      host.close();
      return Promise.resolve();
    },
  };
}

function toTurn(request: TurnRequest, window: number, names: Sending['names']): LocalTurn {
  const { adapters = [], system, messages, tools = [], schema, temperature, maxTokens, thinking, stop = [] } = request;
  return {
    adapters: [...adapters],
    system: system ?? null,
    // The calls of a conversation stand under the names that the model knows them by.
    messages: messages.map((message) =>
      message.role === 'user'
        ? message
        : {
            ...message,
            blocks: message.blocks.map((block) =>
              block.type === 'tool-call' ? { ...block, name: names.wire(block.name) } : block,
            ),
          },
    ),
    tools: tools.map(({ name, description, parameters }) => ({
      name: names.wire(name),
      description,
      parameters: toolSchema(parameters),
    })),
    schema: schema === undefined ? null : grammarSchema(schema),
    temperature: temperature ?? null,
    maxTokens: maxTokens ?? null,
    thinking: thinking ?? null,
    stop: [...stop],
    window: request.window ?? window,
  };
}

/** What stands in the head of the file; nothing is loaded. */
export async function describeFile(file: string): Promise<ReportedFacts> {
  if (!isInstalled()) throw new TurnError({ kind: 'model-not-found', retired: false }, NOT_INSTALLED);
  const { readGgufFileInfo } = await import('node-llama-cpp');
  const { metadata, architectureMetadata } = await readGgufFileInfo(file, {
    readTensorInfo: false,
    logWarnings: false,
  }).catch((error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    throw new TurnError({ kind: 'bad-request', field: 'model' }, `${file} is no GGUF file that can be read (${said})`, {
      cause: error,
    });
  });
  const trained = (architectureMetadata as { context_length?: unknown }).context_length;
  const template = metadata.tokenizer?.chat_template;
  const thinks = typeof template === 'string' && template.includes('<think>');
  return {
    ...(typeof trained === 'number' ? { window: Math.min(trained, WINDOW_WANTED) } : {}),
    thinking: thinks ? { kind: 'budget' } : null,
  };
}

/** The package is optional: without it everything else works. */
function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('node-llama-cpp');
    return true;
  } catch {
    return false;
  }
}
