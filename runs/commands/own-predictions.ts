/** What the commands of a project say that they would do, for a simulation, which runs `predict` itself. */
import { valueFault, type Json, type JsonObject } from '../../language/json.ts';
import type { Predicted } from '../../operations/predicted.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { OwnCommand } from '../../services/commands/own-commands.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';

export function ownPredictions({
  commands,
  systems,
}: Pick<ProjectConfig, 'commands' | 'systems'>): { name: string; predict(params: JsonObject): Predicted }[] {
  const all = [...commands, ...systems.flatMap((system) => system.commands)];
  return all.flatMap(({ name, predict, ...own }) =>
    predict === undefined ? [] : [{ name, predict: (params) => predicted({ name, predict, ...own }, params) }],
  );
}

function predicted({ name, params: schema, result, predict }: OwnCommand, params: JsonObject): Predicted {
  const given = schema.safeParse(params);
  // What a reference came to in a simulation may be nothing that the command takes.
  if (!given.success || predict === undefined) return { text: name, source: 'assumed' };
  const read = result.safeParse(predict(given.data));
  const fault = read.success ? valueFault(read.data, `what ${name} predicts`) : null;
  if (!read.success || fault !== null)
    throw new Failure('COMMAND_RESULT_INVALID', `${name}: what it predicts is not its result; correct its "predict"`);
  return { text: name, source: 'assumed', result: JSON.parse(JSON.stringify(read.data ?? null)) as Json };
}
