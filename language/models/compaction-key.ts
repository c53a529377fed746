/** What a compaction before a turn of a conversation is kept under. */
export const compactionKey = (conversation: string, turn: number, number: number): string =>
  `${conversation}/turn.${turn}/compaction.${number}`;

/** The conversation, turn and number that such a key names; null for any other. */
export function readCompactionKey(key: string): { conversation: string; turn: number; number: number } | null {
  const found = /^(.+)\/turn\.(\d+)\/compaction\.(\d+)$/.exec(key);
  const [, conversation = '', turn, number] = found ?? [];
  return found === null ? null : { conversation, turn: Number(turn), number: Number(number) };
}
