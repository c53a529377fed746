/**
 * Lines and the rules that classify them. Rules are compiled once, by an engine whose time is linear
 * in the text; the first rule that is found in a line wins; a line that none is found in is `info`.
 */
import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { regexLengthMax } from '../../../language/limits.ts';
import type { Rule } from '../../../language/model.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import type { Execution, ExecutionLine } from '../../../prisma/store/contract/execution-contract.ts';
import { Failure } from '../../../world/failures/failures.ts';

export type ClassifiedLine = {
  line: string;
  n: number;
  stream: 'stdout' | 'stderr';
  classification: string;
  /** The pattern of the rule that decided. */
  rule?: string;
  at: number;
};

/** What a line is when no rule says otherwise. */
const UNMATCHED = 'info';
const compiledMax = 100;

export interface Classifier {
  classify(line: ExecutionLine): ClassifiedLine;
  /** Some rule publishes what it finds. */
  readonly emits: boolean;
  isEmitted(line: ClassifiedLine): boolean;
}

interface CompiledRule extends Rule {
  expression: RE2JS;
}

const compiled = new Map<string, Classifier>();

export function classifierOf(rules: readonly Rule[]): Classifier {
  const key = JSON.stringify(rules);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const classifier = compile(rules);
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(key, classifier);
  return classifier;
}

function compile(rules: readonly Rule[]): Classifier {
  const all = rules.map((rule): CompiledRule => ({ ...rule, expression: read(rule.pattern) }));
  const emitting = new Set(all.filter(publishes).map((rule) => rule.pattern));
  return {
    classify({ text, n, stream, at }) {
      const rule = all.find(({ expression }) => expression.matcher(text).find());
      const found = rule === undefined ? {} : { rule: rule.pattern };
      return { line: text, n, stream, classification: rule?.classification ?? UNMATCHED, ...found, at };
    },
    emits: emitting.size > 0,
    isEmitted: (line) => line.rule !== undefined && emitting.has(line.rule),
  };
}

const publishes = (rule: Rule): boolean => rule.action?.toLowerCase() === 'emit';

function read(pattern: string): RE2JS {
  const refuse = (finding: string): Failure =>
    new Failure('COMMAND_PARAMS_INVALID', `the rule's pattern "${pattern.slice(0, 200)}" ${finding}; correct the rule`);
  if (pattern.length > regexLengthMax)
    throw refuse(`has ${pattern.length} characters, at most ${regexLengthMax} are read`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw refuse(`cannot be read (${error instanceof Error ? error.message : 'unknown reason'})`);
  }
}

/**
 * Publishes what the rules say is to be published, as `sentinel:<handle>:line`: a line once, whoever
 * comes to it first and how often.
 */
export async function emitLines(
  store: Pick<Store, 'signals'>,
  execution: Pick<Execution, 'id' | 'handle'>,
  classifier: Classifier,
  lines: readonly ExecutionLine[],
): Promise<void> {
  if (!classifier.emits) return;
  const { id, handle } = execution;
  const emitted = lines.map((line) => classifier.classify(line)).filter((line) => classifier.isEmitted(line));
  await store.signals.publishAll(
    emitted.map((line) => ({
      handle,
      key: `${id}:${line.n}:${digest(line.line)}`,
      name: `sentinel:${handle}:line`,
      data: { executionId: id, ...line },
    })),
  );
}

/** A process that is started again prints what it printed before: the same line in the same place is the same event. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);
