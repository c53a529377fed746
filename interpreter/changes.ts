/**
 * The ledger of behaviour changes (I10). A change that a running run's replay would notice gets an
 * entry here, a branch on `hasChange` where it takes effect, and a recorded history from before in
 * test/histories/. Entries are never removed while a run from before may live.
 *
 * A run begins with the level of its day in its start input and takes a newer one when it continues as
 * new: it has every change up to that level, without an event in its history. What a run from before
 * comes to later is told by the marker of `patched()`.
 */
export interface BehaviourChange {
  /** Passed to `patched()`; never reused. */
  id: string;
  /** Runs that begin with this level, or a higher one, have it. */
  level: number;
  /** Runs from before never get it: every run of a kind would pay for the marker. */
  isOnlyForNew?: true;
  /** What was, what is now, and why. */
  reason: string;
  /** ISO date. */
  since: string;
}

/** What runs of today begin with. */
export const LEVEL_NOW = 8;

export const CHANGES = {
  attemptsInWalk: {
    id: 'attempts-in-walk',
    level: 1,
    reason:
      'Retries were those of the activity, so a stop waited for all of them; steps that hold others ignored retry and timeoutMs. ' +
      'Now the walk tries every kind of step again, each attempt with keys of its own, and a timer bounds steps that hold others.',
    since: '2026-11-22',
  },
  handlersLast: {
    id: 'handlers-last',
    level: 1,
    reason:
      'A handler of pause, resume, stop, an answer or an edit ran before what the same activation had resolved, which a worker that ' +
      'took over could see otherwise than the replay after it. Now it runs after everything else of the activation (last-in-turn.ts).',
    since: '2026-11-22',
  },
  carriedWaits: {
    id: 'carried-waits',
    level: 1,
    reason:
      'A step that had waited before the run continued as new, and was ended on the way back to it, recorded no end, left its question ' +
      'open until the run had cleaned up, and was charged to the budget again; a rest between passes or attempts held up the ' +
      'continue-as-new of every sibling; time that the run was held counted against waits for events. Now each has its end at once and ' +
      'is counted once, what is left of a rest is taken after the continue-as-new, and held time does not count.',
    since: '2026-11-22',
  },
  fansAsOne: {
    id: 'fans-as-one',
    level: 1,
    isOnlyForNew: true,
    reason:
      'Each branch of a parallel step was driven by promises of its own, in a cancellation scope of its own: fifteen promises a branch, ' +
      'nearly twice the processor time of a hand-written fan. Now the branches are driven together, and what a failure cancels is one scope; ' +
      'a nested run that nobody awaits is in none.',
    since: '2026-11-22',
  },
  digestsKept: {
    id: 'digests-kept',
    level: 1,
    isOnlyForNew: true,
    reason:
      'A branch cancelled while the digest of its question was made threw out of the walk, and the run ended as if it had been cancelled. ' +
      'Now the digest is finished, and the branch ends where it would ask.',
    since: '2026-11-22',
  },
  nestedTime: {
    id: 'nested-time',
    level: 2,
    reason:
      'The timeoutMs of a sentinel step was a limit of the nested run, which ended stopped, and the step ended well: onError and retry ' +
      'were never asked. Now a timer bounds the step, as it bounds steps that hold others: the nested run is cancelled and cleans up, and the step fails.',
    since: '2026-11-22',
  },
  askedAtLimits: {
    id: 'asked-at-limits',
    level: 2,
    isOnlyForNew: true,
    reason:
      'A run that a limit held told its owner and asked nothing: only resuming it, by the same amount, let it go on. Now it asks, and the ' +
      'answer says whether it is extended, and by how much; the digest of the question is made by a local activity.',
    since: '2026-11-22',
  },
  editsBehind: {
    id: 'edits-behind',
    level: 3,
    reason:
      'An edit was made although a lost worker had committed segments beyond the place where history knows the run to be; their steps ' +
      'had other keys after it, and what they do happened a second time. Now a local activity looks, and the edit waits for the run to ' +
      'come past them, or is refused.',
    since: '2026-11-22',
  },
  heardBeforeEnd: {
    id: 'heard-before-end',
    level: 3,
    isOnlyForNew: true,
    reason:
      'A run that ended, or continued as new, in the workflow task in which it was answered lost the answer when a signal arrived ' +
      'meanwhile: Temporal refuses such a task, and the inbox had the question as answered. Now the task with the answer ends first.',
    since: '2026-11-22',
  },
  handlersSettled: {
    id: 'handlers-settled',
    level: 4,
    isOnlyForNew: true,
    reason:
      'What was said to a run while a local activity of it outlasted a workflow task was heard after that activity had ended, and by a ' +
      'replay before, even before the first step: the worker core folds a task that led to no command into the next one. Now it is heard ' +
      'when no local activity is under way, and never before the first step, in the order in which it was said.',
    since: '2026-11-22',
  },
  heardAtAll: {
    id: 'heard-at-all',
    level: 4,
    isOnlyForNew: true,
    reason:
      'Whether something was heard in the task that ends a run was told by the length of history, which a replay sees otherwise while a ' +
      'local activity outlasts a task. Now whatever was heard since the run last rested lets a task end before the run does.',
    since: '2026-11-22',
  },
  localEnds: {
    id: 'local-ends',
    level: 5,
    isOnlyForNew: true,
    reason:
      'What ends in several activations of a task, a replay is handed in one: local activities of several branches led to commands in ' +
      'another order where the ways from the one to the other differ in length, more often still when they outlasted the task together. Now ' +
      'one end is taken after the other, what would outlast its task is asked of a regular activity, and branches rest together.',
    since: '2026-11-22',
  },
  numbersApart: {
    id: 'numbers-apart',
    level: 5,
    isOnlyForNew: true,
    reason:
      'Events of the workflow and of its segments had numbers of one kind, which a worker that was lost had given out in another order: ' +
      'rows of one step were written over by those of another, or stayed although nothing came of them. Now each kind has its own, and ' +
      'whoever goes on first takes back what was lost.',
    since: '2026-11-22',
  },
  readAsWritten: {
    id: 'read-as-written',
    level: 6,
    isOnlyForNew: true,
    reason:
      'The data of a shell that printed neither an object nor a list was its whole result, so that a number it printed compared with ' +
      'nothing; and the check of `while` saw the number of the pass before. Now data is what was printed, and the check sees the pass it decides upon.',
    since: '2026-11-22',
  },
  nestedHeld: {
    id: 'nested-held',
    level: 7,
    isOnlyForNew: true,
    reason:
      'A nested run that was under way when a run with onTimeout "pause" had used its time ended there, and its work was missing after the ' +
      'extension; one that failed by itself after that was run again, under a handle with a mark that every nested run begun after an ' +
      'extension had; one in a clean-up was held at a budget that was used up; one that was held with a run that was then stopped began ' +
      'another step; and a run whose last step was a nested one that its limit or a stop had ended was completed. Now what is held is the ' +
      'run with everything nested in it, a failure is a failure, handles have no mark, a clean-up is bounded by its time alone, and what ' +
      'stops a nested run stops the run that has come to the same.',
    since: '2026-11-22',
  },
  extendedAtOnce: {
    id: 'extended-at-once',
    level: 7,
    isOnlyForNew: true,
    reason:
      'An extension was counted by the branch that had been held for it, when that went on; another one that came to the limit before ' +
      'asked the same again, under the id of the question that had its answer. Now it counts when it is given.',
    since: '2026-11-22',
  },
  fieldsByDollar: {
    id: 'fields-by-dollar',
    level: 7,
    isOnlyForNew: true,
    reason:
      'Fields that every result has (`duration_ms`, `data`, the other spelling of an exit code) were there between braces and not behind `$` ' +
      'or a bare name, where a condition on them was never met. Now every form reads them, where the variable has no such field itself.',
    since: '2026-11-22',
  },
  jsonByDollar: {
    id: 'json-by-dollar',
    level: 8,
    isOnlyForNew: true,
    reason:
      'A text that is JSON was read as the value it stands for on the way down a path between braces, and not behind `$` or a bare name, where ' +
      'it had no fields and its elements were characters. Now every form reads it; the length of a text and its methods stay its own there.',
    since: '2026-11-23',
  },
} as const satisfies { readonly [name: string]: BehaviourChange };

/** Of a change that only new runs have: whether the run is one. Pure, for the walk. */
export const isNewFor = ({ level = 0 }: { readonly level?: number }, change: BehaviourChange): boolean =>
  level >= change.level;
