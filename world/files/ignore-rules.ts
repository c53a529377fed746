/** The rules of a project's `.gitignore` files as far as testing a path against them takes a moment: a step may have written them. */
import ignore, { type Ignore } from 'ignore';

const RULES_MAX = 5_000;
const LENGTH_MAX = 1_000;
/** Each may begin anywhere in what the one before it left over. */
const WILD_MAX = 4;

const isShort = (rule: string): boolean =>
  rule.length <= LENGTH_MAX && (rule.match(/\*+|\?/g) ?? []).length <= WILD_MAX;

export const ignoreRules = (text: string): Ignore =>
  ignore({ ignorecase: false }).add(text.split(/\r?\n/, RULES_MAX).filter(isShort));

/** Whether a rule brings files into sight that another hides. */
export const hasException = (text: string): boolean =>
  text.split('\n').some((rule) => rule.trimStart().startsWith('!'));
