/**
 * No loop runs without a bound, its own or one of an enclosing run: a run's limits on time and on
 * passes are spent by everything inside it, so they bound the loops inside it too. An enclosing loop
 * looks at its own bounds only between its passes, so it bounds nothing inside.
 */
import type { Problem } from '../problems.ts';
import { isPlain, type Plain } from './draft.ts';
import type { DefinitionSite, LoopSite, Sites } from './sites.ts';

export function checkBounds(sites: Sites): Problem[] {
  return sites.loops.filter((site) => !isBounded(site)).map(({ loop, path }) => ({
    code: 'UNBOUNDED_LOOP',
    severity: 'error',
    path,
    message: `"${loop.type}" can run for ever here; add "maxIterations" or "timeoutMs" to the loop, or a "safety" with one of them to the definition`,
    fix: 'add "maxIterations": 100 to the loop',
  }));
}

function isBounded(site: LoopSite): boolean {
  const { loop, owner } = site;
  if (loop.type === 'once' || loop.type === 'count') return true;
  if (loop.max !== undefined || loop.maxIterations !== undefined || loop.timeoutMs !== undefined) return true;
  if (typeof owner['timeoutMs'] === 'number') return true;
  return isRunBounded(site.place.definition);
}

function isRunBounded(definition: DefinitionSite): boolean {
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    if (hasLimit(at.value)) return true;
  }
  return false;
}

function hasLimit(definition: Plain): boolean {
  const safety = definition['safety'];
  if (typeof definition['timeoutMs'] === 'number') return true;
  return isPlain(safety) && (typeof safety['maxIterations'] === 'number' || typeof safety['timeoutMs'] === 'number');
}
