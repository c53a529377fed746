/**
 * The replies, answers and edits of a run that was lived, for the scripted host, in the order in which
 * they came: each reply takes as long as it needs to come after what it came after.
 *
 * - O1 What is made at an edit has a key with the edit's number. So a step that the scripted walk is
 *      about to begin under a key that the lived one never had began after the next edit, which is made there,
 *      with those that came right after it. Where another line of the run was to begin a step before that edit and
 *      has not come to it, the one that is early waits for the edit: made at once, it would come too early for the other.
 * - O2 Every other edit is made at its place among the ends of the run's steps.
 * - O3 A nested run lives right before the end of the step that waits for it: nothing that happens in one
 *      run depends on when it does in the other.
 */
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Edited, RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import { answersIn, keyIn, type RunPart } from '../../../authoring/definition-tests/record/record-people.ts';
import type { Effect, TurnEffect } from '../../../interpreter/effect.ts';
import { STARTS_AT } from '../../../interpreter/simulation/run-scenario.ts';
import type { Answers, Interruption, ScriptedAnswer, ScriptedReply } from '../../../interpreter/simulation/script.ts';
import { turnOf } from './chaos-model.ts';

/** Between two things that happen: longer than anything that the scripted host does by itself. */
const apartMs = 1000;

type Happening = Extract<RunEvent, { type: 'step-finished' | 'answered' | 'edited' }>;

export class LivedScript implements Answers {
  private readonly parts: ReadonlyMap<string, readonly RunEvent[]>;
  private readonly keys = new Map<string, ReadonlySet<string>>();
  private readonly dueAt = new Map<string, number>();
  private readonly answers: JsonObject;
  private readonly announced = new Set<string>();
  /** Steps that the scripted walk has come to, and those of them that it came to before their time. */
  private readonly reached = new Set<string>();
  private readonly late = new Set<string>();
  private now = STARTS_AT;

  constructor(parts: readonly RunPart[]) {
    this.parts = new Map(parts.map(({ under, events }) => [under, events.toSorted((a, b) => a.seq - b.seq)]));
    for (const [under, events] of this.parts) this.keys.set(under, new Set(events.map(({ key }) => key)));
    for (const [index, happening] of this.inTurn('').entries())
      this.dueAt.set(happening, STARTS_AT + (index + 1) * apartMs);
    this.answers = answersIn(parts);
  }

  clockMoved(now: number): void {
    this.now = now;
  }

  find(key: string, effect: Effect): ScriptedReply | null {
    if (effect.type === 'sentinel') return null;
    if (effect.type === 'turn') return this.turn(key, effect);
    const tookMs = this.leftUntil(`end ${key}`);
    const failure = this.endOf(key)?.failure;
    if (failure !== undefined) return { ok: false, failure, tookMs };
    return { ok: true, value: effect.type === 'shell' ? { stdout: printedBy(effect.command) } : null, tookMs };
  }

  /** A turn that calls ends before its calls do; the last one ends the step. */
  private turn(key: string, { opening, turn }: TurnEffect): ScriptedReply {
    const value = turnOf(opening.prompt ?? '', turn);
    const step = key.slice(0, key.lastIndexOf('/'));
    const isLast = !Array.isArray(value['calls']) || value['calls'].length === 0;
    return { ok: true, value, tookMs: isLast ? this.leftUntil(`end ${step}`) : 1 };
  }

  lateAtGate(at: string): number {
    const [under, key] = split(at);
    this.reached.add(keyIn(under, attemptsAsOne(key)));
    if (this.keys.get(under)?.has(key) !== false || this.late.has(at)) return 0;
    const edit = this.editsOf(under)[revisionIn(key)];
    if (edit === undefined || !this.isSomethingBefore(under, edit)) return 0;
    this.late.add(at);
    return this.leftUntil(`edit ${keyIn(under, String(edit.revision))}`) + 1;
  }

  /** Whether a step of the run had begun before the edit that the scripted walk has not come to, or had ended that is under way there. */
  private isSomethingBefore(under: string, edit: Edited): boolean {
    return (this.parts.get(under) ?? []).some(
      ({ type, key, seq }) =>
        (type === 'step-started' || type === 'step-finished') &&
        seq < edit.seq &&
        !key.includes('/') &&
        (!this.reached.has(keyIn(under, attemptsAsOne(key))) ||
          (type === 'step-finished' && (this.dueAt.get(`end ${keyIn(under, key)}`) ?? 0) > this.now)),
    );
  }

  interruptionsAt(at: string, when: 'before' | 'during'): Interruption[] {
    const [under, key] = split(at);
    if (when === 'during') return this.announce(under, at);
    if (this.keys.get(under)?.has(key) !== false) return [];
    return this.editsFrom(under, revisionIn(key)).map((edit) => editing(at, 'before', edit));
  }

  /** The edit that is next, and those that were made before the run went a step further: there may be no other step to make them at. */
  private editsFrom(under: string, revision: number): Edited[] {
    const edits = this.editsOf(under).slice(revision);
    const steps = (this.parts.get(under) ?? []).filter(
      ({ type }) => type === 'step-started' || type === 'step-finished' || type === 'pass-finished',
    );
    const apart = edits.findIndex((edit, index) =>
      steps.some(({ seq }) => seq > (edits[index - 1]?.seq ?? edit.seq) && seq < edit.seq),
    );
    return apart === -1 ? edits : edits.slice(0, apart);
  }

  /** The edits that are made while something of the run is under way; of one that was made at a gate, this is too late. */
  private announce(under: string, at: string): Interruption[] {
    if (this.announced.has(under)) return [];
    this.announced.add(under);
    return this.editsOf(under).map((edit) => ({
      ...editing(at, 'during', edit),
      afterMs: this.leftUntil(`edit ${keyIn(under, String(edit.revision))}`),
    }));
  }

  nextHold(): 'resume' {
    return 'resume';
  }

  answersTo(key: string): ScriptedAnswer[] {
    const answer = this.answers[key];
    return answer === undefined
      ? []
      : [{ ...(answer as unknown as ScriptedAnswer), afterMs: this.leftUntil(`answer ${key}`) }];
  }

  private leftUntil(happening: string): number {
    return Math.max(1, (this.dueAt.get(happening) ?? 0) - this.now);
  }

  private endOf(at: string): StepFinished | undefined {
    const [under, key] = split(at);
    return this.parts.get(under)?.find((event) => event.type === 'step-finished' && event.key === key) as
      StepFinished | undefined;
  }

  private editsOf(under: string): Edited[] {
    return (this.parts.get(under) ?? []).filter((event) => event.type === 'edited');
  }

  /** Names of what happens in a run and those nested in it, in its order; what the run was edited after comes last before the edit. */
  private inTurn(under: string): string[] {
    const events = this.parts.get(under) ?? [];
    const happenings = events.filter(isHappening).map((event) => {
      const toldAt = event.type === 'answered' ? endOfAsking(events, event) : event.seq;
      const revision = events.filter((other) => other.type === 'edited' && other.seq < toldAt).length;
      const lateness = event.type === 'edited' ? 2 : isEditedAfter(events, event, revision) ? 1 : 0;
      return { event, rank: [revision, lateness, event.seq] as const };
    });
    return happenings
      .toSorted((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2] - b.rank[2])
      .flatMap(({ event }) => this.namesOf(under, event));
  }

  private namesOf(under: string, event: Happening): string[] {
    if (event.type === 'edited') return [`edit ${keyIn(under, String(event.revision))}`];
    if (event.type === 'answered') return [`answer ${keyIn(under, event.id)}`];
    const inside = event.step === 'sentinel' ? this.inTurn(keyIn(under, event.key)) : [];
    return [...inside, `end ${keyIn(under, event.key)}`];
  }
}

const isHappening = (event: RunEvent): event is Happening =>
  event.type === 'step-finished' || event.type === 'answered' || event.type === 'edited';

/** A run that is held hears an answer at once, and goes on from it when it is resumed: what was edited meanwhile comes first. */
function endOfAsking(events: readonly RunEvent[], { key, seq }: RunEvent): number {
  return events.find((other) => other.type === 'step-finished' && other.key === key && other.seq > seq)?.seq ?? seq;
}

/** Whether the step that comes after an event in its line of execution began with a later edit. */
function isEditedAfter(events: readonly RunEvent[], event: Happening, revision: number): boolean {
  const next = events.find(
    (other) =>
      other.seq > event.seq && other.key !== event.key && other.key !== '' && isInStrandOf(event.key, other.key),
  );
  return next !== undefined && revisionIn(next.key) > revision;
}

/** Whether a key stands in the branch of another, in the same passes of the loops around the branch. */
function isInStrandOf(key: string, other: string): boolean {
  const [[path = '', passes = ''], [otherPath = '', otherPasses = '']] = [key.split('@'), other.split('@')];
  const branch = /^.*\.branches\.\d+\./.exec(path)?.[0] ?? '';
  const loops = branch.split('.').filter((word) => word === 'steps').length;
  const around = (all: string): string => all.split('.').slice(0, loops).join('.');
  return otherPath.startsWith(branch) && around(otherPasses) === around(passes);
}

/** All attempts of a step come to one gate. */
const attemptsAsOne = (key: string): string => key.replaceAll(/#\d+/g, '');

/** What a step prints that prints a word. */
const printedBy = (command: string): string => command.split('printf ')[1] ?? '';

/** The edit that a step began after: the latest of those that its key tells of. */
const revisionIn = (key: string): number =>
  Math.max(0, ...Array.from(key.matchAll(/~(\d+)/g), (found) => Number(found[1])));

function editing(at: string, when: 'before' | 'during', { op, path, after, revision }: Edited): Interruption {
  const step = after === null || op === 'skip' ? {} : { step: after as unknown as Json };
  return { at, when, do: 'edit', edit: { op, path, revision: revision - 1, ...step } };
}

function split(at: string): [under: string, key: string] {
  const slash = at.replace(/\/turn\..*$/, '').lastIndexOf('/');
  return slash === -1 ? ['', at] : [at.slice(0, slash), at.slice(slash + 1)];
}
