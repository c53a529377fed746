/** Fields of a JSON body that nobody vouches for. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Null where it is no whole number, or none that counts something. */
export const numberOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;

export const objectOf = (value: Json | undefined): JsonObject =>
  isJsonObject(value ?? null) ? (value as JsonObject) : {};
