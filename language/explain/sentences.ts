/** What a definition does, in order: one sentence a step, indented by the steps around it. */
import { endsEarly, linesAtOnce } from '../blocks.ts';
import { describeLoop, durationWords } from '../graph/describe-loop.ts';
import { approversOf, joinWords, shortened, shownAsText, sleepWords } from '../graph/step-label.ts';
import { failsByExitCode, isShell, withDefaults } from '../failure.ts';
import type { Definition, OnUnknown, ParallelStep, Step } from '../model.ts';
import type { KnownRefs } from './visit.ts';

export interface Sentence {
  path: string;
  depth: number;
  text: string;
}

const nestedMax = 8;

/** Steps that others stand under. */
const HEADS: ReadonlySet<Step['type']> = new Set(['condition', 'loop', 'parallel']);

export function sentencesOf(definition: Definition, known: KnownRefs): Sentence[] {
  const say = new Say(known);
  say.whole(definition, '', 0);
  return say.sentences;
}

class Say {
  readonly sentences: Sentence[] = [];
  readonly #known: KnownRefs;
  #defaults: Definition['defaults'];
  /** Whether a failure here ends branches or items beside it. */
  #endsOthers = false;
  #nested = 0;

  constructor(known: KnownRefs) {
    this.#known = known;
  }

  whole({ loop, steps, always, defaults }: Definition, prefix: string, depth: number): void {
    this.#defaults = defaults;
    const inside = loop.type === 'once' ? depth : depth + 1;
    if (loop.type !== 'once') this.#say(`${prefix}loop`, depth, `Repeats ${describeLoop(loop)}:`);
    this.#block(steps, `${prefix}steps`, inside);
    if (always === undefined) return;
    this.#say(`${prefix}always`, depth, 'At the end, however it ends:');
    this.#block(always, `${prefix}always`, depth + 1);
  }

  #say(path: string, depth: number, text: string): void {
    this.sentences.push({ path, depth, text: shownAsText(text) });
  }

  #block(steps: readonly Step[], path: string, depth: number): void {
    steps.forEach((step, index) => this.#step(step, `${path}.${index}`, depth));
  }

  #step(step: Step, path: string, depth: number): void {
    this.#say(
      path,
      depth,
      `${this.#what(step)}${outcomeWords(step, failsByExitCode(step, this.#defaults), this.#endsOthers)}${HEADS.has(step.type) ? ':' : ''}`,
    );
    switch (step.type) {
      case 'condition':
        this.#block(step.then ?? [], `${path}.then`, depth + 1);
        if (step.else !== undefined) this.#branch(`${path}.else`, depth, 'Otherwise:', step.else);
        if (step.always !== undefined) this.#branch(`${path}.always`, depth, 'After either:', step.always);
        return;
      case 'loop':
        return this.#block(step.steps, `${path}.steps`, depth + 1);
      case 'parallel':
        return this.#parallel(step, path, depth + 1);
      case 'sentinel':
        return this.#inside(step, path, depth + 1);
      case 'shell':
      case 'command':
      case 'llm':
      case 'watch':
      case 'emit':
      case 'approval':
      case 'fail':
      case 'set':
      case 'sleep':
      case 'join':
        return;
      default:
        step satisfies never;
    }
  }

  #parallel(step: ParallelStep, path: string, depth: number): void {
    const around = this.#endsOthers;
    this.#endsOthers = endsEarly(step);
    if (step.branches === undefined) this.#block(step.steps ?? [], `${path}.steps`, depth);
    else
      step.branches.forEach((branch, index) =>
        this.#branch(`${path}.branches.${index}`, depth, `Branch ${index + 1}:`, branch),
      );
    this.#endsOthers = around;
  }

  #branch(path: string, depth: number, title: string, steps: readonly Step[]): void {
    this.#say(path, depth, title);
    this.#block(steps, path, depth + 1);
  }

  #inside(step: Extract<Step, { type: 'sentinel' }>, path: string, depth: number): void {
    const definition = '$ref' in step.definition ? this.#known(step.definition.$ref) : step.definition;
    if (definition === undefined || this.#nested >= nestedMax) return;
    const around = this.#defaults;
    this.#nested += 1;
    this.whole('$ref' in step.definition ? definition : withDefaults(definition, around), `${path}/`, depth);
    this.#nested -= 1;
    this.#defaults = around;
  }

  #what(step: Step): string {
    const name = step.name === undefined ? '' : `${shortened(step.name)}: `;
    return `${name}${whatOf(step)}`;
  }
}

function whatOf(step: Step): string {
  switch (step.type) {
    case 'shell':
      return `runs \`${shortened([step.command, ...(step.args ?? []).map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)))].join(' '))}\`${step.cwd === undefined ? '' : ` in ${step.cwd}`}`;
    case 'command':
      return `calls ${step.command}${paramWords(step.params)}`;
    case 'llm':
      return `asks ${step.model === undefined || step.model === 'auto' ? 'a model' : step.model}${step.prompt === undefined ? '' : ` "${shortened(step.prompt)}"`}${(step.tools ?? []).length === 0 ? '' : `, which may call ${step.tools?.join(', ')}`}`;
    case 'watch':
      return step.event === undefined
        ? `watches process ${step.executionId ?? ''} until ${untilWords(step.until)}`
        : `waits for the event "${step.event}"`;
    case 'emit':
      return `emits the event "${step.event}"`;
    case 'approval':
      return `asks ${approversOf(step)} "${shortened(step.message)}"`;
    case 'fail':
      return `fails${step.code === undefined ? '' : ` with ${step.code}`}: "${shortened(step.message)}"`;
    case 'join':
      return `waits until the runs ${shortened(joinWords(step))} have ended`;
    case 'sleep':
      return step.until === undefined ? `waits for ${sleepWords(step)}` : `waits ${sleepWords(step)}`;
    case 'set':
      return `sets ${valueWords(step.values)}`;
    case 'condition':
      return `if ${shortened(step.check)}`;
    case 'loop':
      return `repeats ${describeLoop(step.loop)}`;
    case 'parallel':
      return parallelWords(step);
    case 'sentinel':
      return `runs the sentinel ${'$ref' in step.definition ? step.definition.$ref : step.definition.name}${step.await === false ? ' and does not wait for it' : ''}`;
    default:
      return step satisfies never;
  }
}

function parallelWords(step: ParallelStep): string {
  const { branches = [], over, as = 'item', maxConcurrency } = step;
  const ending = endsEarly(step) ? '; the first failure ends all' : '';
  if (over === undefined)
    return `runs ${branches.length} branches at once${maxConcurrency === undefined ? '' : `, ${maxConcurrency} at a time`}${ending}`;
  const collected = endsEarly(step) ? '' : '; a failure is the result of its item';
  return `for each $${as} of ${shortened(over)}, ${linesAtOnce(step)} at a time${ending}${collected}`;
}

function untilWords(until: 'finished' | 'error' | 'match' | undefined): string {
  if (until === 'error') return 'a line is an error';
  return until === 'match' ? 'a line matches' : 'it has finished';
}

function valueWords(values: { [name: string]: unknown }): string {
  const words = Object.entries(values).map(([name, value]) => `$${name} to ${JSON.stringify(value)}`);
  return words.length === 0 ? 'nothing' : shortened(words.join(', '));
}

function paramWords(params: { [name: string]: unknown } | undefined): string {
  const words = Object.entries(params ?? {}).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return words.length === 0 ? '' : ` with ${shortened(words.join(', '))}`;
}

/** What becomes of it: kept as a variable, bounded, tried again, passed over. */
function unknownWords(type: Step['type'], how: OnUnknown): string {
  const when = `if ${type === 'llm' ? 'the outcome of a call' : 'its outcome'} is unknown`;
  if (typeof how === 'object') return `has ${how.verify} say whether it was done ${when}`;
  const words = { ask: 'asks its persona', skip: 'goes on', retry: type === 'llm' ? 'calls again' : 'runs again' };
  return `${words[how]} ${when}`;
}

function outcomeWords(step: Step, failsByCode: boolean, endsOthers: boolean): string {
  const words: string[] = [];
  if ('outputTo' in step && step.outputTo !== undefined) words.push(`keeps the result as $${step.outputTo}`);
  if (step.timeoutMs !== undefined) words.push(`takes at most ${durationWords(step.timeoutMs)}`);
  if (failsByCode) words.push('fails if its exit code is not 0');
  if (endsOthers && isShell(step) && !failsByCode) words.push('whatever its exit code, the others go on');
  // Its exit code is a result.
  const rarely = isShell(step) && !failsByCode ? ' if it cannot be started or runs too long' : '';
  const attempts = step.retry?.attempts ?? (step.onError === 'retry' ? 3 : 1);
  if (attempts > 1) words.push(`is tried up to ${attempts} times${rarely}`);
  if ('onUnknown' in step && step.onUnknown !== undefined) words.push(unknownWords(step.type, step.onUnknown));
  if (step.onError === 'skip') words.push(`is passed over${rarely === '' ? ' if it fails' : rarely}`);
  if (words.length === 0) return '';
  return HEADS.has(step.type) ? ` (${words.join(', ')})` : `; ${words.join(', ')}`;
}
