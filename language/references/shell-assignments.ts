/**
 * Names that a command line sets by itself: `name=…`, `for name in …`, `select name in …`, `read name`, and
 * `export`, `readonly`, `local`, `declare`, `typeset` with `name=…`. They are the shell's from there to the end
 * of the line, in subshells too. An assignment for one command (`name=… npm test`) sets nothing for the line.
 *
 * One reader follows the words of one list of commands: the line itself, or what stands in `$( )` or backticks.
 */
const SEPARATOR = /[\s;&|()`]/;
const ENDS_COMMAND = /[\n;&|()`]/;
const KEYWORD = /(?:if|while|until|then|do|else|elif|time|!|\{)(?=[\s;(]|$)/y;
const LOOPS = /(?:for|select)[ \t]+([A-Za-z_]\w*)/y;
const ASSIGNS = /([A-Za-z_]\w*)\+?=/y;
const DECLARES = /(?:export|readonly|local|declare|typeset)(?=\s)/y;
const READS = /read(?=\s)/y;
const PLAIN_WORD = /([A-Za-z_]\w*)(?=[\s;&|()<>`]|$)/y;
/** Options of `read` whose next word is their own. */
const TAKES_WORD = /-[A-Za-z]*[dinNptu](?=\s)/y;

export class ShellAssignments {
  /** Shared by all readers of a line. */
  readonly #set: Set<string>;
  #isInWord = false;
  #command: 'awaited' | 'plain' | 'declares' | 'reads' = 'awaited';
  #skipsWord = false;
  /** Set where the word ends, and where the command ends. */
  #atWordEnd: string | undefined;
  #atCommandEnd: string[] = [];
  /** Set before a command that is not there yet: for that command alone, if one comes. */
  #before: string[] = [];

  constructor(set: Set<string>) {
    this.#set = set;
  }

  /** Called with each place of the list that is not inside quotes, in order. */
  meet(line: string, at: number): void {
    if (line.startsWith('\\\n', at)) return;
    const char = line.charAt(at);
    if (SEPARATOR.test(char)) {
      this.#endWord();
      if (ENDS_COMMAND.test(char)) this.#endCommand();
    } else if (!this.#isInWord && char !== '#') this.#beginWord(line, at);
  }

  #endWord(): void {
    this.#isInWord = false;
    const name = this.#atWordEnd;
    this.#atWordEnd = undefined;
    if (name === undefined || this.#set.has(name)) return;
    this.#set.add(name);
    if (this.#command === 'awaited') this.#before.push(name);
  }

  #endCommand(): void {
    for (const name of this.#atCommandEnd) this.#set.add(name);
    this.#atCommandEnd = [];
    this.#before = [];
    this.#command = 'awaited';
  }

  #beginWord(line: string, at: number): void {
    this.#isInWord = true;
    if (this.#command === 'declares') this.#atWordEnd = nameAt(ASSIGNS, line, at);
    else if (this.#command === 'reads') this.#readInto(line, at);
    else if (this.#command === 'awaited') this.#beginCommand(line, at);
  }

  #beginCommand(line: string, at: number): void {
    if (isAt(KEYWORD, line, at)) return;
    this.#atWordEnd = nameAt(ASSIGNS, line, at);
    if (this.#atWordEnd !== undefined) return;
    for (const name of this.#before) this.#set.delete(name);
    this.#before = [];
    const loops = nameAt(LOOPS, line, at);
    if (loops !== undefined) this.#atCommandEnd.push(loops);
    this.#command = isAt(DECLARES, line, at) ? 'declares' : isAt(READS, line, at) ? 'reads' : 'plain';
  }

  #readInto(line: string, at: number): void {
    const skips = this.#skipsWord;
    this.#skipsWord = !skips && isAt(TAKES_WORD, line, at);
    if (/[<>]/.test(line.charAt(at))) this.#command = 'plain';
    const name = skips || this.#command === 'plain' ? undefined : nameAt(PLAIN_WORD, line, at);
    if (name !== undefined) this.#atCommandEnd.push(name);
  }
}

function isAt(pattern: RegExp, line: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(line);
}

function nameAt(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[1];
}
