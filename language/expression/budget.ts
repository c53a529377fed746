/**
 * What one evaluation may cost: steps (nodes, elements, scanned text) and characters produced. Every
 * loop and every text operation pays before it works, so an evaluation ends after a bounded time
 * whatever the expression and the data are. Running out throws `Halt`, which `tryEvaluate` catches.
 */
import { evaluationCharactersMax, evaluationStepsMax, stringLengthMax, valueDepthMax } from '../limits.ts';
import { isDeeper, type Json } from '../json.ts';
import { textOf, type Fault, type FaultCode } from './scope.ts';

/** A step for so many characters: reading JSON is slower than looking through text. */
const charactersAStep = 16;

export class Halt extends Error {
  readonly fault: Fault;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.fault = { code, message };
  }
}

export interface Limits {
  steps: number;
  characters: number;
}

export class Budget {
  #steps: number;
  #characters: number;
  readonly #written = new Map<object, string>();
  readonly #parsed = new Map<string, Json | undefined>();

  constructor(limits: Limits = { steps: evaluationStepsMax, characters: evaluationCharactersMax }) {
    this.#steps = limits.steps;
    this.#characters = limits.characters;
  }

  get stepsLeft(): number {
    return this.#steps;
  }

  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps < 0)
      throw new Halt('EXPRESSION_BUDGET', 'the expression does too much work; narrow the data first');
  }

  /** Looking through text costs a step for every 256 characters. */
  scan(length: number): void {
    this.spend(1 + (length >>> 8));
  }

  /** What a text stands for, read and paid for once however often it is used. */
  parsed(text: string, read: (text: string) => Json | undefined): Json | undefined {
    if (this.#parsed.has(text)) {
      this.spend();
      return this.#parsed.get(text);
    }
    this.spend(1 + Math.floor(text.length / charactersAStep));
    const value = read(text);
    this.#parsed.set(text, value);
    return value;
  }

  /** A value as text, written out once however often it is used. */
  written(value: Json | undefined): string {
    if (typeof value !== 'object' || value === null) return textOf(value);
    const known = this.#written.get(value);
    if (known !== undefined) return known;
    if (isDeeper(value, valueDepthMax))
      throw new Halt(
        'VALUE_TOO_LARGE',
        `the value is nested deeper than ${valueDepthMax} levels, so it has no text; use a part of it`,
      );
    const text = textOf(value);
    this.#written.set(value, text);
    return text;
  }

  /** A value as text; writing an object out is work that is paid for. */
  text(value: Json | undefined): string {
    const text = this.written(value);
    if (typeof value === 'object' && value !== null) this.produce(text.length);
    return text;
  }

  /** Called before text of this length is made. */
  produce(length: number): void {
    if (length > stringLengthMax) {
      throw new Halt(
        'VALUE_TOO_LARGE',
        `the expression makes a text of ${length} characters; at most ${stringLengthMax} are kept`,
      );
    }
    this.#characters -= length;
    if (this.#characters < 0)
      throw new Halt('EXPRESSION_BUDGET', 'the expression makes too much text; narrow the data first');
  }
}
