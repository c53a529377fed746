/** What continue-as-new and the way to a segment do to a value. */
export const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
