/**
 * Who may do what to runs and in a person's name, whichever door it comes through: a verb of the command line, a command
 * of a step, a tool of `sentinel mcp serve`. The command line and the registry of commands hold to these tables, and
 * docs/safety.md shows them.
 */
import { CHOICES, letsAct } from '../events/question.ts';

/** What a process that a step started is refused at the command line. */
export interface Refusal {
  /** All of it, what one of these options asks for, where the last word is one of these, or a command that does more than read. */
  when: 'always' | { options: readonly string[] } | { words: readonly string[] } | 'acts';
  /** What a run does not do, as in "A run does not … for a person"; `remedy` says what does. */
  does: string;
  remedy: string;
}

export interface Power {
  what: string;
  /** `step add`: a verb of a group. */
  verbs: readonly string[];
  commands: readonly string[];
  tools: readonly string[];
  /** What a model may, through the commands; a dash where no command has the power. */
  model: string;
  /** What a process of a step may, through the verbs. */
  process: string;
  /** What an agent may, through the tools. */
  agent: string;
  /** By verb. */
  refused?: { readonly [verb: string]: Refusal };
}

const NONE = '–';
const persons = (verb: string): string => `a person runs "sentinel ${verb}"`;
const always = (does: string, remedy: string): Refusal => ({ when: 'always', does, remedy });

export const POWERS: readonly Power[] = [
  {
    what: 'start a run',
    verbs: ['run', 'eval', 'fork', 'retry'],
    commands: ['sentinel/run', 'sentinel/start'],
    tools: ['run_sentinel', 'retry_run'],
    model: 'what names only its own tools; what a person saved',
    process: 'yes; no name finds what it starts',
    agent: 'what is saved; a run again from what failed in it',
  },
  {
    what: 'look at runs',
    verbs: [],
    commands: [
      'sentinel/status',
      'sentinel/result',
      'sentinel/list',
      'sentinel/logs/list',
      'sentinel/logs/read',
      'sentinel/logs/tail',
      'sentinel/step/list',
      'sentinel/load',
      'inbox/peek',
      'inbox/list',
    ],
    tools: ['list_sentinels', 'list_runs', 'run_status', 'run_trace', 'run_logs', 'inbox'],
    model: 'runs of its own project',
    process: 'yes',
    agent: 'yes',
  },
  {
    what: 'pause, stop and cancel runs',
    verbs: ['pause', 'stop', 'cancel'],
    commands: ['sentinel/pause', 'sentinel/stop', 'sentinel/cancel'],
    tools: ['steer_run'],
    model: 'runs of its own project',
    process: 'yes; not `cancel --force`',
    agent: 'yes; not by force',
    refused: {
      cancel: {
        when: { options: ['force'] },
        does: 'end runs without their clean-up',
        remedy: `${persons('cancel --force')}; without --force it ends the run`,
      },
    },
  },
  {
    what: 'lift a pause',
    verbs: ['resume'],
    commands: ['sentinel/resume'],
    tools: ['steer_run'],
    model: 'one that models of its own run made, in another run of its project',
    process: 'no',
    agent: 'one that it made',
    refused: { resume: always('lift a pause', `${persons('resume')}; a definition has the command sentinel/resume`) },
  },
  {
    what: 'answer so that the run acts (`approve`, `edit`, `retry`, `extend`)',
    verbs: ['answer'],
    commands: ['sentinel/answer'],
    tools: ['answer'],
    model: 'no; of a persona that is a model, what a person has granted it',
    process: 'no',
    agent: 'only with `--allow-approve`, which no process of a step can give',
    refused: {
      answer: {
        when: { words: CHOICES.filter(letsAct) },
        does: 'answer so that a run acts',
        remedy: persons('answer'),
      },
      'mcp serve': {
        when: { options: ['allowApprove'] },
        does: 'approve',
        remedy: 'a person starts the server with --allow-approve',
      },
    },
  },
  {
    what: 'answer so that the run does less (`reject`, `skip`, `stop`, `abort`)',
    verbs: ['answer'],
    commands: ['sentinel/answer'],
    tools: ['answer'],
    model: 'no',
    process: 'yes, signed as a step',
    agent: 'yes, signed as the agent',
  },
  {
    what: 'edit the steps of a run',
    verbs: ['step add', 'step update', 'step remove', 'step skip'],
    commands: ['sentinel/step/add', 'sentinel/step/update', 'sentinel/step/remove'],
    tools: [],
    model: 'no',
    process: 'no',
    agent: NONE,
    refused: Object.fromEntries(
      ['add', 'update', 'remove', 'skip'].map((op) => [
        `step ${op}`,
        always('edit runs', `${persons(`step ${op}`)}; a definition has the commands sentinel/step/…`),
      ]),
    ),
  },
  {
    what: 'take back what runs changed',
    verbs: ['undo'],
    commands: ['code/undo'],
    tools: [],
    model: 'what its own run changed, and nothing that others have changed since',
    process: 'what nobody has changed since',
    agent: NONE,
    refused: {
      undo: { when: { options: ['force'] }, does: 'overwrite what others changed', remedy: persons('undo --force') },
    },
  },
  {
    what: 'speak as the user to models, rooms and the inbox',
    verbs: ['tell', 'chat', 'inbox', 'inbox clear'],
    commands: [
      'sentinel/tell',
      'collaboration/chat/send',
      'collaboration/chat/read',
      'collaboration/chat/mentions',
      'collaboration/chat/list',
      'inbox/post',
      'inbox/take',
      'inbox/answer',
      'inbox/acknowledge',
    ],
    tools: ['tell_model'],
    model: "no; to rooms and the inbox, in its run's name",
    process: 'no',
    agent: 'yes, signed as the agent',
    refused: {
      tell: always('speak to models', persons('tell')),
      chat: {
        when: { options: ['send'] },
        does: 'speak in rooms',
        remedy: `${persons('chat --send')}; a definition has the command collaboration/chat/send`,
      },
      inbox: { when: { options: ['clear'] }, does: 'mark messages as seen', remedy: persons('inbox --clear') },
      'inbox clear': always('mark messages as seen', persons('inbox clear')),
    },
  },
  {
    what: 'make personas that are models, limit their runs, and say what they may answer, whom a persona trusts and who answers for it',
    verbs: [],
    commands: [
      'persona/create',
      'persona/limit',
      'persona/trust',
      'persona/grant',
      'persona/member',
      'persona/delegate',
    ],
    tools: [],
    model: 'no',
    process: 'no',
    agent: NONE,
  },
  {
    what: 'recall and change what a persona remembers',
    verbs: [],
    commands: ['memory/store', 'memory/recall', 'memory/list', 'memory/share', 'memory/forget'],
    tools: [],
    model: 'stores and recalls for the persona of its run, within its project',
    process: 'recalls',
    agent: 'no',
  },
  {
    what: 'save definitions under names',
    verbs: ['save', 'saved delete'],
    commands: ['sentinel/create', 'sentinel/save', 'sentinel/delete'],
    tools: [],
    model: 'by their id alone',
    process: 'under names that are free',
    agent: NONE,
  },
  {
    what: 'export, import and deploy what is saved',
    verbs: ['saved export', 'saved import', 'saved deploy'],
    commands: ['sentinel/export', 'sentinel/import', 'sentinel/deploy'],
    tools: [],
    model: 'no',
    process: 'no',
    agent: NONE,
    refused: {
      'saved export': always('export', `${persons('saved export')}; a definition has the command sentinel/export`),
      'saved import': always('import', `${persons('saved import')}; a definition has the command sentinel/import`),
      'saved deploy': always('deploy', persons('saved deploy')),
    },
  },
  {
    what: 'let runs start by themselves',
    verbs: ['trigger add', 'trigger pause', 'schedule create', 'schedule pause', 'schedule trigger'],
    commands: [],
    tools: [],
    model: NONE,
    process: 'by new triggers and schedules; it holds any, and replaces none',
    agent: NONE,
    refused: {
      'schedule create': {
        when: { options: ['replace'] },
        does: 'replace schedules',
        remedy: `${persons('schedule create --replace')}; give this one a name of its own with --id`,
      },
    },
  },
  {
    what: 'let triggers and schedules go on, or remove them',
    verbs: ['trigger resume', 'trigger remove', 'schedule resume', 'schedule delete'],
    commands: [],
    tools: [],
    model: NONE,
    process: 'no',
    agent: NONE,
    refused: {
      'trigger resume': always('let triggers go on', persons('trigger resume')),
      'trigger remove': always('remove triggers', persons('trigger remove')),
      'schedule resume': always('let schedules go on', persons('schedule resume')),
      'schedule delete': always('remove schedules', persons('schedule delete')),
    },
  },
  {
    what: 'publish events, and write and delete records',
    verbs: ['emit', 'data delete'],
    commands: [],
    tools: [],
    model: 'records, with the `data` commands',
    process: 'yes; no event that only a person or a run publishes',
    agent: NONE,
  },
  {
    what: 'perform commands by hand',
    verbs: ['command'],
    commands: [],
    tools: [],
    model: NONE,
    process: "Sentinel's own with the permission `read`",
    agent: NONE,
    refused: {
      command: {
        when: 'acts',
        does: 'perform commands that do more than read',
        remedy: `${persons('command')}; a definition has the command as a step`,
      },
    },
  },
  {
    what: 'trust code and servers, and open doors',
    verbs: ['trust', 'mcp accept', 'saved trust', 'saved distrust', 'web'],
    commands: [],
    tools: [],
    model: NONE,
    process: 'no',
    agent: NONE,
    refused: {
      trust: always('trust', persons('trust')),
      'saved trust': always('trust', persons('saved trust')),
      'saved distrust': always('trust', persons('saved distrust')),
      'mcp accept': always('accept tools', persons('mcp accept')),
      web: always('open the Web UI', persons('web')),
    },
  },
  {
    what: 'change the installation',
    verbs: [
      'up',
      'down',
      'worker',
      'models pull',
      'models add',
      'trainer install',
      'hooks install',
      'hooks remove',
      'mcp serve',
    ],
    commands: [],
    tools: [],
    model: NONE,
    process: 'yes, as the user of the worker can',
    agent: NONE,
  },
];

/** The sentence that refuses a process of a step what the verb is asked for; null where it may. `reads`: of the command that it names. */
export function refusedWithinStep(
  verb: string,
  options: { readonly [name: string]: unknown },
  words: readonly string[],
  reads: boolean,
): string | null {
  const refusal = POWERS.map(({ refused }) => refused?.[verb]).find((one) => one !== undefined);
  if (refusal === undefined) return null;
  const { when, does, remedy } = refusal;
  const isMeant = (): boolean => {
    if (when === 'always') return true;
    if (when === 'acts') return !reads;
    if ('words' in when) return when.words.includes(words.at(-1) ?? '');
    return when.options.some((name) => options[name] !== undefined && options[name] !== false);
  };
  return isMeant() ? `A run does not ${does} for a person: ${remedy}.` : null;
}
