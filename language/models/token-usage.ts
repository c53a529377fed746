/** Tokens. What was sent is `input + cacheRead + cacheWrite`. */
export interface TokenUsage {
  /** Neither read from a cache nor written to one. */
  input: number;
  /** All of the answer, thinking included. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `output` that was thought, where the provider says it. */
  thinking: number;
  /** The provider did not say, so that input and output are counted from the text. */
  estimated: boolean;
}

export const NO_USAGE: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false };

export function plusUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    thinking: one.thinking + other.thinking,
    estimated: one.estimated || other.estimated,
  };
}

/** All that was sent and answered. */
export const tokensOf = ({
  input,
  output,
  cacheRead,
  cacheWrite,
}: Omit<TokenUsage, 'thinking' | 'estimated'>): number => input + output + cacheRead + cacheWrite;
