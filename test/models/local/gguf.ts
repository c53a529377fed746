/** Writes a GGUF file: facts by name, and tensors of 32-bit floats. */
import { closeSync, openSync, writeSync } from 'node:fs';

const ALIGNMENT = 32;
const F32 = 0;
/** Numbers of the format's types. */
const TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;

export type Fact =
  string | boolean | { u32: number } | { f32: number } | { i32s: readonly number[] } | readonly string[];

export interface Tensor {
  name: string;
  /** The fastest dimension first. */
  shape: readonly number[];
  /** Little-endian floats. */
  data: Buffer;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
};
export const floats = (values: readonly number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);

function bytesOf(fact: Fact): Buffer {
  if (typeof fact === 'string') return Buffer.concat([u32(TYPES.string), text(fact)]);
  if (typeof fact === 'boolean') return Buffer.concat([u32(TYPES.bool), Buffer.from([fact ? 1 : 0])]);
  if ('u32' in fact) return Buffer.concat([u32(TYPES.u32), u32(fact.u32)]);
  if ('f32' in fact) return Buffer.concat([u32(TYPES.f32), floats([fact.f32])]);
  if ('i32s' in fact) {
    const values = Buffer.from(Int32Array.from(fact.i32s).buffer);
    return Buffer.concat([u32(TYPES.array), u32(TYPES.i32), u64(fact.i32s.length), values]);
  }
  return Buffer.concat([u32(TYPES.array), u32(TYPES.string), u64(fact.length), ...fact.map(text)]);
}

const padded = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT;
const pad = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);

export function writeGguf(path: string, facts: { [name: string]: Fact }, tensors: readonly Tensor[]): void {
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(facts).length)];
  for (const [name, fact] of Object.entries(facts)) head.push(text(name), bytesOf(fact));
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(F32), u64(offset));
    offset += padded(data.length);
  }
  const file = openSync(path, 'w');
  try {
    for (const bytes of [Buffer.concat(head), ...tensors.map(({ data }) => data)]) writeSync(file, pad(bytes));
  } finally {
    closeSync(file);
  }
}
