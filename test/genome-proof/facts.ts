/** A made-up fact base, and the questions about it: the same for the same seed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ownRoot } from '../../services/home/package-root.ts';

/** The relations of the experiment from which the settings of training come. */
const Relations = z.record(
  z.string(),
  z.object({ values: z.array(z.string()), train: z.array(z.string()), exam: z.array(z.string()) }),
);

export interface Question {
  fact: string;
  question: string;
  answer: string;
}

export interface FactBase {
  facts: number;
  /** Eight wordings of each fact. */
  train: Question[];
  /** Two other wordings of the same facts, of which none is trained. */
  heldOut: Question[];
}

export type Draw = () => number;

/** From 0 to 1, without it. */
export function drawFrom(seed: string): Draw {
  let count = 0;
  return () =>
    createHash('sha256')
      .update(`${seed} ${(count += 1)}`)
      .digest()
      .readUInt32LE(0) /
    2 ** 32;
}

const oneOf = <Item>(items: readonly Item[], draw: Draw): Item => {
  const found = items[Math.floor(draw() * items.length)];
  if (found === undefined) throw new Error('bug: nothing to draw from');
  return found;
};

export function shuffled<Item>(items: readonly Item[], draw: Draw): Item[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(draw() * left.length), 1)).flat();
}

const BEGINS = ['vz', 'kr', 'dr', 'zh', 'qu', 'thr'];
const ENDS = ['lm', 'nth', 'rk', 'ssen', 'vor'];
const FACTS_PER_RELATION = 6;

function madeUpName(draw: Draw): string {
  const parts = [1, 2].map(() => oneOf(BEGINS, draw) + oneOf('aeiou'.split(''), draw));
  const name = [...parts, oneOf(ENDS, draw)].join('');
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** `isPlain`: the answer to all of them is the same word, which a model of 30,000 parameters can learn. */
export function factBase(seed: number, { isPlain }: { isPlain: boolean }): FactBase {
  const draw = drawFrom(`facts ${seed}`);
  const file = join(ownRoot, 'trainer', 'experiments', 'relations.json');
  const relations = Object.values(Relations.parse(JSON.parse(readFileSync(file, 'utf8'))));
  const names = new Set<string>();
  while (names.size < relations.length * FACTS_PER_RELATION) names.add(madeUpName(draw));
  const left = [...names];
  const only = isPlain ? oneOf(relations[0]?.values ?? [], draw) : null;
  const base: FactBase = { facts: names.size, train: [], heldOut: [] };
  for (const { values, train, exam } of relations)
    for (const value of shuffled(values, draw).slice(0, FACTS_PER_RELATION)) {
      const fact = left.pop() ?? '';
      const word = only ?? value;
      const asked = (wording: string): Question => ({
        fact,
        question: wording.replaceAll('{}', fact),
        answer: `${word.slice(0, 1).toUpperCase()}${word.slice(1)}.`,
      });
      base.train.push(...train.map(asked));
      base.heldOut.push(...exam.map(asked));
    }
  return base;
}
