/**
 * What a step may touch, and which mode lets it. A step's class is known from its type or its
 * command (by operation where a command has several); what talks to the engine alone (conditions,
 * events, approvals, models, nested runs) has none, and its inner steps have their own.
 *
 * - full: everything.
 * - sandboxed: processes see the project alone and no network; commands that need the network, that
 *   start a run outside this one, or whose code the sandbox does not hold in, are refused.
 * - readonly: only what reads. A shell line may do anything, so it is refused as well.
 */
import { findCommand, type Catalogue, type Permission } from './catalogue.ts';
import type { Definition, Step } from './model.ts';

export type Mode = NonNullable<Definition['mode']>;

/** How a step is held in; absent means not at all. */
export interface Confinement {
  mode?: Exclude<Mode, 'full'>;
  /** Of its processes together. */
  memoryMb?: number;
  /** A model asks for it, or a program that a model brought. */
  byModel?: true;
  /** A person is to be asked before a program runs that the project chooses. */
  asksForPrograms?: true;
  /** The folder it works in, absolute, where that is not the project: a workspace of the run. */
  root?: string;
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
  catalogue: Catalogue,
  name: string,
  params: { readonly [name: string]: unknown } | undefined,
): Permission {
  const entry = findCommand(catalogue, name);
  if (entry === undefined) return 'shell';
  const operation = params?.['operation'];
  const own =
    typeof operation === 'string' && entry.operations !== undefined && Object.hasOwn(entry.operations, operation)
      ? entry.operations[operation]
      : undefined;
  return own ?? entry.permission;
}

export function permissionOf(catalogue: Catalogue, step: Step): Permission | null {
  switch (step.type) {
    case 'shell':
      return 'shell';
    case 'command':
      return permissionOfCommand(catalogue, step.command, step.params);
    case 'emit':
    case 'llm':
    case 'watch':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
    case 'condition':
    case 'loop':
    case 'parallel':
    case 'sentinel':
      return null;
    default:
      return step satisfies never;
  }
}

/** Whether a command may change files of the project, by its permission: it is then done between two states of it. */
export function mayWriteFiles(
  catalogue: Catalogue,
  name: string,
  params: { readonly [name: string]: unknown } | undefined,
): boolean {
  const entry = findCommand(catalogue, name);
  if (entry === undefined || entry.speed === 'quick' || entry.otherRuns !== undefined) return false;
  const permission = permissionOfCommand(catalogue, name, params);
  // Of what needs the network, code of others may.
  return permission === 'network' ? entry.unconfined === true : permission !== 'read';
}

/** What a command of a run would do. */
interface Commanded {
  command: string;
  params: { readonly [name: string]: unknown };
  /** Of the run. */
  handle: string;
}

/**
 * Whether an action waits for approval: its class has to be approved, or it edits another run, where what
 * it brings happens with that run's rights.
 */
export function isToApprove(
  catalogue: Catalogue,
  required: readonly Permission[],
  permission: Permission | null,
  commanded?: Commanded,
): boolean {
  if (permission === null || required.length === 0) return false;
  if (required.includes(permission) || commanded === undefined) return required.includes(permission);
  const { command, params, handle } = commanded;
  const { otherRuns, uses } = findCommand(catalogue, command) ?? {};
  return uses?.edits === true || (otherRuns === 'edits' && params['sentinelId'] !== handle);
}

/** A run that a command starts is nobody's child, and one that it edits or controls may be any. */
const OUTSIDE_SANDBOX = {
  starts:
    'starts a run that the sandbox does not reach, and the run is "sandboxed"; nest it as a step of type "sentinel"',
  edits: 'edits a run that the sandbox may not reach, and the run is "sandboxed"',
  defines: 'stores a definition that others run outside the sandbox, and the run is "sandboxed"',
  controls: 'controls a run that the sandbox may not reach, and the run is "sandboxed"',
};

/** Why a mode refuses what a step would do, as the second half of a sentence; null where it does not. */
export function refusalOf(
  catalogue: Catalogue,
  mode: Mode | undefined,
  what: { permission: Permission | null; command?: string },
): string | null {
  const { permission, command } = what;
  if (mode === undefined || mode === 'full' || permission === null || permission === 'read') return null;
  if (mode === 'readonly') return `needs the permission "${permission}", and the run is "readonly"`;
  if (permission === 'network') return 'needs the network, and the run is "sandboxed"';
  const entry = command === undefined ? undefined : findCommand(catalogue, command);
  if (entry?.unconfined === true)
    return `runs outside the sandbox with the permission "${permission}", and the run is "sandboxed"`;
  const otherRuns = entry?.otherRuns;
  return otherRuns === undefined ? null : OUTSIDE_SANDBOX[otherRuns];
}
