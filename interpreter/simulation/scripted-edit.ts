/** What a script says to a run: an edit for the revision that it is at, with a step that is canonical, and what a model is told. */
import { entriesOfSteps, type Catalogue } from '../../language/catalogue.ts';
import type { Step } from '../../language/model.ts';
import { editRefusal, isSegmentInFlight, takeEdit } from '../edits.ts';
import { record, type Walk } from '../walk-state.ts';
import { revisionOf } from '../edited-paths.ts';
import { takeTell, tellRefusal } from '../models/telling.ts';
import type { Interruption } from './script.ts';
import type { Simulation } from './simulation.ts';

interface Edited {
  simulation: Simulation;
  catalogue: Catalogue;
}

/** What is refused is in the trace, as a warning. */
export function makeScriptedEdit(walkOf: () => Walk, world: Edited, { at, edit }: Interruption): void {
  if (edit === undefined) throw new Error(`the script edits at ${at} and does not say what`);
  const walk = walkOf();
  if (isSegmentInFlight(walk)) {
    world.simulation.schedule(1, () => makeScriptedEdit(walkOf, world, { at, do: 'edit', edit }));
    return;
  }
  const request = { revision: revisionOf(walk), by: 'someone', ...edit };
  const refusal = editRefusal(walk, request);
  const step = (edit.step ?? null) as Step | null;
  if (refusal === null)
    takeEdit(walk, request, { step, catalogue: entriesOfSteps(world.catalogue, step === null ? [] : [step]) });
  else record(walk, { type: 'warning', key: '', ...refusal });
}

/** The same of what a model is told, by its place in the script where it has no id. */
export function makeScriptedTell(walk: Walk, { at, tell }: Interruption): void {
  if (tell === undefined) throw new Error(`the script tells something at ${at} and does not say what`);
  const request = { id: `at ${at}: ${tell.text}`, by: 'someone', ...tell };
  const refusal = tellRefusal(walk, request);
  if (refusal === null) takeTell(walk, request);
  else record(walk, { type: 'warning', key: '', ...refusal });
}
