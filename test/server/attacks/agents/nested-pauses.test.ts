/**
 * A person's pause of a nested run is a person's to lift, also where the run around it is paused and resumed by others.
 * Beside each attempt stands what its agent or model may do: let go on what it has paused itself.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../../language/model.ts';
import { counted, create, once, shell } from '../../harness/definitions.ts';
import { until } from '../../harness/harness.ts';
import { notReplayed } from '../../harness/replayed.ts';
import { connectAgent, type Agent } from '../attempts/agent.ts';
import { useAttacked } from '../attempts/run-attempts.ts';

const attacked = useAttacked();
let careful: Agent;
let trusting: Agent;
beforeAll(async () => {
  [careful, trusting] = await Promise.all([
    connectAgent(attacked.harness),
    connectAgent(attacked.harness, '--allow-approve'),
  ]);
});
afterAll(() => Promise.all([careful.close(), trusting.close()]));

/** A run around another around a third, which writes for as long as nobody holds it. */
async function startDeep(name: string): Promise<{ outer: string; middle: string; inner: string }> {
  const writes = counted(name, 1000, [create(name, { n: 1 }), shell('sleep 0.2')]);
  const around: Step = { type: 'sentinel', definition: once('middle', [{ type: 'sentinel', definition: writes }]) };
  const outer = await attacked.harness.start(once('outer', [around]));
  const middle = `${outer}/steps.0@1`;
  await until(async () => (await written(name)) > 0);
  return { outer, middle, inner: `${middle}/steps.0@1` };
}

const written = async (name: string): Promise<number> => (await attacked.harness.rows(name)).length;
const isHeld = async (handle: string): Promise<boolean> => (await attacked.harness.state(handle)).status === 'paused';
const steer = (agent: Agent, handle: string, how: string): Promise<string> => agent.call('steer_run', { handle, how });
const person = async (verb: 'pause' | 'resume', handle: string): Promise<void> =>
  expect((await attacked.harness.command(verb, handle)).code).toBe(0);
const untilHeld = (...handles: string[]): Promise<void> =>
  until(async () => (await Promise.all(handles.map(isHeld))).every(Boolean));
const untilOn = (...handles: string[]): Promise<void> =>
  until(async () => !(await Promise.all(handles.map(isHeld))).includes(true));
/** What a run says to those nested in it comes a moment later. */
async function staysHeld(handle: string): Promise<void> {
  await attacked.harness.run(once('later', [shell('sleep 1')]));
  expect(await isHeld(handle)).toBe(true);
}

async function ends({ outer, middle, inner }: Awaited<ReturnType<typeof startDeep>>): Promise<void> {
  await steer(careful, outer, 'stop');
  expect(await attacked.harness.result(outer)).toMatchObject({ outcome: 'stopped' });
  expect(await notReplayed(attacked.harness, [outer, middle, inner], 0)).toEqual([]);
}

test.each(['middle', 'inner'] as const)(
  'an agent that pauses and resumes the run around lifts no pause of the %s run by a person',
  async (which) => {
    const deep = await startDeep(`agent-${which}`);
    const { outer, middle, inner } = deep;
    await person('pause', deep[which]);
    await untilHeld(inner);
    expect(await steer(careful, deep[which], 'resume')).toMatch(/^refused: .*paused by somebody else/);
    for (let times = 0; times < 2; times += 1) {
      await steer(careful, outer, 'pause');
      await untilHeld(outer, middle, inner);
      expect(await steer(careful, outer, 'resume')).not.toContain('refused');
      await untilOn(outer);
    }
    await staysHeld(deep[which]);
    expect(await isHeld(inner)).toBe(true);
    expect(await isHeld(middle)).toBe(which === 'middle');
    await person('resume', deep[which]);
    await untilOn(outer, middle, inner);
    await ends(deep);
  },
);

test('what a person pauses while the run around is held stays so, and says why', async () => {
  const deep = await startDeep('meanwhile');
  const { outer, middle, inner } = deep;
  await steer(careful, outer, 'pause');
  await untilHeld(middle, inner);
  await person('pause', inner);
  await steer(careful, outer, 'resume');
  await untilOn(outer, middle);
  await staysHeld(inner);
  expect((await attacked.harness.state(inner)).reason).toBe('a person paused it');
  expect(await attacked.harness.command('status', inner)).toMatchObject({
    out: expect.stringContaining('a person paused it') as string,
  });
  // A person's word to the run around is said of all that is held in it, and so is that of an agent that speaks for one.
  await steer(careful, outer, 'pause');
  await untilHeld(middle, inner);
  await person('resume', outer);
  await untilOn(outer, middle, inner);
  await person('pause', inner);
  await steer(trusting, outer, 'pause');
  await untilHeld(middle);
  await steer(trusting, outer, 'resume');
  await untilOn(outer, middle, inner);
  await ends(deep);
});

test('an agent lets go on what it has paused: the run around, one nested in it, and neither with the other', async () => {
  const deep = await startDeep('own');
  const { outer, middle, inner } = deep;
  await steer(careful, outer, 'pause');
  await untilHeld(outer, middle, inner);
  await steer(careful, outer, 'resume');
  await untilOn(outer, middle, inner);
  await steer(careful, inner, 'pause');
  await steer(careful, outer, 'pause');
  await untilHeld(middle);
  await steer(careful, outer, 'resume');
  await untilOn(middle);
  await staysHeld(inner);
  expect(await steer(careful, inner, 'resume')).not.toContain('refused');
  await untilOn(inner);
  // What a person holds with the run around it, no pause of its own makes the agent's.
  await person('pause', outer);
  await untilHeld(middle, inner);
  await steer(careful, inner, 'pause');
  await steer(careful, inner, 'resume');
  await staysHeld(inner);
  await person('resume', outer);
  await untilOn(outer, middle, inner);
  await ends(deep);
});

test('a model that pauses and resumes the run around lifts no pause of a person', async () => {
  const deep = await startDeep('by-model');
  const { outer, middle, inner } = deep;
  await person('pause', inner);
  const says = async (name: string): Promise<void> => {
    const verbs = ['sentinel_pause', 'sentinel_resume'] as const;
    attacked.scripts.set(name, { handle: name, turns: verbs.map((verb) => [[verb, { handle: outer }]]) });
    const asks = { model: 'openai/some-model', prompt: `${name} Go`, tools: ['sentinel/pause', 'sentinel/resume'] };
    const step: Step = { type: 'llm', onStuck: 'ignore', onError: 'skip', ...asks };
    const { events } = await attacked.harness.run(once(name, [step]), { handle: name });
    expect(events.filter((event) => event.type === 'step-finished' && event.failure !== undefined)).toEqual([]);
    await untilOn(outer, middle);
  };
  await says('lifts');
  await staysHeld(inner);
  await person('resume', inner);
  await untilOn(inner);
  await says('lifts-its-own');
  await untilOn(inner);
  await ends(deep);
});
