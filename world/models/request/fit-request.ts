/**
 * A request as its model takes it. What the model would refuse and can do without is left out and named;
 * what it cannot do without (eyes, tools, adapters) is a failure before anything is sent.
 */
import type { ModelFacts } from '../records/facts.ts';
import { TurnError } from '../port/turn-failure.ts';
import type { Omission, TurnRequest } from '../port/turn.ts';
import { estimateRequest } from './estimate.ts';
import { mendMessages } from './mend-messages.ts';
import { toolNameProblems } from '../../../language/models/tool-names.ts';
import { defined } from '../../../language/defined.ts';

export interface FittedRequest {
  request: TurnRequest;
  omitted: Omission[];
}

export function fitRequest(asked: TurnRequest, facts: ModelFacts, author: string): FittedRequest {
  refuse(asked, facts, author);
  const { tools, schema, temperature, thinking, cache, toolChoice, ...rest } = asked;
  const omitted: Omission[] = [];
  const keep = <Value>(value: Value | undefined, takes: boolean, omission: Omission): Value | undefined => {
    if (value === undefined || takes) return value;
    omitted.push(omission);
    return undefined;
  };
  const isBarred = toolChoice === 'none' && !facts.toolChoice;
  const hasTools = tools !== undefined && tools.length > 0 && !isBarred;
  const fitted = {
    // By name, so that the same tools are the same prefix however they were collected.
    tools: hasTools ? tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : undefined,
    toolChoice: hasTools ? keep(toolChoice, facts.toolChoice || toolChoice === 'auto', 'toolChoice') : undefined,
    schema: keep(schema, facts.schema && (!hasTools || facts.schemaWithTools), 'schema'),
    temperature: keep(temperature, facts.temperature, 'temperature'),
    thinking: keep(thinking, thinking === 'off' ? canBeOff(facts) : facts.thinking !== null, 'thinking'),
    cache: keep(cache, facts.caching, 'cache'),
  };
  const maxTokens = withinOutput(asked.maxTokens, facts);
  const request: TurnRequest = {
    ...rest,
    ...defined(fitted),
    ...defined({ maxTokens }),
    messages: mendMessages(asked.messages, author),
  };
  return { request, omitted };
}

function canBeOff({ thinking }: ModelFacts): boolean {
  return thinking?.kind === 'adaptive' ? thinking.canBeOff : true;
}

function withinOutput(maxTokens: number | undefined, { maxOutput }: ModelFacts): number | undefined {
  return maxTokens === undefined || maxOutput === null ? maxTokens : Math.min(maxTokens, maxOutput);
}

function refuse(asked: TurnRequest, facts: ModelFacts, author: string): void {
  const [problem] = toolNameProblems((asked.tools ?? []).map(({ name }) => name));
  if (problem !== undefined) throw new TurnError({ kind: 'bad-request', field: 'tools' }, problem);
  if ((asked.tools?.length ?? 0) > 0 && !facts.tools)
    throw new TurnError(
      { kind: 'unsupported', what: 'tools' },
      `${author} takes no tools; choose a model with tools, or leave "tools" out of the step`,
    );
  if (!facts.images && hasImages(asked))
    throw new TurnError(
      { kind: 'unsupported', what: 'images' },
      `${author} has no eyes, and the prompt refers to an image; choose a model that takes images`,
    );
  if ((asked.adapters?.length ?? 0) > 0 && !facts.adapters)
    throw new TurnError(
      { kind: 'unsupported', what: 'adapters' },
      `${author} takes no LoRA adapters; use a GGUF model of the provider "local", or drop what follows "+"`,
    );
  const window = asked.window ?? facts.window;
  const tokens = estimateRequest(asked);
  // Only what is beyond doubt: the estimate may be half as large again as what the provider counts.
  if (window !== null && tokens > window * 2)
    throw new TurnError(
      { kind: 'context-too-long', tokens, window },
      `the conversation has about ${tokens} tokens, and ${author} has room for ${window}; shorten it, or choose a model with a larger window`,
    );
}

function hasImages({ messages }: TurnRequest): boolean {
  return messages.some(({ blocks }) =>
    blocks.some(
      (block) =>
        block.type === 'image' || (block.type === 'tool-result' && block.content.some(({ type }) => type === 'image')),
    ),
  );
}
