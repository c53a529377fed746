/**
 * The catalogue of commands: what the validator, the interpreter and `explain` need to know of a
 * command without its code. Whether a command is quick decides what a run's history looks like, so
 * changing `speed` of a built command is a change of behaviour (interpreter/changes.ts).
 */
import { watchTimeoutMs } from './limits.ts';
import type { CommandStep } from './model.ts';

export type Permission = 'read' | 'write' | 'shell' | 'delete' | 'network';

export interface CommandEntry {
  permission: Permission;
  /** Where a command has several operations: the class of those that differ from `permission`. */
  operations?: { readonly [operation: string]: Permission };
  /** quick: local and short; reads, or writes to our own store only. long: everything else. */
  speed: 'quick' | 'long';
  /** How long a step may take that does not say; `commandTimeoutMs` unless stated. */
  timeoutMs?: number;
  /** The field that stands for the result where it is used as text. */
  text?: string;
  /** Parameters that are text: what they refer to stands for its text there. */
  textParams?: readonly string[];
  /** False for commands that are part of the format but not built yet. */
  built: boolean;
}

const quickRead = (text?: string): CommandEntry => ({
  permission: 'read',
  speed: 'quick',
  built: true,
  ...(text ? { text } : {}),
});
const planned = (permission: Permission): CommandEntry => ({ permission, speed: 'long', built: false });

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  'code/read': quickRead('content'),
  'code/write': { permission: 'write', speed: 'long', textParams: ['content'], built: true },
  'code/git': {
    permission: 'write',
    operations: { diff: 'read', log: 'read', push: 'network' },
    speed: 'long',
    text: 'output',
    textParams: ['message'],
    built: true,
  },
  'code/shell/execute': { permission: 'shell', speed: 'long', text: 'stdout', built: true },
  'code/shell/sentinel': { permission: 'read', speed: 'long', built: true },
  'code/shell/watch': { permission: 'read', speed: 'long', timeoutMs: watchTimeoutMs, built: true },
  'data/create': { permission: 'write', speed: 'quick', built: true },
  'data/list': quickRead(),
  'data/read': quickRead(),
  'sentinel/run': { permission: 'shell', speed: 'long', built: true },
  'sentinel/start': { permission: 'shell', speed: 'long', built: true },
  'sentinel/pause': { permission: 'write', speed: 'long', built: true },
  'sentinel/resume': { permission: 'write', speed: 'long', built: true },
  'sentinel/stop': { permission: 'write', speed: 'long', built: true },
  'sentinel/cancel': { permission: 'write', speed: 'long', built: true },
  'sentinel/status': quickRead(),
  'sentinel/list': quickRead(),
  'sentinel/logs/list': quickRead(),
  'sentinel/logs/read': quickRead('text'),
  'sentinel/logs/tail': quickRead('text'),
  'sentinel/step/add': { permission: 'write', speed: 'long', built: true },
  'sentinel/step/update': { permission: 'write', speed: 'long', built: true },
  'sentinel/step/remove': { permission: 'write', speed: 'long', built: true },
  'sentinel/step/list': { permission: 'read', speed: 'long', built: true },
  'health-check': quickRead('status'),
  'runtime/metrics/all': quickRead(),

  'sentinel/create': planned('write'),
  'sentinel/save': planned('write'),
  'sentinel/load': planned('read'),
  'sentinel/export': planned('write'),
  'sentinel/import': planned('write'),
  'sentinel/deploy': planned('write'),
  'ai/generate': planned('network'),
  'ai/should-respond': planned('network'),
  'ai/dataset/create': planned('write'),
  'ai/dataset/list': planned('read'),
  'rag/build': planned('read'),
  'code/edit': planned('write'),
  'code/search': planned('read'),
  'code/tree': planned('read'),
  'code/verify': planned('shell'),
  'code/diagnostics': planned('read'),
  'data/update': planned('write'),
  'data/delete': planned('delete'),
  'memory/store': planned('write'),
  'memory/recall': planned('read'),
  'memory/share': planned('write'),
  'inbox/peek': planned('read'),
  'inbox/acknowledge': planned('write'),
  'collaboration/chat/send': planned('write'),
  'workspace/create': planned('write'),
  'workspace/merge': planned('write'),
  'genome/train': planned('write'),
  'genome/layer-register': planned('write'),
  'genome/paging-adapter-register': planned('write'),
  'genome/layer-list': planned('read'),
  'genome/compose': planned('write'),
  'genome/set-active': planned('write'),
  'genome/export': planned('write'),
  'genome/import': planned('write'),
  'genome/dataset-synthesize': planned('write'),
  'genome/train-voice': planned('write'),
  'genome/train-image': planned('write'),
  screenshot: planned('network'),
  search_tools: planned('read'),
};

/** Other names of commands; the reader writes the one of the catalogue. */
const ALIASES: Readonly<Record<string, string>> = { 'shell/execute': 'code/shell/execute' };

/** The name that the catalogue has for a command. */
export function commandNamed(name: string): string {
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
}

export function findCommand(name: string): CommandEntry | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** Commands whose `command` is a line for the shell; all but the first hand it to a run of its own. */
const takesShellLine: ReadonlySet<string> = new Set(['code/shell/execute', 'sentinel/run', 'sentinel/start']);

/** The line that a command hands to a shell; with `args` no shell reads it. */
export function shellLineOf({ command, params = {} }: Pick<CommandStep, 'command' | 'params'>): string | undefined {
  const { command: line, args } = params;
  return takesShellLine.has(command) && args === undefined && typeof line === 'string' ? line : undefined;
}
