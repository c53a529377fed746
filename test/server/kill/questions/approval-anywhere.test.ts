/**
 * Approval anywhere, over a dead worker: a run waits at every place for every kind of answer, and its worker is
 * killed. The answer is sent while no worker is up, and sent again to the next worker. approval-anywhere.md beside
 * this file is a snapshot of how each run ended (`vitest -u` writes it).
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientError } from '../../../../runs/client-error.ts';
import { questionFor } from '../../../../client/lookup/find-question.ts';
import { answerRun, editRun, updateRun } from '../../../../runs/steer-run.ts';
import type { Definition, Step } from '../../../../language/model.ts';
import type { Choice } from '../../../../language/events/question.ts';
import type { EditRequest } from '../../../../interpreter/edits.ts';
import { PLACES, placedIn, type Place } from '../../../interpreter/questions/approval-table.ts';
import { shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';

const KINDS = [
  'approval step',
  'requireApproval',
  'escalation on error',
  'pause',
  'edit',
  'approval that expires meanwhile',
] as const;
type Kind = (typeof KINDS)[number];

const expiryMs = 4000;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

function asker(kind: Kind): { step: Step; terms?: Partial<Definition>; choice: Choice; suffix?: string } {
  switch (kind) {
    case 'requireApproval':
      return { step: shell('true'), terms: { safety: { requireApproval: ['shell'] } }, choice: 'approve' };
    case 'escalation on error':
      return {
        step: { type: 'command', command: 'code/read', params: { path: 'wanted' } },
        terms: { escalateOn: [{ condition: 'error', action: 'pause' }] },
        choice: 'retry',
        suffix: ':failed',
      };
    case 'approval that expires meanwhile':
      return { step: { type: 'approval', message: 'Go on?', timeoutMs: expiryMs }, choice: 'approve' };
    case 'approval step':
    case 'pause':
    case 'edit':
      return { step: { type: 'approval', message: 'Go on?' }, choice: 'approve' };
    default:
      return kind satisfies never;
  }
}

/** A run that waits: where, for what, and what became of what was said to it. */
class Waiting {
  readonly kind: Kind;
  readonly place: Place;
  handle = '';
  readonly said: string[] = [];
  private readonly keys: readonly string[];
  private readonly definition: Definition;

  constructor(kind: Kind, place: Place) {
    this.kind = kind;
    this.place = place;
    const { step, terms = {} } = asker(kind);
    const { definition, keys } = placedIn(place, [step, { type: 'emit', event: 'after' }], terms);
    this.definition = definition;
    this.keys = keys;
  }

  async start(): Promise<void> {
    this.handle = await harness.start(this.definition);
  }

  /** The handle of the run that holds the step, and the step's key in it. */
  private at(index: number): { owner: string; key: string } {
    const key = this.keys[index] ?? '';
    const behind = key.lastIndexOf('/');
    return {
      owner: behind === -1 ? this.handle : `${this.handle}/${key.slice(0, behind)}`,
      key: key.slice(behind + 1),
    };
  }

  async untilAsked(index: number): Promise<void> {
    const { owner, key } = this.at(index);
    const { suffix = '' } = asker(this.kind);
    const isAsked = (event: { type: string; question?: { id: string } }): boolean =>
      event.type === 'asked' && event.question?.id.replaceAll(/~\d+/g, '') === `${key}${suffix}`;
    await until(
      async () => (await harness.store.runs.find(owner)) !== null && (await harness.events(owner)).some(isAsked),
    );
  }

  private async asked(index: number): Promise<string> {
    const events = await harness.events(this.at(index).owner);
    return events.flatMap((event) => (event.type === 'asked' ? [event.question.id] : []))[index] ?? '';
  }

  /** As a person answers: who comes second is told the first answer. */
  private async answer(index: number, choice: Choice): Promise<string> {
    const { owner } = this.at(index);
    const { id, answer } = await questionFor(harness.store, owner, await this.asked(index));
    if (answer !== null) return 'the first stands';
    const { already } = await answerRun(harness.client, owner, { id, choice, by: 'ada' });
    return already ? 'the first stands' : '';
  }

  private async edit(): Promise<string> {
    const { owner, key } = this.at(0);
    const path = (key.split('@')[0] ?? '').replace(/\.0$/, '.1');
    const request: EditRequest = {
      op: 'update',
      path,
      step: { type: 'emit', event: 'edited' },
      revision: 0,
      by: 'ada',
    };
    const { from } = await editRun(harness.client, owner, request);
    return from === 'now' ? 'edited' : 'edited from the next pass';
  }

  private async say(word: () => Promise<string>): Promise<void> {
    this.said.push(await word().catch((error: unknown) => `refused (${refusalOf(error)})`));
  }

  /** While the worker lives: only a pause has to come before, and to have reached the nested run. */
  async before(): Promise<void> {
    if (this.kind !== 'pause') return;
    await updateRun(harness.client, this.handle, 'pause', 'the test says so');
    await harness.untilEvent(this.at(0).owner, ({ type }) => type === 'paused');
  }

  /** While there is no worker: taken up by the next one. */
  async meanwhile(): Promise<void> {
    if (this.kind === 'edit') await this.say(() => this.edit());
    else if (this.kind !== 'approval that expires meanwhile')
      await this.say(() => this.answer(0, asker(this.kind).choice));
  }

  /** To the next worker: the same again, and then whatever the run still waits for. */
  async after(): Promise<void> {
    const { choice } = asker(this.kind);
    switch (this.kind) {
      case 'approval that expires meanwhile':
        await harness.result(this.handle);
        return this.say(() => this.answer(0, choice));
      case 'escalation on error':
        // What failed at first is there in the next pass.
        return this.say(() => this.answer(0, 'abort'));
      case 'pause':
        await this.resume();
        return this.answerRest(choice);
      case 'edit':
        await this.say(() => this.edit());
        await this.answer(0, choice);
        return this.answerRest(choice);
      case 'approval step':
      case 'requireApproval':
        await this.say(() => this.answer(0, 'reject'));
        return this.answerRest(choice);
      default:
        return this.kind satisfies never;
    }
  }

  private async answerRest(choice: Choice): Promise<void> {
    for (let index = 1; index < this.keys.length; index += 1) {
      await this.untilAsked(index);
      await this.answer(index, choice);
    }
  }

  /** What is held has not moved, although it was answered. */
  private async resume(): Promise<void> {
    const { owner } = this.at(0);
    const moved = (await harness.events(owner)).some(
      (event) => event.type === 'step-finished' && event.label === 'after',
    );
    await this.say(async () => {
      await updateRun(harness.client, this.handle, 'resume', true);
      return moved ? 'not held' : 'held, resumed';
    });
  }

  async words(): Promise<string> {
    const { outcome, limit, failure } = await harness.result(this.handle);
    const events = await harness.events(this.at(0).owner);
    const ran = (label: string): boolean =>
      events.some((event) => event.type === 'step-finished' && event.label === label && event.outcome === 'ok');
    const wentOn = ran(this.kind === 'edit' ? 'edited' : 'after');
    const end =
      outcome === 'completed'
        ? wentOn
          ? 'goes on'
          : 'completed without it'
        : [outcome, limit ?? failure?.code].filter(Boolean).join(': ');
    return [...this.said.filter((word) => word !== ''), end].join(', ');
  }
}

function refusalOf(error: unknown): string {
  if (error instanceof ClientError) return error.code;
  throw error;
}

const each = (runs: readonly Waiting[], word: (run: Waiting) => Promise<void>): Promise<unknown> =>
  Promise.all(runs.map((run) => word(run)));

function tableOf(cells: ReadonlyMap<string, string>): string {
  const rows = PLACES.map(
    (place) => `| ${[place, ...KINDS.map((kind) => cells.get(`${kind}, ${place}`) ?? '')].join(' | ')} |`,
  );
  return [
    `| worker killed while waiting | ${KINDS.join(' | ')} |`,
    `|---|${KINDS.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n');
}

test('a run that waits anywhere outlives its worker, and ends as the snapshot shows', async () => {
  const worker = await harness.startWorker();
  const all = KINDS.flatMap((kind) => PLACES.map((place) => new Waiting(kind, place)));
  const [lasting, expiring] = [
    all.filter(({ kind }) => kind !== 'approval that expires meanwhile'),
    all.filter(({ kind }) => kind === 'approval that expires meanwhile'),
  ];
  for (const runs of [lasting, expiring]) {
    await each(runs, (run) => run.start());
    await each(runs, (run) => run.untilAsked(0));
  }
  await each(all, (run) => run.before());
  await worker.kill9();
  writeFileSync(`${harness.project}/wanted`, 'here');
  const expired = sleep(expiryMs);
  const meanwhile = each(all, (run) => run.meanwhile());
  await expired;
  await harness.startWorker();
  await meanwhile;
  await each(all, (run) => run.after());
  const cells = new Map<string, string>();
  for (const run of all) cells.set(`${run.kind}, ${run.place}`, await run.words());
  await expect(`${tableOf(cells)}\n`).toMatchFileSnapshot('approval-anywhere.md');
});
