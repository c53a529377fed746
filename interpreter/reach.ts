/**
 * What of the protected an action may reach: of a step, the files that its definition names; of a call of a model,
 * those that `safety.allowFiles` names, and the secrets that the step's prompt names. What a model has started
 * reaches no more than the model.
 */
import { entryOf, startsRuns } from '../language/catalogue.ts';
import type { CommandStep, LlmStep } from '../language/model.ts';
import { secretFilesIn } from '../language/rights/secret-files.ts';
import { handedIn } from '../language/read/started-program.ts';
import type { Reach } from '../language/rights/reach.ts';
import { defined } from '../language/defined.ts';
import { heldAsDraft, type Hands } from './drafts.ts';
import type { CommandEffect, Inheritance, RunLimits } from './effect.ts';
import { rightsOf } from './limits.ts';
import { callable } from './offered.ts';
import type { Walk } from './walk-state.ts';

/** Of a command step, as it is written. */
export function reachOf({ input: { limits } }: Walk, step: CommandStep): { reach?: Reach } {
  const named = limits.brought === undefined ? secretFilesIn(step.params) : [];
  return shown({ files: [...(limits.files ?? []), ...named], tools: limits.brought?.tools });
}

/** Of a call of a model. */
export function reachOfCall(walk: Walk, step: LlmStep, command: string): { reach?: Reach } {
  const { catalogue, limits } = walk.input;
  const entry = entryOf(catalogue, command);
  const bringsProgram = entry.otherRuns !== undefined || startsRuns(entry);
  return shown({
    files: limits.files ?? [],
    env: secretsNamed(step),
    tools: bringsProgram ? callable(walk, step) : undefined,
  });
}

const ENV = /\benv\.([A-Za-z_]\w*)/g;

/** Variables that stand in what the definition tells the model, by name. */
export function secretsNamed({ system = '', messages = [], prompt = '' }: LlmStep): string[] {
  const told = [system, prompt, ...messages.map(({ content }) => content)].join('\n');
  return [...new Set([...told.matchAll(ENV)].map(([, name = '']) => name))];
}

function shown({ files = [], env = [], tools }: Pick<Reach, 'files' | 'env'> & { tools: Reach['tools'] | undefined }): {
  reach?: Reach;
} {
  const reach: Reach = {
    ...(files.length === 0 ? {} : { files }),
    ...(env.length === 0 ? {} : { env }),
    ...defined({ tools }),
  };
  return Object.keys(reach).length === 0 ? {} : { reach };
}

/** A command that stores or starts what a model has drafted does it as if that model had called it. */
export const asDrafted = (effect: CommandEffect, hands: Hands): CommandEffect => {
  const tools = effect.reach?.tools?.filter((tool) => hands.includes(tool)) ?? [...hands];
  return {
    ...effect,
    confinement: { ...effect.confinement, byModel: true },
    reach: { ...effect.reach, tools, isDraft: true },
  };
};

/** What a run inherits that a command starts. One that a model brings is held to what the model may call. */
export function inheritanceOf(
  { input: { catalogue, depth, limits } }: Walk,
  { command, call, params, reach }: CommandEffect,
): Inheritance {
  const rights = rightsOf(limits);
  if (reach?.isDraft === true) return { depth: depth + 1, limits: heldAsDraft(rights, reach.tools ?? []) };
  if (call === undefined) return { depth: depth + 1, limits: rights };
  // What the code of another command starts is known when it starts it (operations/brought.ts).
  const handed = entryOf(catalogue, command).otherRuns === 'starts' ? handedIn(params) : null;
  const isOwn = handed !== null && !('name' in handed) && reach?.tools !== undefined;
  const brought: RunLimits['brought'] = isOwn ? { tools: reach.tools ?? [] } : (limits.brought ?? {});
  return { depth: depth + 1, limits: { ...rights, brought } };
}
