/** Twenty personas are handed work by the definition of docs/personas.md, which reads how busy and how pressed they are; and by one that does not. */
import { randomFrom } from '../../server/harness/random.ts';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { stage } from '../../../authoring/simulate/stage.ts';
import { runScenario } from '../../../interpreter/simulation/run-scenario.ts';
import { builtInCatalogue } from '../../../systems/catalogue.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { finished, started, useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

const opened = useStore();
const { person, step } = commandsOf(opened, builtInRegistry());

const PERSONAS = Array.from({ length: 20 }, (_, nth) => `worker-${String(nth).padStart(2, '0')}`);
const TASKS = 70;

const page = readFileSync(new URL('../../../docs/personas.md', import.meta.url), 'utf8');
const leastBusy = JSON.parse(/```json\n(\{\n {2}"name": "least-busy"[^`]*)```/.exec(page)?.[1] ?? '') as Definition;

/** As the run of the definition would choose, of what the command gives now. */
async function chosen(): Promise<string> {
  const personas = await step('persona/list', {}, '/');
  const replies = { 'persona/list': { ok: true, value: personas } };
  const given = { definition: leastBusy, catalogue: builtInCatalogue(), replies };
  const { result } = await runScenario(given, { stage });
  const id: Json | undefined = result.outputs['chosen'];
  if (typeof id !== 'string') throw new Error(`the definition chose ${JSON.stringify(id)}`);
  return id;
}

interface Spread {
  /** Of all personas at any moment. */
  mostAtOnce: number;
  /** Those that were handed anything. */
  at: number;
}

/** A task comes at each moment, and takes from 5 to 34 of them: 19.5 are under way, about one for each persona. */
async function handOut(name: string, choose: (nth: number) => Promise<string>): Promise<Spread> {
  const random = randomFrom(7);
  const ends: { at: number; handle: string; persona: string }[] = [];
  const busy = new Map<string, number>();
  const spread = { mostAtOnce: 0, who: new Set<string>() };
  for (let moment = 0; moment < TASKS; moment += 1) {
    for (const end of ends.filter(({ at }) => at === moment)) {
      await opened.store.events.append(end.handle, [finished(1)]);
      busy.set(end.persona, (busy.get(end.persona) ?? 0) - 1);
    }
    const persona = await choose(moment);
    const handle = `${name}-${moment}`;
    const row = { handle, name, definitionHash: 'h', project: '/', persona, parent: null, inputs: {} };
    await opened.store.runs.create({ ...row, startedAt: moment });
    await opened.store.events.append(handle, [{ ...started(0, name), persona, project: '/' }]);
    ends.push({ at: moment + 5 + Math.floor(random() * 30), handle, persona });
    busy.set(persona, (busy.get(persona) ?? 0) + 1);
    spread.mostAtOnce = Math.max(spread.mostAtOnce, busy.get(persona) ?? 0);
    spread.who.add(persona);
  }
  for (const { handle, at } of ends) if (at >= TASKS) await opened.store.events.append(handle, [finished(1)]);
  return { mostAtOnce: spread.mostAtOnce, at: spread.who.size };
}

it('work spreads by what the definition reads, and does not where it is ignored', async () => {
  for (const personaId of PERSONAS) await person('persona/create', { personaId });
  const random = randomFrom(11);
  const ignored = await handOut('ignored', () =>
    Promise.resolve(PERSONAS[Math.floor(random() * PERSONAS.length)] ?? ''),
  );
  const read = await handOut('read', chosen);
  expect(read.at).toBe(PERSONAS.length);
  expect(read.mostAtOnce).toBeLessThanOrEqual(2);
  expect(ignored.mostAtOnce).toBeGreaterThan(read.mostAtOnce + 1);
}, 120_000);

it('whoever has questions to answer is handed nothing while others have none', async () => {
  const first = await chosen();
  const handle = 'asks-first';
  const row = { handle, name: 'asks', definitionHash: 'h', project: '/', persona: 'ada', parent: null, inputs: {} };
  await opened.store.runs.create({ ...row, startedAt: 1 });
  const question = {
    id: 'steps.0@1',
    kind: 'approval',
    message: 'Well?',
    choices: ['approve'],
    show: null,
    form: null,
    assignee: first,
    priority: 'normal',
    askedAt: 1,
    expiresAt: null,
    digest: '0123',
  } as const;
  await opened.store.events.append(handle, [
    { ...started(0, 'asks'), persona: 'ada', project: '/' },
    { seq: 1, key: 'steps.0@1', at: 1, type: 'asked', question: { ...question, choices: ['approve'] } },
  ]);
  expect(await person('persona/show', { personaId: first })).toMatchObject({ asked: 1, underWay: 0 });
  expect(await chosen()).not.toBe(first);
  await opened.store.events.append(handle, [finished(2)]);
  expect(await chosen()).toBe(first);
});
