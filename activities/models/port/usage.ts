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
