/** What a model may do with runs and definitions: no more through them than by itself, and nothing to its own run. */
import type { Catalogue } from '../language/catalogue.ts';
import type { Inheritance } from '../interpreter/effect.ts';
import { outermost } from '../language/events/nested-runs.ts';
import type { Definition } from '../language/model.ts';
import type { Handed } from '../language/read/started-program.ts';
import { stricter } from '../language/permissions.ts';
import { beyondTools, draftRemedy } from '../language/rights/brought-program.ts';
import { Failure } from '../world/failures/failures.ts';
import type { CommandContext } from './command.ts';

/** A definition that a model brings. */
export function refuseBeyond(
  definition: Definition,
  catalogue: Catalogue,
  { reach, confinement }: Pick<CommandContext, 'reach' | 'confinement'>,
): void {
  if (confinement?.byModel !== true || reach?.tools === undefined) return;
  const beyond = beyondTools(definition, catalogue, reach.tools);
  if (beyond === null) return;
  const [whose, remedy] = reach.isDraft === true ? ['drafted', `; ${draftRemedy}`] : ['brings', ''];
  throw exceeds(`the definition "${definition.name}" does more than the model that ${whose} it: ${beyond}${remedy}`);
}

/** A definition as it is stored: one that a model drafted and a step stores is held in wherever it runs. */
export function asStored(definition: Definition, { reach }: Pick<CommandContext, 'reach'>): Definition {
  return reach?.isDraft === true ? { ...definition, mode: stricter('sandboxed', definition.mode) } : definition;
}

/** What a run inherits: one of a definition that a model brings does no more than the model, whichever command starts it. */
export function inheritedFor(
  handed: Handed,
  starts: Inheritance,
  { reach, confinement }: Pick<CommandContext, 'reach' | 'confinement'>,
): Inheritance {
  if (confinement?.byModel !== true || 'name' in handed || reach?.tools === undefined) return starts;
  return { ...starts, limits: { ...starts.limits, brought: { tools: reach.tools } } };
}

/** What is said to a model, and what a run is answered, is a person's word, or the definition's. */
export function refuseSpeaking(what: string, { confinement }: Pick<CommandContext, 'confinement'>): void {
  if (confinement?.byModel === true) throw exceeds(`no model ${what}; make it a step of the definition`);
}

/** Who says something to a run, or answers it: a run, and no person, whoever its persona is. */
export const spokenBy = ({ run }: Pick<CommandContext, 'run'>): string => `run ${outermost(run.handle)}`;

/** Edits are the definition's, and a person's. */
export function refuseEdit({ confinement }: Pick<CommandContext, 'confinement'>): void {
  if (confinement?.byModel === true)
    throw exceeds('no model edits the steps of a run; make the edit a step of the definition');
}

/** A run that is held waits for a person's word; no model of the same run gives it. */
export function refuseResume(handle: string, { run, confinement }: Pick<CommandContext, 'confinement' | 'run'>): void {
  if (confinement?.byModel === true && outermost(handle) === outermost(run.handle))
    throw exceeds(`${handle} is held for a person, and a model of the same run does not let it go on`);
}

/** The run whose model says something to others: what others than models of it have paused, it does not let go on. */
export const modelOf = ({ run, confinement }: Pick<CommandContext, 'confinement' | 'run'>): string | undefined =>
  confinement?.byModel === true ? outermost(run.handle) : undefined;

/** What somebody else changed meanwhile is given up by a person's word, or by the definition's. */
export function refuseForce(force: boolean | undefined, { confinement }: Pick<CommandContext, 'confinement'>): void {
  if (confinement?.byModel === true && force === true)
    throw exceeds('no model forces an undo over what somebody else changed; make it a step of the definition');
}

const exceeds = (finding: string): Failure => new Failure('RIGHTS_EXCEEDED', finding);
