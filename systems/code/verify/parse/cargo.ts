/** `cargo test --message-format json`: the compiler's messages as JSON, the tests as text. */
import { isJsonObject, type Json, type JsonObject } from '../../../../language/json.ts';
import { type Finding, type Parsed, type Printed, projectPath, spotOf, type TestCase } from './finding.ts';

export function parseCargo(printed: Printed): Parsed {
  const rows = printed.stdout.split('\n');
  const messages = rows.filter((row) => row.startsWith('{')).flatMap((row) => messageIn(row));
  const text = rows.filter((row) => !row.startsWith('{')).join('\n');
  // What is compiled twice, once for its tests, says the same twice.
  const found = new Map(messages.map((finding) => [JSON.stringify(finding.key), finding]));
  const compiled = [...found.values()].map(({ file, line, column, message }): Finding => ({
    ...spotOf(file === undefined ? undefined : projectPath(file, printed), line, column),
    message,
  }));
  const rendered = [...found.values()].map((finding) => finding.rendered);
  return {
    findings: [...compiled, ...failedTests(text, printed)],
    cases: casesIn(text),
    shown: [...rendered, text, printed.stderr].join('\n').trim(),
  };
}

interface Message {
  key: readonly (string | number | undefined)[];
  file?: string;
  line?: number;
  column?: number;
  message: string;
  rendered: string;
}

function messageIn(row: string): Message[] {
  const read = parsed(row);
  const message = isJsonObject(read) && read['reason'] === 'compiler-message' ? read['message'] : null;
  if (!isJsonObject(message) || message['level'] !== 'error') return [];
  const spans = Array.isArray(message['spans']) ? message['spans'].filter(isJsonObject) : [];
  const span: JsonObject = spans.find((one) => one['is_primary'] === true) ?? {};
  const [file, line, column] = [span['file_name'], Number(span['line_start']), Number(span['column_start'])];
  const code = isJsonObject(message['code']) ? message['code']['code'] : undefined;
  const said = [code, message['message']].filter((part) => typeof part === 'string').join(': ');
  const rendered = typeof message['rendered'] === 'string' ? message['rendered'] : said;
  if (typeof file !== 'string') return [{ key: [said], message: said, rendered }];
  return [{ key: [file, line, column, said], file, line, column, message: said, rendered }];
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

const PANIC = /panicked at ([^\s:']+):(\d+):(\d+)/;
/** What older versions print: the place stands behind the words. */
const QUOTED_PANIC = /', ([^\s:']+):(\d+):(\d+)/;

function quotedPlace(said: string): RegExpExecArray | null {
  const start = said.indexOf("panicked at '");
  return start < 0 ? null : QUOTED_PANIC.exec(said.slice(start));
}

const CASE = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$/gm;
const ENDS: { readonly [said: string]: TestCase['status'] } = { ok: 'passed', FAILED: 'failed', ignored: 'skipped' };

/** An example in the documentation is named with its line, which moves with what stands before it. */
const casesIn = (text: string): TestCase[] =>
  Array.from(text.matchAll(CASE), ([, test = '', said = '']) => ({
    test: test.replace(/ \(line \d+\)/, ''),
    status: ENDS[said] ?? 'failed',
  }));

function failedTests(text: string, printed: Printed): Finding[] {
  const blocks = [...text.matchAll(/^---- (.+?) (?:stdout )?----\n([^]*?)(?=^---- |^failures:|(?![^]))/gm)];
  return blocks.map(([, test = '', said = '']): Finding => {
    const [, path, line, column] = PANIC.exec(said) ?? quotedPlace(said) ?? [];
    const file = path === undefined ? undefined : projectPath(path, printed);
    const message = said.replace(/^stack backtrace:[^]*/m, '').trim();
    return { ...spotOf(file, Number(line), Number(column)), message, test };
  });
}
