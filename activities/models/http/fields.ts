/** Fields of a JSON body that nobody vouches for. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Null where it is no number, or none that counts something. */
export const numberOf = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

export const countOf = (value: unknown): number => numberOf(value) ?? 0;

export const objectOf = (value: Json | undefined): JsonObject =>
  isJsonObject(value ?? null) ? (value as JsonObject) : {};
