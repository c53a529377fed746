/** An effect that somebody wants, and who judges it. */
import type { Catalogue, Permission } from '../language/catalogue.ts';
import { permissionOfCommand } from '../language/permissions.ts';
import type { Effect } from './effect.ts';
import type { Strand } from './host.ts';
import type { Walk } from './walk-state.ts';
import type { Stage, Verdict } from './verdict.ts';

/** What it does stands in the effect, which is a closed union by its `type`. */
export interface Action {
  effect: Effect;
  /** Who wants it: a step as a person wrote it, or a model, with what it has started. */
  by: 'step' | 'model';
  permission: Permission | null;
}

/** Pure: it looks at the action and at the run, and asks nobody. */
export interface Judge {
  stage: Stage;
  judge(action: Action, walk: Walk, strand: Strand): readonly Verdict[];
}

export function actionOf({ input: { catalogue, limits } }: Walk, effect: Effect): Action {
  const isByModel = effect.confinement?.byModel === true || limits.brought !== undefined;
  return { effect, by: isByModel ? 'model' : 'step', permission: permissionIn(catalogue, effect) };
}

function permissionIn(catalogue: Catalogue, effect: Effect): Permission | null {
  if (effect.type === 'shell') return 'shell';
  return effect.type === 'command' ? permissionOfCommand(catalogue, effect.command, effect.params) : null;
}
