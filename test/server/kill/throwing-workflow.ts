/** A workflow whose every task fails, as one does that meets a bug of ours. */
export function sentinel(): Promise<void> {
  throw new Error('bug: thrown by a test');
}
