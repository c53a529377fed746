/** What somebody does with models by hand: ask one, load one, give a file a name. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseModelString } from '../../language/models/model-string.ts';
import { describeFile } from './local/local.ts';
import type { Models } from './open-models.ts';
import { textOf } from './port/message.ts';
import { TurnError, type TurnFailure } from './port/turn-failure.ts';
import type { TokenUsage } from '../../language/models/token-usage.ts';
import type { PullProgress } from './provider/provider.ts';
import { failureOf } from './provider/take-turn.ts';

type Failed = { ok: false; failure: TurnFailure };

export type Asked =
  | {
      ok: true;
      name: string;
      model: string;
      reason: string | null;
      notices: string[];
      text: string;
      usage: TokenUsage;
      ms: number;
    }
  | Failed;

const ANSWER_TOKENS = 256;

export async function askOnce(models: Models, asked: string, prompt: string): Promise<Asked> {
  return caught(asked, async () => {
    const { signal } = new AbortController();
    const messages = [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: prompt }] }];
    const resolved = await models.resolve(asked, { messages }, { project: process.cwd(), signal });
    const began = performance.now();
    const result = await models.turn(resolved, { messages, maxTokens: ANSWER_TOKENS }, { signal });
    if (!result.ok) return result;
    const { blocks, usage, model } = result.reply;
    const { name, reason, notices } = resolved;
    return {
      ok: true,
      name,
      model,
      reason,
      notices,
      text: textOf(blocks),
      usage,
      ms: Math.round(performance.now() - began),
    };
  });
}

export async function pullModel(
  models: Models,
  asked: string,
  say: (text: string) => void,
): Promise<{ ok: true; name: string } | Failed> {
  return caught(asked, async () => {
    const read = parseModelString(asked);
    if (!read.ok || read.model.type !== 'model')
      throw new TurnError(
        { kind: 'bad-request', field: 'model' },
        `"${asked}" names no model; write it as ollama/qwen3:8b`,
      );
    const { id } = read.model;
    const name = read.model.provider ?? 'ollama';
    const provider = models.directory.providers.get(name)?.provider;
    if (provider?.pull === undefined)
      throw new TurnError(
        { kind: 'bad-request', field: 'model' },
        `"${name}" loads no models; Ollama does ("ollama/${id}"), and a GGUF file is added with "sentinel models add"`,
      );
    let said = '';
    await provider.pull(id, new AbortController().signal, (progress) => {
      const text = progressText(progress);
      if (text !== said) say(text);
      said = text;
    });
    return { ok: true, name: `${provider.name}/${id}` };
  });
}

function progressText({ status, totalBytes, completedBytes }: PullProgress): string {
  if (totalBytes === null || totalBytes === 0) return status;
  return `${status}: ${Math.floor((100 * (completedBytes ?? 0)) / totalBytes)} %`;
}

export async function addLocal(
  models: Models,
  name: string,
  path: string,
): Promise<{ ok: true; name: string; path: string; window: number | null } | Failed> {
  return caught(`local/${name}`, async () => {
    const { window = null } = await describeFile(path);
    mkdirSync(dirname(models.local.file), { recursive: true });
    models.local.add(name, path);
    return { ok: true, name: `local/${name}`, path, window };
  });
}

async function caught<Result>(model: string, act: () => Promise<Result>): Promise<Result | Failed> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof TurnError)) throw error;
    return { ok: false, failure: failureOf(error, '', model) };
  }
}
