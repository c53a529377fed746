/**
 * What there is instead of a word that other languages have for something this one says in another way,
 * not in another word: no key and no type can take its place.
 */

const SENTENCES: ReadonlyMap<string, string> = sentencesFor([
  [
    'to wait for a time, write {"type": "sleep", "durationMs": 5000}; for an event or a process, a step of type "watch"; between the passes of a continuous loop, "intervalMs"',
    ['sleep', 'wait', 'delay', 'timer', 'waitseconds', 'waituntil'],
  ],
  [
    'to wait for a person, write a step of type "approval"; to hold the run, {"type": "command", "command": "sentinel/pause"}',
    ['pause', 'hold', 'suspend', 'interrupt', 'interruptbefore', 'interruptafter'],
  ],
  [
    '"then" and "else" are keys of a step of type "condition", and steps that follow one another stand in one list',
    ['then', 'else', 'elseif', 'elif', 'otherwise', 'default'],
  ],
  [
    'write a step of type "condition" for each case, one in the "else" of another',
    ['switch', 'case', 'cases', 'choices', 'match'],
  ],
  [
    '"onError": "skip" goes on after a failure, a condition step after it can check {{named.NAME.error}}, and "always" of a condition or a definition holds what is done in any case',
    ['catch', 'try', 'except', 'rescue', 'onfailure', 'onfail', 'finally', 'ensure', 'fallback', 'errorhandler'],
  ],
  [
    'a loop ends by its "check": {"type": "until", "check": "…"}; what a pass is to leave out stands in a step of type "condition"',
    ['break', 'continue', 'breakif', 'exitwhen'],
  ],
  [
    'steps are performed in the order of their list; a step of type "condition" chooses, one of type "loop" repeats',
    [
      'goto',
      'next',
      'jump',
      'transition',
      'transitions',
      'edge',
      'edges',
      'conditionaledges',
      'connections',
      'startat',
      'start',
      'entry',
      'entrypoint',
      'initial',
      'target',
      'goback',
    ],
  ],
  [
    'what a run gives stands in "outputs" of the definition, and without it are its variables; a step sets one by "outputTo"',
    ['return', 'returns', 'output', 'outputs', 'yield', 'respond'],
  ],
  [
    'a run ends with its last step; a step of type "fail" fails it before, {"type": "command", "command": "sentinel/stop"} stops it, and a step of type "condition" leaves steps out',
    [
      'throw',
      'raise',
      'fail',
      'error',
      'abort',
      'stop',
      'exit',
      'terminate',
      'succeed',
      'end',
      'halt',
      'finish',
      'cancel',
      'quit',
    ],
  ],
  [
    'a variable is set by "outputTo" of a step or by {"type": "set", "values": {"n": "{{a.b + 1}}"}}, or begins in "inputs" of the definition; an expression can also stand where its value is used',
    [
      'set',
      'assign',
      'let',
      'const',
      'setvariable',
      'setstate',
      'transform',
      'pass',
      'state',
      'channels',
      'evaluate',
      'expression',
    ],
  ],
  ['a request over the network is made by a step of type "shell": curl, or what is at hand', ['get', 'post', 'put']],
  [
    'steps are performed in the order of their list; what may go on at once stands in the branches of a step of type "parallel"',
    ['needs', 'dependson', 'depends', 'runafter', 'after', 'requires', 'dependencies'],
  ],
  [
    'a loop with "over" and "as" does the same for each item of a list, a step of type "parallel" does several things at once',
    ['matrix', 'strategy'],
  ],
  [
    'a run works where its worker does; another machine or a container is reached by a step of type "shell"',
    ['runson', 'container', 'image', 'services', 'machine', 'runner', 'docker'],
  ],
  [
    '"mode" of the definition and "requireApproval" of its "safety" say what a run may touch',
    ['permissions', 'permission'],
  ],
  [
    '"concurrency" of the definition, "maxConcurrency" of a step of type "parallel" and "overlap" of a schedule bound what goes on at once',
    ['concurrency', 'concurrent'],
  ],
  ['"env" of the definition lists the environment variables that {{env.NAME}} may read', ['secrets', 'credentials']],
  [
    'another definition is run by {"type": "sentinel", "definition": {"$ref": "NAME"}}',
    ['import', 'imports', 'include', 'extends', 'template'],
  ],
  ['"condition": "false" leaves a step out', ['disabled', 'enabled', 'skip', 'skipif', 'unless']],
  [
    'a definition stands in the step that runs it, or in a file of its own beside this one',
    ['definitions', 'defs', 'subflows', 'subworkflows', 'components', 'functions'],
  ],
  [
    'what comes after a success are the next steps of the list; the event of a run that ended is "sentinel:finished:NAME"',
    ['onsuccess', 'oncomplete', 'onfinish', 'oncompletion'],
  ],
  [
    'after a step of type "parallel" all that its branches have set is there; a step of type "join" waits for runs that were started with "await": false',
    ['merge', 'join', 'gather', 'aggregate', 'waitall'],
  ],
  [
    'nothing of the kind is part of a definition; remove it',
    ['author', 'license', 'active', 'settings', 'category', 'icon', 'homepage', 'repository', 'keywords'],
  ],
  [
    'what is written for readers stands under "//"',
    ['notes', 'note', 'doc', 'docs', 'help', 'metadata', 'meta', 'position', 'typeversion', 'annotations', 'summary'],
  ],
]);

function sentencesFor(rows: ReadonlyArray<readonly [sentence: string, words: readonly string[]]>): Map<string, string> {
  return new Map(rows.flatMap(([sentence, words]) => words.map((word) => [word, sentence] as const)));
}

const FILTERS: ReadonlySet<string> = new Set([
  'filter',
  'filters',
  'when',
  'where',
  'if',
  'condition',
  'conditions',
  'check',
  'branch',
  'branches',
  'path',
  'paths',
  'types',
  'tags',
  'match',
]);

/** A trigger that looks at what its event carries. */
export function insteadInTrigger(written: string): string | undefined {
  if (!FILTERS.has(plainWord(written))) return undefined;
  return `write what the event has to carry as the "filter" of a trigger of type "event": "$event.branch === 'main'"`;
}

/** A word without its capitals and marks. */
export function plainWord(written: string): string {
  return written.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** A key is named in its place, which holds something else than the word does elsewhere. */
const MISLEADING: ReadonlySet<string> = new Set([
  'catch',
  'onfailure',
  'onfail',
  'rescue',
  'finally',
  'switch',
  'case',
]);

export function needsMoreThanAKey(written: string): boolean {
  return MISLEADING.has(plainWord(written));
}

export function instead(written: string): string | undefined {
  return written.length > 100 ? undefined : SENTENCES.get(plainWord(written));
}
