/** What to write in place of a call of a function or method that the expression language has not. */
import type { UnknownCall } from '../../expression/expression.ts';
import { FUNCTIONS, isMethod, METHODS } from '../../expression/expression.ts';
import { plainWord } from './instead.ts';
import { awayFrom } from './meant-word.ts';

/** Words of other languages, without capitals and marks, for a method that is here. */
const METHODS_MEANT: ReadonlyMap<string, string> = new Map([
  ...mean('includes', ['contains', 'has', 'includes', 'in', 'matches', 'match', 'test', 'like']),
  ...mean('toLowerCase', ['lower', 'lowercase', 'tolower', 'downcase']),
  ...mean('toUpperCase', ['upper', 'uppercase', 'toupper', 'upcase']),
  ...mean('slice', ['substring', 'substr', 'truncate', 'take', 'sublist', 'limit']),
  ...mean('trim', ['strip']),
  ...mean('startsWith', ['hasprefix', 'beginswith']),
  ...mean('endsWith', ['hassuffix']),
  ...mean('some', ['any', 'exists']),
  ...mean('map', ['foreach', 'each', 'select', 'pluck']),
  ...mean('filter', ['where', 'reject']),
  ...mean('concat', ['push', 'append', 'add']),
  ...mean('at', ['first', 'last', 'get', 'nth']),
  ...mean('toFixed', ['round', 'tofixed']),
]);

const SENTENCES: ReadonlyMap<string, string> = new Map([
  ...mean('the number of items or characters is a field: $x.length', [
    'len',
    'length',
    'lenght',
    'size',
    'count',
    'sizeof',
  ]),
  ...mean('what is empty has the length 0: $x.length === 0', ['isempty', 'empty', 'isblank', 'blank']),
  ...mean('the time is a variable: $NOW, and since the run began $ELAPSED_MS', [
    'now',
    'datenow',
    'date',
    'today',
    'time',
    'timestamp',
    'utcnow',
    'getdate',
    'dateparse',
  ]),
  ...mean('an expression gives the same on every machine, so nothing in it is random', [
    'random',
    'mathrandom',
    'uuid',
    'rand',
  ]),
  ...mean('every result has a field for it: $NAME.success', [
    'success',
    'failure',
    'succeeded',
    'failed',
    'always',
    'cancelled',
    'ok',
  ]),
  ...mean('what is not there is undefined, and false in a condition: $x === undefined', [
    'defined',
    'isdefined',
    'isset',
    'isnull',
    'isundefined',
    'ispresent',
  ]),
  ...mean('write $x ?? what stands for it', ['default', 'coalesce', 'ifnull', 'getordefault', 'nvl']),
  ...mean('write the operators && || ! === > <', [
    'and',
    'or',
    'not',
    'eq',
    'ne',
    'gt',
    'gte',
    'lt',
    'lte',
    'equals',
    'equal',
    'isequal',
  ]),
  ...mean('write $x ? a : b', ['if', 'iif', 'ternary', 'choose']),
  ...mean('write JSON.parse(…) or JSON.stringify(…)', ['fromjson', 'tojson', 'json', 'parsejson', 'loads', 'dumps']),
  ...mean('write String(…)', ['tostring', 'str', 'text']),
  ...mean('write Number(…)', ['int', 'float', 'tonumber', 'num', 'toint']),
  ...mean('write Object.keys(…), Object.values(…) or Object.entries(…)', ['keys', 'values', 'items', 'entries']),
  ...mean('environment variables are read as {{env.NAME}}, if the definition lists them in "env"', [
    'env',
    'getenv',
    'secret',
    'secrets',
  ]),
]);

const LISTED = 'docs/language/expressions.md lists those there are';

function mean(meant: string, words: readonly string[]): Array<readonly [string, string]> {
  return words.map((word) => [word, meant]);
}

/** The finding, what was meant or is spelled nearly so, and where all are listed. */
export function unknownCall({ kind, name }: UnknownCall): string {
  const written = kind === 'method' ? `.${name}` : name;
  const said = kind === 'method' ? ofMethod(name) : ofFunction(name);
  return [`there is no ${kind} "${written.slice(0, 80)}"`, ...(said === undefined ? [] : [said]), LISTED].join('; ');
}

function ofMethod(name: string): string | undefined {
  const sentence = SENTENCES.get(plainWord(name));
  const meant = METHODS_MEANT.get(plainWord(name));
  if (meant !== undefined) return `write .${meant}(…)`;
  return (
    sentence ??
    nearestFew(
      name,
      METHODS.map((each) => `.${each}`),
    )
  );
}

function ofFunction(name: string): string | undefined {
  const meant = isMethod(name) ? name : METHODS_MEANT.get(plainWord(name));
  const few = nearestFew(name, FUNCTIONS);
  const isHere = FUNCTIONS.some((each) => bare(each) === name);
  if (meant !== undefined && !isHere) return `write it behind the value: $x.${meant}(…)`;
  return (isHere ? undefined : SENTENCES.get(plainWord(name))) ?? few;
}

const bare = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const fewMax = 3;

/** Those that differ least, by the last part of their names. */
function nearestFew(name: string, names: readonly string[]): string | undefined {
  const own = bare(name).toLowerCase();
  if (own.length > 40) return undefined;
  const most = Math.max(1, Math.floor(own.length / 3));
  const near = names
    .map((each) => ({ each, away: awayFrom(own, bare(each).toLowerCase()) }))
    .filter(({ away }) => away <= most);
  const few = near
    .toSorted((a, b) => a.away - b.away)
    .filter(({ away }, _index, [best]) => away === 0 || best?.away !== 0)
    .slice(0, fewMax)
    .map(({ each }) => each);
  if (few.length === 0) return undefined;
  return few.length === 1 ? `the nearest is ${few.join('')}` : `the nearest are ${few.join(', ')}`;
}
