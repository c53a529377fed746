/**
 * Parameters of a command as flags of their own: `sentinel command data/list --collection=todos --limit=5` for
 * `--param collection=todos --param limit=5`.
 *
 * A flag with `=` is a parameter wherever the command takes one of its name, so that `--id=7` reads the record 7. An
 * option of the verb that has the same name is written with a space: `--id call-1`.
 */
import { isJsonObject, type JsonObject } from '../../language/json.ts';

/** Options of the verb, and whether a value follows. */
const OWN: { readonly [flag: string]: boolean } = {
  params: true,
  param: true,
  project: true,
  id: true,
  by: true,
  host: true,
  policy: true,
  json: false,
  help: false,
};

const VERB = 'command';

/** The words of the command line, with the flags that are parameters as `--param`. `schemaOf`: null where nothing is known of the command. */
export function withParams(argv: readonly string[], schemaOf: (command: string) => JsonObject | null): string[] {
  const verb = argv.indexOf(VERB);
  const name = nameAt(argv, verb + 1);
  if (verb === -1 || name === -1) return [...argv];
  const taken = new Set(parametersIn(schemaOf(argv[name] ?? '')));
  const words = argv.slice(0, name + 1);
  for (let at = name + 1; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    // Behind it everything is a word.
    if (word === '--') return [...words, ...argv.slice(at)];
    const flag = flagIn(word);
    if (flag === null || isOwn(flag, taken)) {
      words.push(word);
      if (flag !== null && flag.value === null && OWN[flag.name] === true && at + 1 < argv.length)
        words.push(argv[(at += 1)] ?? '');
      continue;
    }
    const value = flag.value ?? (isValue(argv[at + 1]) ? (argv[(at += 1)] ?? '') : 'true');
    words.push('--param', `${parameterFor(flag.name, taken)}=${value}`);
  }
  return words;
}

/** Where the name of the command stands; -1 where none does. */
function nameAt(argv: readonly string[], from: number): number {
  for (let at = from; at < argv.length; at += 1) {
    const flag = flagIn(argv[at] ?? '');
    if (flag === null) return (argv[at] ?? '').startsWith('-') ? -1 : at;
    if (flag.value === null && OWN[flag.name] === true) at += 1;
  }
  return -1;
}

interface Flag {
  name: string;
  /** Behind its `=`; null without one. */
  value: string | null;
}

function flagIn(word: string): Flag | null {
  const [, name, value = null] = /^--([A-Za-z][\w.-]*)(?:=([^]*))?$/.exec(word) ?? [];
  return name === undefined ? null : { name, value };
}

const isOwn = ({ name, value }: Flag, taken: ReadonlySet<string>): boolean =>
  Object.hasOwn(OWN, name) && (value === null || !taken.has(name));

const isValue = (word: string | undefined): boolean => word !== undefined && !/^--?[A-Za-z]/.test(word);

/** `--include-history` for `includeHistory`, where the command has no parameter with dashes. */
function parameterFor(name: string, taken: ReadonlySet<string>): string {
  const camel = name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return !taken.has(name) && taken.has(camel) ? camel : name;
}

const parametersIn = (schema: JsonObject | null): string[] =>
  isJsonObject(schema?.['properties']) ? Object.keys(schema['properties']) : [];
