/** Writes a LoRA adapter in GGUF, of rank 1, for one projection of a small Llama. */
import { floats, writeGguf } from './gguf.ts';

/** `width` is the model's; each weight of the two matrices is `weight`, with changing signs. */
export function writeAdapter(path: string, { width, weight }: { width: number; weight: number }): void {
  const data = floats(Array.from({ length: width }, (_, index) => (index % 3 === 0 ? -weight : weight)));
  const tensors = ['blk.0.attn_output.weight', 'blk.15.attn_output.weight'].flatMap((name) => [
    { name: `${name}.lora_a`, shape: [width, 1], data },
    { name: `${name}.lora_b`, shape: [1, width], data },
  ]);
  const facts = {
    'general.type': 'adapter',
    'general.architecture': 'llama',
    'adapter.type': 'lora',
    'adapter.lora.alpha': { f32: 1 },
  };
  writeGguf(path, facts, tensors);
}
