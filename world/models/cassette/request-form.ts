/** What of a request decides which recorded one it is: its canonical form, whose hash is the digest. */
import type { Json, JsonObject } from '../../../language/json.ts';
import type { AskedRequest } from '../../../prisma/store/contract/models/conversation-contract.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import type { TurnReply, TurnRequest } from '../port/turn.ts';
import type { TurnFailure } from '../port/turn-failure.ts';
import type { ModelFacts } from '../records/facts.ts';

/** The model that a step's text meant. */
export interface RecordedModel {
  name: string;
  provider: string;
  model: string;
  facts: ModelFacts;
  reason: string | null;
  notices: string[];
}

export type RecordedOutcome = { reply: TurnReply } | { failure: TurnFailure };

/** What stands beside the messages of a request. */
export interface RequestHead {
  /** The text of the step: `auto`, or a model. */
  asked: string;
  /** Null where it was no model's. */
  model: RecordedModel | null;
  settings: Omit<TurnRequest, 'model' | 'adapters' | 'messages' | 'cache'>;
}

export interface RequestForm extends JsonObject {
  model: string;
  messages: JsonObject[];
}

export function formOf(head: RequestHead, messages: readonly JsonObject[]): RequestForm {
  return { model: head.asked, ...(head.settings as unknown as JsonObject), messages: messages.map(plainMessage) };
}

/** As it is told to the model: without what we keep of it besides. A picture is told by its hash. */
function plainMessage({ role, blocks }: JsonObject): JsonObject {
  return { role: role ?? null, blocks: (Array.isArray(blocks) ? blocks : []).map(plainBlock) };
}

function plainBlock(block: Json): Json {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return block;
  if (block['type'] === 'image') return { ...block, data: `sha256:${contentHash({ data: block['data'] ?? null })}` };
  const { content } = block;
  return Array.isArray(content) ? { ...block, content: content.map(plainBlock) } : block;
}

export const digestOf = (form: JsonObject): string => contentHash(form);

/** The parts of a stored request, as they were written. */
export function readAsked({ head, outcome }: Pick<AskedRequest, 'head' | 'outcome'>): {
  head: RequestHead;
  outcome: RecordedOutcome;
} {
  return { head: head as unknown as RequestHead, outcome: outcome as unknown as RecordedOutcome };
}
