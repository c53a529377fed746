/**
 * What each key of the format means, in the words an editor shows. One table, so that the model stays
 * readable; a test holds that every key of the model has its line here, and that no line is left over.
 * The line without a key (`''`) describes the object itself.
 */
type Lines = Readonly<Record<string, string>>;

/** Keys that mean the same wherever they stand; a line of an object's own wins over these. */
export const EVERYWHERE: Lines = {
  type: 'What it is; decides which other keys it has.',
  name: 'What people read for this step in logs, traces and graphs; also how others refer to it.',
  outputTo: 'The variable that the result is kept in: later steps read it as $name.',
  onError: 'When it fails: "fail" ends the run (the default), "skip" goes on, "retry" tries again and then fails.',
  retry: 'How often it is tried again after a failure, and how long between.',
  timeoutMs: 'The longest it may take, in milliseconds.',
  max: 'How many passes: a number, or an expression such as "$files.length", read when the loop starts.',
  over: 'The array that the loop walks, as an expression: pass N binds item N−1.',
  as: 'The variable that holds the current item of "over".',
  maxIterations: 'The most passes, whatever else the loop says.',
  check: 'An expression over the variables, such as "$build.exitCode === 0".',
};

export const DESCRIPTIONS: Readonly<Record<string, Lines>> = {
  Definition: {
    '': 'A sentinel: steps that run in order, once a pass of the loop.',
    $schema: 'Where the schema of this file is, for editors.',
    id: 'An id of your own; the run does not use it.',
    name: 'The name people and other definitions know it by.',
    description: 'What it is for, in a sentence.',
    recipe:
      'What model steps are told of before each pass: the recipe "coding", or one in "recipes/NAME.json" of the project.',
    ragSources:
      'What model steps are told of before each pass: files ("src/**/*.ts"), "data:COLLECTION", commands that read, "code".',
    tools: 'Commands that are pointed out to models; it takes none away.',
    steps: 'What happens, in order, once a pass of the loop.',
    always: 'Clean-up: runs once at the end of the run, however it ends.',
    loop: 'How often the steps run. Without it, once.',
    trigger: 'What starts a run. Without it, a person or a program does.',
    concurrency: 'Of the runs of a project that name the same group, one at a time goes on.',
    timeoutMs: 'The longest the whole run may take, in milliseconds.',
    safety: 'What bounds the run, and what needs approval.',
    mode: 'What the run may touch: "full" (the default), "readonly", or "sandboxed" (no network; only the project is writable).',
    durability:
      '"segment" (the default): quick steps share one activity, in which shell steps begin. "step": every step is an activity of its own.',
    escalateOn: 'When the run turns to its persona, and how.',
    reportTo: "Whether the end of the run is put into its owner's inbox.",
    env: 'Names of environment variables that {{env.NAME}} may read. Their values are masked in logs.',
    strict: 'A reference without a value makes its step fail, in place of a warning.',
    trustDrafts:
      'Definitions that its models draft, and that its steps store or run, may do what the run may. Without it they run "sandboxed", with the tools of the model that drafted them.',
    defaults: 'What holds for steps that do not say, also for those of definitions written inside this one.',
    inputs: 'Variables the run starts with, and their defaults; --input gives others.',
    inputSchema:
      'What a run is given, as a JSON Schema: "properties" with types, defaults and descriptions, and "required". In place of "inputs".',
    outputs:
      'What a run gives to its parent, to run and to status, in place of its variables: names with values, read at the end.',
  },
  ShellStep: {
    '': 'Runs a command line. A non-zero exit code is a result, and no failure unless "failOn" says so: {exitCode, stdout, stderr, output, success, durationMs}.',
    command: 'A line for the shell; with "args", the program to start. References become quoted values, never code.',
    args: 'Arguments, each handed over as it is: no shell reads them.',
    cwd: 'The folder it runs in, relative to the project.',
    env: 'Environment variables that the program gets.',
    failOn: '"nonzero": an exit code other than 0 is a failure of the step; "never" (the default): it is a result.',
    stdin: 'What the process reads from its standard input.',
    onUnknown:
      'When nobody can find out how the process ended: "retry" (the default) runs it again, "ask" asks the persona, "skip" goes on, "verify" asks a command.',
  },
  Defaults: {
    '': 'What holds for steps that do not say.',
    shell: 'For steps of type "shell", and for "code/shell/execute".',
  },
  ShellDefaults: {
    '': 'What holds for steps that run a command line or a program.',
    failOn: '"nonzero": an exit code other than 0 is a failure; "never" (the default): it is a result.',
  },
  CommandStep: {
    '': 'Calls a command of the catalogue.',
    command: 'The command\'s name, such as "code/read".',
    params: "The command's parameters; references in them are replaced.",
    failOn: 'Of "code/shell/execute": "nonzero": an exit code other than 0 is a failure of the step.',
  },
  LlmStep: {
    '': 'Asks a model.',
    prompt: 'What the model is asked.',
    system: 'What the model is told about its task.',
    messages: 'What was said before the prompt.',
    images: 'Pictures in the project, by path, that go with the prompt.',
    model: 'Which model: "auto" (the default), or provider/name.',
    temperature: 'How freely it answers, 0 to 2.',
    maxTokens: 'How long one answer may be, in tokens.',
    maxTurns: 'How often the model may answer; a turn that calls commands is one.',
    thinking:
      'How long the model thinks before it answers: an effort, or a depth that grows with what the step may do.',
    tools: 'Commands the model may call.',
    parseToolCalls: 'Reads calls of tools out of the text of the answer.',
    onUnknown: 'What becomes of a call whose worker was lost before its outcome was known.',
    schema: 'A JSON Schema that the answer must satisfy.',
    autoCompact: 'When and how the conversation is shortened as it fills the window of the model; false: never.',
    stopWhen:
      'An expression that ends the turns: read after each turn, over the variables and $turns, $toolCalls, $text, $usage, $model.',
    onStuck:
      'When the model turns in circles: "escalate" (the default) asks or tells, "answer" has it answer now, "fail" ends the step, "ignore" does nothing.',
    unchangedTurns: 'Turns in a row without a change to the project that count as turning in circles; 20 when absent.',
  },
  ThinkingDepth: {
    '': 'A depth of thought, raised to what the commands of the step ask for.',
    depth: '1 is no thought, 2 little, 3 some, 4 and 5 much, 6 and more all that the model can.',
    exit: 'How sure the model has to be, 0 to 1 (0.5): above 0.5 it checks its answer, from 0.9 on twice; up to 0.2 it thinks less.',
    safetyBoost: 'Depth to add where the step may call commands of a class.',
  },
  SafetyBoost: {
    '': 'Depth to add, by class of commands.',
    read: 'Where the step may call commands that read.',
    write: 'Where the step may call commands that write.',
    shell: 'Where the step may call commands that run command lines.',
    delete: 'Where the step may call commands that delete.',
    network: 'Where the step may call commands that need the network.',
  },
  LlmMessage: {
    '': 'Something that was said before the prompt.',
    role: 'Who said it.',
    content: 'What was said; references in it are replaced.',
  },
  AutoCompact: {
    '': 'When and how a conversation is shortened.',
    threshold: "The share of the model's window that may be full before it is shortened; 0.95 when absent.",
    strategy: '"summarize" the older part (the default), or "truncate" it.',
  },
  Verification: {
    '': 'Asks a command whether something was done whose outcome is unknown.',
    verify: 'The command\'s name, such as "code/shell/execute".',
    params: 'Its parameters; "$call" is what was begun, with its name and its input.',
  },
  WatchStep: {
    '': 'Waits for a process that runs in the background, or for an event.',
    executionId: 'The process: what the step that started it with "wait": false returned.',
    rules: 'How lines of output are classified; the first rule that matches wins.',
    until: 'When the waiting ends: the process "finished", or a line was an "error" or a "match".',
    event: 'The event to wait for; * stands for any text within one part of a name, ** for any text.',
  },
  Rule: {
    '': 'What a line of output means.',
    pattern: 'A regular expression (RE2: no look-around, no back references).',
    classification: 'What a matching line is called, such as "error".',
    action: 'What to do with a matching line.',
  },
  EmitStep: {
    '': 'Publishes an event.',
    event: 'The event\'s name, such as "build:done".',
    data: 'What the event carries.',
  },
  ApprovalStep: {
    '': "Waits for a persona's answer. The result is {choice, approved, note, data, by}; a rejection is a failure of the step.",
    message: 'The question.',
    show: 'What the persona needs to see to decide.',
    form: 'A JSON Schema of the data an answer must carry.',
    assignee: "The persona or group that is asked; the run's own persona when absent.",
    approvers: 'Several who are asked, in place of "assignee".',
    onTimeout: 'What counts as answered when nobody did within "timeoutMs".',
    remindAfterMs:
      'How long the question is open before whoever is asked is reminded; each further reminder takes twice as long as the one before. No reminders when absent, unless a rule for "approval_needed" has it.',
  },
  FailStep: {
    '': 'Fails, as any step can: what is around it may skip it or try again; else the run ends as failed.',
    message: 'What went wrong, for whoever reads of it; references in it are replaced.',
    code: 'What tells this failure from others, such as "DEPLOY_REFUSED".',
  },
  JoinStep: {
    '': 'Waits until runs that were started with "await": false have ended. The result is a list: {handle, name, success, outcome, …}.',
    handles: 'What the steps that started them returned, their handles, or a list of either.',
  },
  SleepStep: {
    '': 'Waits, for a time or until one.',
    durationMs: 'How long, in milliseconds; or a reference to that.',
    until:
      'Until when: a time with its zone ("2026-01-31T08:00:00Z"), or a reference to one. One that is past is no wait.',
  },
  SetStep: {
    '': 'Sets variables: every value is read, and then all are set.',
    values: 'The values by the names of the variables; {{a + b}} is computed, "$a + $b" is text.',
  },
  ConditionStep: {
    '': 'Takes one of two branches.',
    then: 'Steps when the check is truthy.',
    else: 'Steps when it is not.',
    always: 'Steps after either branch, also when one of them failed or the run is being cancelled.',
  },
  LoopStep: {
    '': 'Repeats its steps. The result is {iterations}.',
    loop: 'How often the steps run.',
    steps: 'What happens in each pass.',
  },
  ParallelStep: {
    '': 'Runs branches at once, or its steps for each item of a list. What a branch sets is visible after the step; branches do not see each other. The result over a list is a list: of each item an object of what its steps kept with outputTo.',
    over: 'The list, as an expression, in place of branches.',
    as: 'The variable that holds the item; "item" when absent.',
    steps: 'What is done for each item of "over".',
    itemErrors:
      'What the failure of an item ends: "fail" (the default) the step and the other items; "collect" the item alone, whose result is then {success: false, error, code}.',
    branches: 'Each is a list of steps that run in order.',
    failFast: 'The first branch that fails ends the others.',
    maxConcurrency: 'How many branches run at a time; of items 8 when absent.',
  },
  SentinelStep: {
    '': "Runs another sentinel as a run of its own, which sees this run's variables. The result is {success, iterations, results, failureCount, …its last outputs}.",
    definition:
      'The sentinel: written here, {"$ref": NAME}, {"$ref": "./FILE"}, or a reference to a variable that holds it or its name.',
    await: 'Whether to wait for its end (the default).',
    inputs: "Variables it starts with, besides this run's.",
  },
  DefinitionRef: {
    '': 'A definition that is saved, shipped, or in a file beside this one.',
    $ref: 'Its name, its path relative to this file ("./child.json"), or a reference to a variable that holds the definition or its name.',
  },
  LoopOnce: { '': 'One pass.' },
  LoopCount: { '': 'A number of passes.' },
  LoopUntil: { '': "Passes until the check holds after one. Needs a bound, its own or the run's." },
  LoopWhile: { '': "Passes as long as the check holds before one. Needs a bound, its own or the run's." },
  LoopContinuous: {
    '': "Passes without an end of their own. Needs a bound, its own or the run's.",
    intervalMs: 'The pause between two passes, in milliseconds.',
  },
  LoopEvent: {
    '': "A pass for each event; $event holds it. Needs a bound, its own or the run's.",
    event: "The event's name; * stands for any part of it.",
  },
  TriggerImmediate: { '': 'Runs as soon as it is deployed.' },
  TriggerManual: { '': 'A person or a program starts it.' },
  TriggerEvent: {
    '': 'An event starts it, once per event.',
    event: "The event's name; * stands for any part of it.",
    filter:
      'An expression over $event, such as "$event.branch === \'main\'"; an event for which it does not hold starts nothing.',
    debounceMs: 'The run starts once no further event has come for so long, in milliseconds, with the last event.',
  },
  TriggerSchedule: {
    '': 'A calendar starts it.',
    cronExpression: 'When, as cron writes it: "0 3 * * 1-5".',
    timeZone: 'An IANA name such as "Europe/Zurich"; UTC when absent.',
    overlap: 'What happens when a run is due while the one before it still goes on.',
    catchupWindowMs: 'How late a run may start that was missed while the server was away, in milliseconds.',
    jitterMs: 'Each start is late by a random time up to this, in milliseconds.',
  },
  Concurrency: {
    '': 'Of the runs of a project that name the same group, one at a time goes on.',
    group: 'The name of the group, such as "deploy-$target"; it may refer to inputs.',
    onConflict:
      'Where another run holds the group: "queue" (the default) waits, "skip" ends this run, "cancel" cancels the other runs first.',
  },
  Safety: {
    '': 'What bounds a run, and what needs approval.',
    maxIterations: 'The most passes the run may make.',
    timeoutMs: 'The longest the run may take, in milliseconds.',
    maxStepTimeoutMs: 'The longest any one step may take, in milliseconds.',
    maxMemoryMb: 'The most memory that processes of the run may use, in MB.',
    maxNestingDepth: 'How deep sentinels may be nested; 8 when absent.',
    onTimeout: 'At a bound: "stop" the run (the default), or "pause" it until somebody extends the bound.',
    requireApproval: 'Kinds of steps that ask before they act.',
    allowFiles: 'Protected files, such as ".env.test", that models of the run may reach all the same.',
    budget: 'What the run may spend, with all runs nested in it.',
  },
  Budget: {
    '': 'What a run may spend.',
    steps: 'Steps.',
    tokens: 'Tokens of models, in and out.',
    usd: 'Money spent on models, in US dollars.',
    wallMs: 'Wall time, in milliseconds.',
  },
  Approvers: {
    '': 'Several who are asked one question.',
    of: 'The personas and groups that are asked.',
    atLeast: 'How many different persons of them have to approve; 1 when absent.',
  },
  Retry: {
    '': 'How often, and how long between.',
    attempts: 'How often it is tried, the first time included.',
    backoffMs: 'The wait before the second try, in milliseconds; 1,000 when absent.',
    factor: 'How much longer each wait is than the one before; 2 when absent.',
    maxBackoffMs: 'The longest wait, in milliseconds.',
    on: 'The codes of the failures after which it is tried again; all but those that no repeat changes when absent.',
  },
  EscalationRule: {
    '': 'When a run turns to its persona.',
    condition: 'What has to happen.',
    action: '"pause" the run until it is answered, "notify" and go on, or "abort".',
    priority: 'How urgent it is.',
    remindAfterMs:
      'Of questions: how long one is open before its persona is reminded; each further reminder takes twice as long as the one before.',
  },
};
