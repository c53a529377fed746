/** Tokens. What was sent is `input + cacheRead + cacheWrite`. */
export interface Usage {
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

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false };

export function plusUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    thinking: one.thinking + other.thinking,
    estimated: one.estimated || other.estimated,
  };
}
