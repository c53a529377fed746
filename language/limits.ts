/**
 * Every bound of the language in one place. Sizes are in UTF-16 units (`Length`) or bytes (`Bytes`),
 * times in milliseconds. A bound is the last value that is accepted.
 */

/** A definition as text, and its shape. */
export const definitionBytesMax = 1024 * 1024;
/** One that is YAML: its parser takes seconds for more. */
export const yamlBytesMax = 256 * 1024;
export const stepsMax = 5_000;
/** Arrays and objects inside one another, steps included. */
export const nestingDepthMax = 64;
/** Values (not steps) a definition may hold: keys and elements together. */
export const valuesMax = 100_000;

/**
 * Arrays and objects inside one another in a value of a run, wherever it comes from. What recurses over a
 * value is never handed a deeper one; the platform itself gives up at some 1,100 (the reader of parameters),
 * 1,900 (copies between threads) and 4,000 (JSON as text).
 */
export const valueDepthMax = 500;
/** Arrays and objects in such a value: one that holds itself has no end. */
export const valuePartsMax = 1_000_000;

/** Filters inside one another when records are looked for, and comparisons that one has in all. */
export const filterDepthMax = 16;
export const filterConditionsMax = 200;

/** Characters of the name of a group of runs. */
export const groupNameMax = 200;

/** Expressions: refused before they are parsed. */
export const expressionLengthMax = 10_000;
/** Tokens of an expression, which bounds the nodes of its tree and the length of any chain in it. */
export const expressionNodesMax = 1_000;
/** Brackets inside one another; also the ternaries and the unary operators in a row. */
export const expressionDepthMax = 64;
/** Parsed expressions kept for reuse. */
export const expressionsCachedMax = 1_000;

/** `{{…}}`: characters of one pair with all that is in it, and pairs inside one another. */
export const bracesLengthMax = 2_000;
export const bracesNestedMax = 5;

/** One evaluation: nodes visited, elements walked, and text scanned (one step for 256 units). */
export const evaluationStepsMax = 200_000;
/** All text that one evaluation may produce, intermediate results included. */
export const evaluationCharactersMax = 8 * 1024 * 1024;
/** Any single text that an expression produces. */
export const stringLengthMax = 1024 * 1024;

/** Text that interpolation may produce from one value. */
export const interpolationLengthMax = 8 * 1024 * 1024;
/** A value of a run, as JSON; larger ones are a failure of the step that made them. */
export const valueBytesMax = 8 * 1024 * 1024;
/** The results of all items of a list together, as JSON; each is a value of its own. */
export const listBytesMax = 64 * 1024 * 1024;
/** Characters of an item that the entry of its failure shows. */
export const itemShownMax = 1_000;
/** Data of an event, as JSON: a run reads it as a field of the event, and its fields beside it. */
export const eventDataBytesMax = 3 * 1024 * 1024;
/** Bytes of each text (`stdout`, `stderr`, `output`) that the result of a process holds whole; of a longer one its start and its end. */
export const outputBytesMax = 1_000_000;
/** Larger values leave the run's history and travel as a reference. */
export const inlineBytesMax = 32 * 1024;
/** An environment string above this goes through a file (Linux refuses 128 KiB and more). */
export const environmentBytesMax = 96 * 1024;
/** All environment strings that references of one shell line may fill together. */
export const environmentTotalBytesMax = 512 * 1024;

/** Patterns of watch rules. */
export const regexLengthMax = 1_000;

/** Times a step may take when the definition does not say. */
export const shellTimeoutMs = 600_000;
export const commandTimeoutMs = 60_000;
/** Waiting for a process or an event; a run's own limits end it sooner. */
export const watchTimeoutMs = 24 * 3_600_000;

/** Runs that one step waits for. */
export const joinedRunsMax = 1_000;

/** A model step with all its turns and calls; a run's own limits end it sooner. */
export const modelTimeoutMs = 24 * 3_600_000;
/** Turns of a model step that does not say. */
export const modelTurnsMax = 50;
/** Calls that one answer of a model may make. */
export const turnCallsMax = 100;
/** Turns of a model step in a row that change nothing, after which it turns in circles, where it does not say. */
export const modelUnchangedTurnsMax = 20;
/** What a model is told of one result of a call, in characters. */
export const callResultLengthMax = 50_000;
/** Variables that a model is told of besides its prompt, in characters: all together, and each. */
export const contextCharactersMax = 24_000;
export const contextVariableCharactersMax = 4_000;
/** Pictures that go with a prompt. */
export const picturesMax = 20;

/** What a person tells a model at once, as UTF-8: it goes through the run's history. */
export const tellBytesMax = 16 * 1024;
/** Such messages that may wait for the next turn of a run's model steps. */
export const tellsWaitingMax = 20;

/** How long a provider may ask to be left alone: no step takes a year, and no clock counts much further. */
export const restMsMax = 366 * 86_400_000;

/** A run that rests for less keeps its place among those of its persona. */
export const placeRestMin = 10_000;
/** Runs of a persona that is a model that may be at work at the same time, unless a person says otherwise. */
export const personaPlaces = 4;
export const personaPlacesMax = 10_000;

/** How long an `always` block may take, waiting for answers included. */
export const cleanUpMs = 600_000;

/** Sentinels inside one another, unless `safety.maxNestingDepth` says otherwise. */
export const nestingSentinelsMax = 8;
/** The score in percent from which an examination is passed, unless it says otherwise. */
export const passingScore = 80;
/** Steps that one segment runs at most. */
export const segmentStepsMax = 200;
/** Passes of a `continuous` loop that states no `max`. */
export const continuousPassesMax = 10_000;

/** Rules of a policy, and characters of a pattern in one. */
export const policyRulesMax = 200;
export const globLengthMax = 500;
/** Policies that hold for a run together: its own, the project's, and those of the runs around it. */
export const policiesMax = 20;
