/** Models from GGUF files, run by node-llama-cpp in a process of their own. */
import { createRequire } from 'node:module';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { TurnError } from '../port/turn-failure.ts';
import { TURN_LIMITS, type TurnRequest } from '../port/turn.ts';
import type { ListedModel, Provider, ReportedFacts, Sending } from '../provider/provider.ts';
import { hashOfFile } from './file-hash.ts';
import { grammarSchema, toolSchema } from './grammar-schema.ts';
import { markOf, type ModelHost } from './model-host.ts';
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
      await refuseOthers(file, request);
      const turn = toTurn(request, facts.window ?? WINDOW_WANTED, names);
      const hear = (message: FromModel): void => {
        if (message.type === 'text') assembler.text('text', message.text);
        if (message.type === 'thinking') assembler.thinking('thinking', message.text);
        if (message.type === 'call')
          assembler.call(`call ${message.index}`, { name: message.name, arguments: message.arguments });
      };
      const { reason, usage } = await host.take(file, { asked: { type: 'turn', turn }, signal, limits, hear });
      return assembler.finish({
        reason,
        usage: { ...usage },
        model: request.model,
        requestId: null,
      });
    },
    embed: (model, texts, signal) => vectorsOf(host, fileOf(model), texts, signal),
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

async function vectorsOf(
  host: ModelHost,
  file: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<{ vectors: number[][]; version: string }> {
  for (;;) {
    const vectors: number[][] = [];
    const hear = (message: FromModel): void => {
      if (message.type === 'vector') vectors.push(message.vector);
    };
    const mark = markOf(file);
    const version = await versionOf(file);
    await host.take(file, { asked: { type: 'embed', texts }, signal, limits: TURN_LIMITS, hear });
    // Where it was replaced meanwhile, nobody can say which of the two has made them.
    if (markOf(file) === mark) return { vectors, version };
  }
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

/** An adapter for another model of the same shape loads, and answers nonsense. */
async function refuseOthers(file: string, { model, adapters = [] }: TurnRequest): Promise<void> {
  for (const { path, base } of adapters) {
    if (base === undefined || base === (await hashOfFile(file))) continue;
    throw new TurnError(
      { kind: 'bad-request', field: 'adapters' },
      `the adapter ${path} was made for another model than ${model} (${base.slice(0, 12)}); name the model that it was trained on`,
    );
  }
}

const HEAD_BYTES = 1024 * 1024;

/** A file of the same name may be replaced by another model. */
async function versionOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const [{ size }, { buffer, bytesRead }] = await Promise.all([
      file.stat(),
      file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0),
    ]);
    return createHash('sha256').update(`${size}:`).update(buffer.subarray(0, bytesRead)).digest('hex').slice(0, 8);
  } finally {
    await file.close();
  }
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
