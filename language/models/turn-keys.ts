/** Keys of the turns of a model and of what they call: the step's, the turn, and the call (`steps.2@1/turn.3/call.0`), from the second try on with its number (`call.0#2`). */
const CALL = /\/turn\.\d+\/call\.\d+(?:#\d+)?(?![^:/])/;
const TURN = /\/turn\.\d+(?:\/call\.\d+(?:#\d+)?)?(?![^:/])/;

export const isCall = (key: string): boolean => CALL.test(key);

/** What the key of a turn, or of a call, adds to that of its step; empty for any other key. */
export const turnPart = (key: string): string => {
  const found = TURN.exec(key);
  return found === null ? '' : key.slice(found.index);
};

/** What a compaction before a turn of a conversation is kept under. */
export const compactionKey = (conversation: string, turn: number, number: number): string =>
  `${conversation}/turn.${turn}/compaction.${number}`;

/** The conversation, turn and number that such a key names; null for any other. */
export function readCompactionKey(key: string): { conversation: string; turn: number; number: number } | null {
  const found = /^(.+)\/turn\.(\d+)\/compaction\.(\d+)$/.exec(key);
  const [, conversation = '', turn, number] = found ?? [];
  return found === null ? null : { conversation, turn: Number(turn), number: Number(number) };
}
