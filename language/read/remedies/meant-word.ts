/**
 * Which legal word was meant by one that is none: another language's word for the same thing, or the
 * one that is spelled nearly so. A wrong guess is worse than none, so short words are only taken for
 * those that differ in one letter, or in the order of two.
 */
import { distance } from 'fastest-levenshtein';
import { instead, needsMoreThanAKey, plainWord } from './instead.ts';

/** Words of other languages, without capitals and marks, and what they may be called here: the first that is legal counts. */
const OTHER_WORDS: ReadonlyMap<string, readonly string[]> = wordsFor([
  [
    ['shell'],
    [
      'script',
      'bash',
      'sh',
      'run',
      'exec',
      'cmd',
      'terminal',
      'process',
      'python',
      'node',
      'code',
      'javascript',
      'lambda',
      'print',
      'echo',
      'http',
      'https',
      'request',
      'fetch',
      'api',
      'webhook',
    ],
  ],
  [
    ['command'],
    [
      'run',
      'script',
      'exec',
      'bash',
      'sh',
      'uses',
      'tool',
      'action',
      'resource',
      'toolcall',
      'tooluse',
      'git',
      'file',
      'read',
      'write',
      'data',
      'mcp',
      'db',
      'database',
    ],
  ],
  [['params'], ['with', 'parameters', 'arguments', 'args', 'options', 'input', 'inputs']],
  [
    ['then', 'branches', 'steps'],
    ['do', 'tasks', 'jobs', 'stages', 'actions', 'body', 'nodes', 'states', 'children', 'workflow'],
  ],
  [['trigger'], ['on', 'triggers', 'schedule', 'cron', 'startson', 'when']],
  [['cronExpression'], ['every', 'interval', 'at', 'time', 'when']],
  [['event'], ['webhook', 'push', 'on', 'queue']],
  [['name'], ['title', 'displayname']],
  [['type'], ['kind', 'steptype', 'nodetype']],
  [
    ['outputTo'],
    [
      'result',
      'resultpath',
      'output',
      'saveas',
      'assign',
      'register',
      'into',
      'storeas',
      'storein',
      'outputvar',
      'outputvariable',
      'outputkey',
      'var',
      'variable',
      'resultvar',
    ],
  ],
  [
    ['retry', 'attempts'],
    ['retries', 'maxretries', 'retrycount', 'retrypolicy'],
  ],
  [['attempts'], ['max', 'count', 'times', 'tries', 'limit', 'maxattempts', 'attempt']],
  [
    ['backoffMs', 'intervalMs'],
    [
      'delay',
      'wait',
      'interval',
      'every',
      'initialinterval',
      'initialdelay',
      'initialbackoff',
      'retrydelay',
      'retryinterval',
      'pause',
    ],
  ],
  [['retry'], ['retrydelay', 'retryinterval', 'retrybackoff', 'retrywait']],
  [['factor'], ['multiplier', 'backoffcoefficient', 'exponent']],
  [
    ['inputs', 'params'],
    ['vars', 'variables', 'parameters', 'arguments', 'context'],
  ],
  [
    ['onError'],
    ['catch', 'onfailure', 'onfail', 'rescue', 'continueonerror', 'ignoreerrors', 'ignoreerror', 'allowfailure'],
  ],
  [['always'], ['finally', 'cleanup', 'ensure', 'teardown']],
  [['over'], ['itemspath', 'foreach', 'each', 'items', 'in', 'iterate', 'collection', 'array', 'list']],
  [['as'], ['item', 'itemname', 'itemvar']],
  [
    ['max', 'loop', 'count', 'maxIterations'],
    ['times', 'iterations', 'repeat', 'limit', 'passes', 'for'],
  ],
  [
    ['max', 'maxIterations', 'safety'],
    ['maxattempts', 'recursionlimit', 'maxloops', 'maxturns', 'maxrounds', 'maxpasses'],
  ],
  [['maxConcurrency'], ['maxparallel', 'parallelism', 'limit', 'concurrency', 'maxworkers', 'workers']],
  [['timeoutMs'], ['timelimit', 'maxtime', 'deadline', 'maxduration', 'duration', 'maxruntime', 'maxseconds']],
  [['check'], ['test', 'expression', 'expr', 'cond', 'predicate', 'when']],
  [
    ['prompt', 'message'],
    ['messages', 'question', 'text', 'content', 'prompt', 'message', 'title'],
  ],
  [['system'], ['instructions', 'role']],
  [['schema'], ['responseformat', 'outputschema', 'jsonschema', 'format']],
  [
    ['$ref', 'definition'],
    [
      'ref',
      'reference',
      'sentinel',
      'workflow',
      'subflow',
      'subworkflow',
      'child',
      'call',
      'use',
      'sentinelid',
      'workflowid',
      'definitionid',
      'sentinelname',
      'workflowname',
      'definitionname',
    ],
  ],
  [['cwd'], ['dir', 'directory', 'workdir', 'workingdirectory', 'folder']],
  [['await'], ['wait', 'waitfor', 'sync']],
  [['env'], ['environment', 'envs']],
  [['data'], ['body', 'value', 'message', 'content', 'params']],
  [['group'], ['key', 'lock', 'mutex', 'semaphore', 'id', 'name', 'queue']],
  [['onConflict'], ['cancelinprogress', 'conflict', 'strategy', 'policy', 'whenheld', 'overlap', 'mode']],
  [['filter'], ['filters', 'where', 'if', 'when', 'check', 'condition', 'conditions', 'match']],
  [['debounceMs'], ['throttle', 'settle', 'quiet', 'delay', 'batch', 'throttlems', 'delayms', 'quietms']],
  [['event'], ['topic', 'channel', 'eventname', 'name', 'signal', 'pattern', 'eventpattern']],
  [['requireApproval'], ['approval', 'approvals', 'approve']],
  [['parallel'], ['all', 'fanout', 'fork', 'concurrent', 'map']],
  [['llm'], ['agent', 'prompt', 'ai', 'model', 'chat', 'completion', 'claude', 'gpt']],
  [['command'], ['tool', 'action', 'task', 'function', 'call']],
  [['condition'], ['if', 'branch', 'switch', 'case', 'choice', 'ifelse', 'decision', 'gate']],
  [
    ['loop'],
    ['for', 'foreach', 'while', 'until', 'repeat', 'map', 'iterate', 'each', 'dowhile', 'splitinbatches', 'batch'],
  ],
  [['sentinel'], ['workflow', 'subflow', 'subworkflow', 'child', 'nested', 'definition', 'pipeline', 'ref']],
  [['approval'], ['human', 'input', 'ask', 'confirm', 'manual', 'review', 'userinput']],
  [['emit'], ['event', 'publish', 'notify', 'send', 'signal', 'log']],
  [['watch'], ['listen', 'subscribe', 'waitfor', 'waitforevent', 'on']],
  [['count'], ['foreach', 'for', 'each', 'repeat', 'times', 'map']],
  [['join'], ['gather', 'waitall', 'awaitall', 'joinall', 'await']],
  [['message'], ['reason', 'error']],
  [['values'], ['variables', 'vars', 'assign']],
  [['sleep'], ['wait', 'delay', 'timer', 'waitseconds', 'waituntil']],
  [['set'], ['assign', 'let', 'const', 'setvariable', 'setvariables', 'setstate', 'transform', 'evaluate', 'pass']],
  [['until'], ['dowhile', 'repeatuntil']],
  [['continuous'], ['interval', 'forever', 'infinite', 'always', 'poll', 'endless']],
  [['skip'], ['continue', 'ignore', 'pass', 'warn']],
  [
    ['fail', 'stop'],
    ['stop', 'abort', 'exit', 'throw', 'raise', 'break', 'halt', 'cancel', 'fail', 'end', 'kill'],
  ],
  [['schedule'], ['cron', 'timer', 'interval']],
  [['immediate'], ['now', 'start', 'startup', 'auto']],
  [['readonly'], ['ro', 'read', 'plan']],
  [['sandboxed'], ['sandbox', 'isolated', 'safe']],
  [['then'], ['ontrue', 'iftrue', 'true', 'yes', 'consequent', 'whentrue']],
  [['else'], ['onfalse', 'iffalse', 'false', 'no', 'alternate', 'alternative', 'otherwise', 'elseif', 'elif', 'elsif']],
  [['inputs'], ['params', 'with', 'args']],
  [['outputs'], ['returns', 'return', 'output', 'result', 'results']],
  [['inputSchema'], ['schema', 'inputsschema', 'parametersschema', 'argsschema']],
  [['assignee'], ['approver', 'to', 'user', 'who', 'reviewer']],
  [['approvers'], ['assignees', 'users', 'reviewers']],
  [['form'], ['options', 'fields', 'choices']],
  [['executionId'], ['process', 'pid', 'processid', 'execution']],
  [['condition'], ['on', 'when', 'if', 'event']],
  [['action'], ['do', 'then']],
  [
    ['persona', 'inbox'],
    ['me', 'owner', 'parent'],
  ],
]);

/** What fails a step or stops a run where a setting says so, but as a step need be no failure. */
const ENDS_WELL: ReadonlySet<string> = new Set(['stop', 'exit', 'break', 'halt', 'cancel', 'end', 'kill']);

function wordsFor(
  rows: ReadonlyArray<readonly [meant: readonly string[], words: readonly string[]]>,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [meant, words] of rows) for (const word of words) found.set(word, [...(found.get(word) ?? []), ...meant]);
  return found;
}

/** What to say of a word that is none: which legal one is meant, what there is instead, or else all that are legal. */
export function remedyFor(written: string, legal: readonly string[]): { words: string; fix?: string } {
  const near = nearestFix(written, legal);
  const sentence = near.fix === undefined || needsMoreThanAKey(written) ? instead(written) : undefined;
  const words = [near.fix, sentence].filter((said) => said !== undefined).join('; ');
  return { words: words === '' ? `there are ${legal.join(', ')}` : words, ...near };
}

/** "did you mean", when something legal is near enough to be meant. */
export function nearestFix(written: string, legal: readonly string[]): { fix?: string } {
  const near = nearest(written, legal);
  return near === undefined ? {} : { fix: `write "${near}"` };
}

/** The legal word for one that another language has for the same thing. */
export function otherWord(written: string, legal: readonly string[]): string | undefined {
  const plain = plainWord(written);
  const isType = legal.includes('shell');
  return OTHER_WORDS.get(plain)?.find((meant) => legal.includes(meant) && !(isType && ENDS_WELL.has(plain)));
}

export function nearest(written: string, legal: readonly string[]): string | undefined {
  if (written.length > 100) return undefined;
  const plain = written.toLowerCase();
  const word = otherWord(written, legal);
  if (instead(written) !== undefined) return legal.find((candidate) => candidate.toLowerCase() === plain) ?? word;
  const { best, least } = bySpelling(written, legal);
  return least > 1 ? (word ?? best) : best;
}

/** For names that people give themselves, which mean nothing in another language. */
export function spelledNearly(written: string, legal: readonly string[]): string | undefined {
  return written.length > 100 ? undefined : bySpelling(written, legal).best;
}

function bySpelling(written: string, legal: readonly string[]): { best: string | undefined; least: number } {
  const plain = written.toLowerCase();
  let best: string | undefined;
  // One letter is as near to every other.
  let least = written.length === 1 ? 1 : Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const candidate of legal) {
    const away = awayFrom(plain, candidate.toLowerCase());
    if (away < least) [best, least] = [candidate, away];
  }
  return { best, least };
}

/** Letters that stand in another order count once. */
export function awayFrom(a: string, b: string): number {
  const away = distance(a, b);
  return away === 2 && a.length === b.length && sorted(a) === sorted(b) ? 1 : away;
}

const sorted = (text: string): string => Array.from(text).toSorted().join('');
