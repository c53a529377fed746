/** In what the servers differ that speak OpenAI's chat completions: data of a provider, which configuration may set. */
export interface Dialect {
  /** The older name is the one that every server knows. */
  maxTokens: 'max_tokens' | 'max_completion_tokens';
  system: 'system' | 'developer';
  /** What stands for the text of an answer that had calls alone. */
  emptyContent: 'null' | 'empty' | 'omit';
  /** Asks for the usage, which comes in a chunk of its own. */
  streamUsage: boolean;
  schema: 'json_schema' | 'json_object';
  /** A result names its tool beside its call. */
  toolResultName: boolean;
  /** Takes `reasoning_effort`. */
  effort: boolean;
}

/** What most servers take. */
export const PLAIN: Dialect = {
  maxTokens: 'max_tokens',
  system: 'system',
  emptyContent: 'null',
  streamUsage: true,
  schema: 'json_schema',
  toolResultName: false,
  effort: false,
};

/** OpenAI's own. */
export const OPENAI: Dialect = { ...PLAIN, maxTokens: 'max_completion_tokens', system: 'developer', effort: true };

export const isOpenAi = (baseUrl: string): boolean => /^https:\/\/([\w-]+\.)?api\.openai\.com(?:\/|$)/.test(baseUrl);
