/** Writes a LoRA adapter in GGUF, of rank 1, for one projection of a small Llama. */
import { writeFileSync } from 'node:fs';

const ALIGNMENT = 32;
const F32 = 0;
const STRING = 8;
const FLOAT = 6;

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'utf8');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
};
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
const f32 = (values: readonly number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);
const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);

/** `width` is the model's; each weight of the two matrices is `weight`, with changing signs. */
export function writeAdapter(path: string, { width, weight }: { width: number; weight: number }): void {
  const values = Array.from({ length: width }, (_, index) => (index % 3 === 0 ? -weight : weight));
  const tensors = ['blk.0.attn_output.weight', 'blk.15.attn_output.weight'].flatMap((name) => [
    { name: `${name}.lora_a`, shape: [width, 1], data: padded(f32(values)) },
    { name: `${name}.lora_b`, shape: [1, width], data: padded(f32(values)) },
  ]);
  const facts: [string, string | number][] = [
    ['general.type', 'adapter'],
    ['general.architecture', 'llama'],
    ['adapter.type', 'lora'],
    ['adapter.lora.alpha', 1],
  ];
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(facts.length)];
  for (const [key, value] of facts)
    head.push(text(key), ...(typeof value === 'string' ? [u32(STRING), text(value)] : [u32(FLOAT), f32([value])]));
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(F32), u64(offset));
    offset += data.length;
  }
  writeFileSync(path, Buffer.concat([padded(Buffer.concat(head)), ...tensors.map(({ data }) => data)]));
}
