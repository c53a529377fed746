/**
 * Nobody sits at a step: what would open an editor, a pager or a prompt and wait for somebody is told so in its
 * environment, and fails at once, or goes on without asking.
 *
 * - N1 What the step sets, and what `SENTINEL_STEP_ENV` names, stands as it is, and so does what a command line says
 *      itself (`EDITOR=… git commit`, `git -c core.editor=…`).
 * - N2 What the worker's own environment says stands, but for editors and pagers that wait for somebody.
 */
import { posix } from 'node:path';
import { gitVariables } from '../own-programs/helper-programs.ts';

const EDITORS =
  'vi vim vim.basic vim.tiny nvim view ex ed nano pico emacs emacsclient joe jed mcedit micro helix hx kak ne editor sensible-editor code code-insiders codium cursor windsurf zed subl atom gedit kate kwrite mate bbedit notepad';
const PAGERS = 'less more most pg lv';
const PROMPTS = 'sudo su passwd login ssh-add ssh-askpass whiptail dialog';

const WAITS: ReadonlySet<string> = new Set(`${EDITORS} ${PAGERS} ${PROMPTS}`.split(' '));

/** Git shows it in its message. The configuration of the user and of the repository may name an editor that waits. */
const EDITOR = ': nobody is there to edit;';
const GIT_CONFIG: readonly (readonly [key: string, value: string])[] = [
  ['core.editor', `${EDITOR} \${VISUAL:-\${EDITOR:-false}}`],
  // As git does without it, whatever chose the editor.
  ['sequence.editor', `${EDITOR} edit() { by=$(git var GIT_EDITOR) && eval "$by \\"\\$@\\""; }; edit`],
];

export const NOBODY_THERE: Readonly<Record<string, string>> = {
  EDITOR: 'false',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  GH_PROMPT_DISABLED: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  ...gitVariables(GIT_CONFIG),
};

/** Variables that name a program, or a terminal at which somebody would be asked. */
const NAMING = ['EDITOR', 'VISUAL', 'PAGER'];
const TERMINAL = 'GPG_TTY';

/** `own`: what is passed on of the worker's environment; `named`: of that, what is passed on whatever it is. */
export function withNobodyThere(
  own: Readonly<Record<string, string>>,
  named: ReadonlySet<string> = new Set(),
): Record<string, string> {
  const kept = Object.entries(own).filter(
    ([name, value]) =>
      named.has(name) || !(name === TERMINAL || (NAMING.includes(name) && (value === '' || waitsForSomebody(value)))),
  );
  return { ...NOBODY_THERE, ...Object.fromEntries(kept) };
}

/** By its name. */
export function waitsForSomebody(line: string): boolean {
  const name = posix.basename(line.trim().split(/\s+/, 1)[0] ?? '');
  return WAITS.has(name) || name.startsWith('pinentry');
}
