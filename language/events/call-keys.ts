/** Keys of what a model calls: the step's, its turn, and the call (`steps.2@1/turn.3/call.0`), from the second try on with its number (`call.0#2`). */
const CALL = /\/turn\.\d+\/call\.\d+(?:#\d+)?(?![^:/])/;

export const isCall = (key: string): boolean => CALL.test(key);

/** What a call's key adds to that of its step; empty for any other key. */
export const callPart = (key: string): string => {
  const found = CALL.exec(key);
  return found === null ? '' : key.slice(found.index);
};
