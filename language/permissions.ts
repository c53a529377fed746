/**
 * What a step may touch, and which mode lets it. A step's class is known from its type or its
 * command (by operation where a command has several); what talks to the engine alone (conditions,
 * events, approvals, models, nested runs) has none, and its inner steps have their own.
 *
 * - full: everything.
 * - sandboxed: processes see the project alone and no network; commands that need the network, or
 *   that start a run outside this one, are refused.
 * - readonly: only what reads. A shell line may do anything, so it is refused as well.
 */
import { findCommand, type Permission } from './commands.ts';
import type { Definition, Step } from './model.ts';

export type Mode = NonNullable<Definition['mode']>;

/** How the processes of a step are held in; absent means not at all. */
export interface Confinement {
  sandboxed?: true;
  memoryMb?: number;
}

const strictness: readonly Mode[] = ['full', 'sandboxed', 'readonly'];

/** What holds for a run: its own mode or the one it inherits, whichever allows less. */
export function stricter(own: Mode | undefined, inherited: Mode | undefined): Mode {
  return strictness.indexOf(own ?? 'full') >= strictness.indexOf(inherited ?? 'full')
    ? (own ?? 'full')
    : (inherited ?? 'full');
}

/** A command that nobody knows counts as the worst. */
export function permissionOfCommand(
  name: string,
  params: { readonly [name: string]: unknown } | undefined,
): Permission {
  const entry = findCommand(name);
  if (entry === undefined) return 'shell';
  const operation = params?.['operation'];
  const own =
    typeof operation === 'string' && entry.operations !== undefined && Object.hasOwn(entry.operations, operation)
      ? entry.operations[operation]
      : undefined;
  return own ?? entry.permission;
}

export function permissionOf(step: Step): Permission | null {
  switch (step.type) {
    case 'shell':
      return 'shell';
    case 'command':
      return permissionOfCommand(step.command, step.params);
    case 'emit':
    case 'llm':
    case 'watch':
    case 'approval':
    case 'condition':
    case 'loop':
    case 'parallel':
    case 'sentinel':
      return null;
    default:
      return step satisfies never;
  }
}

/** A run that one of these starts is nobody's child, so no mode reaches it. */
const startsElsewhere = new Set(['sentinel/run', 'sentinel/start']);
/** Nor does it reach the run that one of these edits. */
const editsElsewhere = new Set(['sentinel/step/add', 'sentinel/step/update', 'sentinel/step/remove']);
/** Nor the run that one of these controls, which may be any. */
const controlsElsewhere = new Set(['sentinel/pause', 'sentinel/resume', 'sentinel/stop', 'sentinel/cancel']);

/** Why a mode refuses what a step would do, as the second half of a sentence; null where it does not. */
export function refusalOf(
  mode: Mode | undefined,
  what: { permission: Permission | null; command?: string },
): string | null {
  const { permission, command } = what;
  if (mode === undefined || mode === 'full' || permission === null || permission === 'read') return null;
  if (mode === 'readonly') return `needs the permission "${permission}", and the run is "readonly"`;
  if (permission === 'network') return 'needs the network, and the run is "sandboxed"';
  if (command !== undefined && startsElsewhere.has(command))
    return 'starts a run that the sandbox does not reach, and the run is "sandboxed"; nest it as a step of type "sentinel"';
  if (command !== undefined && editsElsewhere.has(command))
    return 'edits a run that the sandbox may not reach, and the run is "sandboxed"';
  if (command !== undefined && controlsElsewhere.has(command))
    return 'controls a run that the sandbox may not reach, and the run is "sandboxed"';
  return null;
}
