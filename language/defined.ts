/** An object without its undefined fields. `exactOptionalPropertyTypes` tells `{ x: undefined }` from `{}`, and so do hashes and JSON. */

type Sure<Fields> = { [Name in keyof Fields]-?: undefined extends Fields[Name] ? never : Name }[keyof Fields];

export type Defined<Fields> = { [Name in Sure<Fields>]: Fields[Name] } & {
  [Name in Exclude<keyof Fields, Sure<Fields>>]?: Exclude<Fields[Name], undefined>;
};

export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const kept: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept as Defined<Fields>;
}
