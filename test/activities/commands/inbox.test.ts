/** The inbox, as steps, models and persons reach it. */
import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();

const { step } = commandsOf(opened, registry);

const run = async (name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  step(name, params, await temporaryFolder(), over);

const definition: Definition = { name: 'stored', loop: { type: 'once' }, steps: [{ type: 'emit', event: 'e' }] };

describe('the inbox', () => {
  it('is listed by persona and by run, and what was told is marked as seen', async () => {
    const { hash } = await opened.store.definitions.save(definition);
    const told = async (handle: string, project: string): Promise<void> => {
      const row = { handle, name: 'stored', definitionHash: hash, project, persona: 'ada', parent: null, inputs: {} };
      await opened.store.runs.create({ ...row, startedAt: 5 });
      await opened.store.events.append(handle, [
        {
          seq: 0,
          key: 'steps.0@1',
          at: 5,
          type: 'notified',
          condition: 'error',
          priority: 'normal',
          assignee: 'inbox-ada',
          message: `told by ${handle}`,
        },
      ]);
    };
    await told('inbox-one', '/one');
    await told('inbox-two', '/two');
    const items = async (params: JsonObject = {}, over: Partial<CommandContext> = {}): Promise<unknown[]> =>
      ((await run('inbox/list', { personaId: 'inbox-ada', ...params }, over)) as JsonObject[]).map(
        (item) => item['handle'],
      );
    expect(await items()).toEqual(['inbox-two', 'inbox-one']);
    expect(await items({ limit: 1 })).toEqual(['inbox-two']);
    const asModel: Partial<CommandContext> = {
      run: { handle: 'by-model', project: '/one', persona: 'ada', definitionHash: hash },
      confinement: { byModel: true },
    };
    expect(await items({}, asModel)).toEqual(['inbox-one']);
    await expect(run('inbox/acknowledge', { personaId: 'inbox-ada' }, asModel)).rejects.toThrow(/is not called/);
    await expect(run('sentinel/delete', { name: 'stored' }, asModel)).rejects.toThrow(/is not called/);
    await expect(run('inbox/acknowledge', {})).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
    expect(await run('inbox/acknowledge', { handle: 'inbox-one' })).toEqual({ seen: 1 });
    expect(await run('inbox/acknowledge', { handle: 'inbox-one' })).toEqual({ seen: 0 });
    expect(await items()).toEqual(['inbox-two']);
    expect(await items({ all: true })).toEqual(['inbox-two', 'inbox-one']);
    expect(await run('inbox/acknowledge', { itemId: 'steps.0@1:error', handle: 'inbox-two' })).toEqual({ seen: 1 });
    expect(await items()).toEqual([]);
  });
});
