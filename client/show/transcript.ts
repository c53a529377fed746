/** A conversation with a model as lines for people, and as Markdown. */
import { costWords } from '../../language/events/event-words.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { StoredMessage, StoredTurn } from '../../prisma/store/contract/models/conversation-contract.ts';
import type { Compaction, Transcript } from '../lookup/transcripts.ts';
import type { Paint } from './paint.ts';

interface TurnFacts {
  model: string;
  reason?: string;
  tokens: number;
  usd: number;
  /** Our own prompts that it was asked with, and their versions. */
  prompts: string[];
  isUnpriced?: true;
}

function factsOf({ answer }: Pick<StoredTurn, 'answer'>): TurnFacts | null {
  const outcome = answer?.['outcome'];
  if (!isJsonObject(outcome)) return null;
  const { model, reason, usage, usd } = outcome;
  const prompts = isJsonObject(answer?.['prompts']) ? answer['prompts'] : {};
  const counted = isJsonObject(usage) ? usage : {};
  const tokens = ['input', 'output', 'cacheRead', 'cacheWrite'].map((name) => Number(counted[name] ?? 0));
  return {
    model: text(model),
    ...(typeof reason === 'string' ? { reason } : {}),
    tokens: tokens.reduce((sum, one) => sum + one, 0),
    ...(typeof usd === 'number' ? { usd } : { usd: 0, isUnpriced: true }),
    prompts: Object.entries(prompts).map(([name, version]) => `${name} ${text(version)}`),
  };
}

/** Of a turn, or of a compaction, which is one. */
const costWordsOf = (facts: TurnFacts): string[] => [
  facts.model,
  ...costWords(facts),
  ...(facts.reason ?? '').split('; ').filter(Boolean),
  ...(facts.prompts.length === 0 ? [] : [`with ${facts.prompts.join(', ')}`]),
];

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** What a block is for a reader: who it is of, and what it says. */
function said(block: JsonObject): { mark: 'text' | 'thought' | 'call' | 'result' | 'failed' | 'image'; text: string } {
  switch (text(block['type'])) {
    case 'text':
      return { mark: 'text', text: text(block['text']) };
    case 'thinking':
      return { mark: 'thought', text: text(block['text']) };
    case 'tool-call':
      return { mark: 'call', text: `${text(block['name'])} ${text(block['invalid'] ?? block['input'])}` };
    case 'tool-result': {
      const content = Array.isArray(block['content']) ? block['content'].filter(isJsonObject) : [];
      const whole = content.map((inner) => said(inner).text).join('\n');
      return { mark: block['isError'] === true ? 'failed' : 'result', text: whole };
    }
    case 'image':
      return {
        mark: 'image',
        text: `${text(block['mediaType'])}, ${Math.floor((text(block['data']).length * 3) / 4)} bytes`,
      };
    default:
      return { mark: 'thought', text: `(${text(block['type'])})` };
  }
}

const blocksOf = ({ message }: StoredMessage): JsonObject[] => {
  const { blocks, text: system } = message;
  if (Array.isArray(blocks)) return blocks.filter(isJsonObject);
  return typeof system === 'string' ? [{ type: 'text', text: system }] : [];
};

/** What was paid in this run. */
function costOf(turns: readonly Pick<StoredTurn, 'answer' | 'copiedOf'>[]): string[] {
  const facts = turns.filter(({ copiedOf }) => copiedOf === null).flatMap((turn) => factsOf(turn) ?? []);
  return costWords({
    tokens: facts.reduce((sum, { tokens }) => sum + tokens, 0),
    usd: facts.reduce((sum, { usd }) => sum + usd, 0),
    ...(facts.some(({ isUnpriced }) => isUnpriced === true) ? { isUnpriced: true as const } : {}),
  });
}

/** What became of the conversation before a turn, and what stands in the place of what was left out. */
function compactionWords({ answer }: Compaction): { line: string; instead: string; cost: string[] } {
  const outcome = isJsonObject(answer['outcome']) ? answer['outcome'] : {};
  const { before, after, window, strategy } = isJsonObject(outcome['compacted']) ? outcome['compacted'] : {};
  const instead = isJsonObject(answer['plan']) ? answer['plan']['instead'] : null;
  const of = typeof window === 'number' ? ` of ${window}` : '';
  const facts = factsOf({ answer });
  return {
    line: `shortened from ${text(before)} to ${text(after)}${of} tokens (${text(strategy)})`,
    instead: typeof instead === 'string' ? instead : '',
    cost: facts === null ? [] : costWordsOf(facts),
  };
}

function turnsWords(turns: readonly StoredTurn[]): string {
  const count = turns.length === 1 ? '1 turn' : `${turns.length} turns`;
  const copied = turns.flatMap(({ copiedOf }) => copiedOf ?? []);
  return copied.length === 0 ? count : `${count}, ${copied.length} of them of ${[...new Set(copied)].join(', ')}`;
}

/** Who speaks, and where neither the definition nor a call did, why. */
function speaker({ message }: StoredMessage): string {
  const role = text(message['role']);
  const { prompt, by } = message;
  if (typeof prompt !== 'string') return role;
  return typeof by === 'string' ? `${role} (${prompt} by ${by})` : `${role} (${prompt})`;
}

const MARKS = { text: '', thought: '~ ', call: '→ ', result: '← ', failed: '✖ ', image: '▣ ' };

function compactionLines(compaction: Compaction, paint: Paint): string[] {
  const { line, instead, cost } = compactionWords(compaction);
  const inPlace = instead === '' ? [] : instead.split('\n').map((one) => `    ${paint.dim(one)}`.trimEnd());
  return [`  ${paint.warn(line)}  ${paint.dim(cost.join('  '))}`, ...inPlace];
}

export function transcriptLines({ key, messages, turns, compactions }: Transcript, paint: Paint): string[] {
  const byTurn = new Map(turns.map((turn) => [turn.turn, turn]));
  const lines = [`${paint.strong(key)}  ${[turnsWords(turns), ...costOf([...turns, ...compactions])].join('  ')}`];
  const before = (turn: number): string[] =>
    compactions.filter((one) => one.turn === turn).flatMap((one) => compactionLines(one, paint));
  for (const stored of messages) {
    const turn = stored.message['role'] === 'assistant' ? byTurn.get(stored.turn) : undefined;
    const facts = turn === undefined ? null : factsOf(turn);
    const cost = facts === null ? [] : costWordsOf(facts);
    if (turn !== undefined) lines.push(...before(turn.turn));
    lines.push(
      `  ${paint.strong(turn === undefined ? speaker(stored) : `turn ${turn.turn}`)}  ${paint.dim(cost.join('  '))}`.trimEnd(),
    );
    for (const block of blocksOf(stored)) {
      const { mark, text: words } = said(block);
      const colour =
        mark === 'failed' ? paint.bad : mark === 'thought' || mark === 'image' ? paint.dim : (all: string) => all;
      for (const [index, line] of words.split('\n').entries())
        lines.push(`    ${colour(`${index === 0 ? MARKS[mark] : ' '.repeat(MARKS[mark].length)}${line}`)}`.trimEnd());
    }
    for (const line of contextLines(stored.message)) lines.push(`    ${paint.dim(line)}`);
  }
  for (const { turn, answer } of turns)
    if (answer === null) lines.push(...before(turn), `  ${paint.warn(`turn ${turn} has no answer yet`)}`);
  return lines;
}

/** A fence that nothing in the text can close. */
function fenced(words: string): string[] {
  const longest = Math.max(2, ...Array.from(words.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [fence, ...words.split('\n'), fence];
}

function compactionMarkdown(compaction: Compaction): string[] {
  const { line, instead, cost } = compactionWords(compaction);
  return ['', `*${[line, ...cost].join(', ')}*`, ...(instead === '' ? [] : ['', ...fenced(instead)])];
}

export function transcriptMarkdown({ key, messages, turns, compactions }: Transcript): string[] {
  const lines = [`## ${key}`, '', [turnsWords(turns), ...costOf([...turns, ...compactions])].join(', ')];
  for (const stored of messages) {
    const isTurn = stored.message['role'] === 'assistant' && stored.turn > 0;
    if (isTurn) lines.push(...compactions.filter(({ turn }) => turn === stored.turn).flatMap(compactionMarkdown));
    lines.push('', `### ${isTurn ? `Turn ${stored.turn}` : speaker(stored)}`);
    for (const block of blocksOf(stored)) {
      const { mark, text: words } = said(block);
      if (mark === 'text') lines.push('', ...words.split('\n'));
      else if (mark === 'thought') lines.push('', ...words.split('\n').map((line) => `> ${line}`));
      else if (mark === 'image') lines.push('', `*Image: ${words}*`);
      else
        lines.push(
          '',
          `**${mark === 'call' ? 'Call' : mark === 'failed' ? 'Failed' : 'Result'}**`,
          '',
          ...fenced(words),
        );
    }
    const context = contextLines(stored.message);
    if (context.length > 0) lines.push('', ...context.map((line) => `- ${line}`));
  }
  return lines;
}

/** What of the context went into a conversation, and what was left out and why; empty for a message that is no context. */
function contextLines(message: JsonObject): string[] {
  const told = isJsonObject(message['context']) ? message['context'] : message;
  return [
    ...objectsIn(told['put']).map(
      ({ name, tokens, cut }) => `in: ${textOf(name)} (about ${textOf(tokens)} tokens${cut === true ? ', cut' : ''})`,
    ),
    ...objectsIn(told['leftOut']).map(({ name, why }) => `left out: ${textOf(name)}: ${textOf(why)}`),
  ];
}

const objectsIn = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
