/** A text that this library says to models. What it renders to changes with its version, and each turn keeps which it used. */
export interface Prompt<Values> {
  name: string;
  version: number;
  render(values: Values): string;
}
