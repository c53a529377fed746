/**
 * Names of events that say by themselves where they are from: runs publish about themselves (`sentinel:`), a room about
 * its messages (`chat:`), a watch about files (`file:`), hooks about a repository (`git:`). Triggers and watches rely on
 * them, so no step and no webhook may publish one. A person at the command line may say what happened in a room or a
 * repository. The one place that says which names these are.
 *
 * A name is judged as a person reads it: letters of other scripts that look alike, width, case, and what
 * cannot be seen make no other name.
 */
export const RESERVED_EVENT = 'EVENT_RESERVED';

export interface EventFault {
  code: typeof RESERVED_EVENT;
  /** One sentence: finding, remedy. */
  message: string;
}

/** The end of a run, its status, a question that still waits, a model of it that is stuck, and the lines of its processes, whose handle may hold `:` itself. */
const RESERVED = /^sentinel:(?:finished:|[^]*:(?:status|reminded|stuck|line):*$)/;

/** What Sentinel itself publishes, and who else may. */
const ORIGINS: readonly { prefix: string; from: string; isPersons: boolean }[] = [
  { prefix: 'chat:', from: 'the message of a room, which collaboration/chat/send publishes', isPersons: true },
  { prefix: 'file:', from: 'a change that a worker saw in a project', isPersons: false },
  {
    prefix: 'git:',
    from: 'an event of a repository, which its hooks publish ("sentinel hooks install")',
    isPersons: true,
  },
];

/** Why the event may not be published under this name, as it is `written`; null where it may. */
export function reservedEventFault(
  name: string,
  written: string = name,
  by: 'person' | 'other' = 'other',
): EventFault | null {
  const read = asRead(name);
  const origin = ORIGINS.find(({ prefix, isPersons }) => read.startsWith(prefix) && !(isPersons && by === 'person'));
  if (origin !== undefined)
    return {
      code: RESERVED_EVENT,
      message: `"${written}" would be ${origin.from}; give the event another name than ${origin.prefix}…`,
    };
  if (!RESERVED.test(read)) return null;
  const message = `"${written}" is an event about a run (sentinel:finished:NAME, sentinel:HANDLE:status, sentinel:HANDLE:reminded, sentinel:HANDLE:stuck, sentinel:HANDLE:line), and those are published by the runs themselves; give it another name`;
  return { code: RESERVED_EVENT, message };
}

/** Why no run may have this handle: the events of its status would read as ends of other runs. */
export function reservedHandleFault(handle: string): EventFault | null {
  if (!/^finished(?::|$)/.test(asRead(handle))) return null;
  const message = `the handle "${handle}" would make the status of its run read as the end of another (sentinel:finished:NAME); choose another handle`;
  return { code: RESERVED_EVENT, message };
}

function asRead(name: string): string {
  if (/^[\x21-\x7E]*$/.test(name)) return name.toLowerCase();
  // Marks, spaces, controls and what has no width.
  const seen = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\p{M}\p{Z}\p{C}]/gu, '');
  return Array.from(seen, (sign) => LOOKALIKES.get(sign) ?? sign).join('');
}

/** For the letters of the words above and the colon: Cyrillic, Greek, Armenian, and small capitals. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑᴀ',
    c: 'сϲⅽᴄ',
    d: 'ԁɗᴅ',
    e: 'еεҽᴇ',
    f: 'ƒſғꞙ',
    g: 'ɡցɢ',
    h: 'һհʜ',
    i: 'іιıɪ',
    k: 'кκᴋ',
    l: 'ӏⅼʟ',
    n: 'пոηɴ',
    s: 'ѕꜱ',
    t: 'тτᴛ',
    u: 'υսᴜ',
    ':': '։׃ːˑ∶꞉᛬⁚',
  }).flatMap(([letter, signs]) => Array.from(signs, (sign): [string, string] => [sign, letter])),
);
