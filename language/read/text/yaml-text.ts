/**
 * YAML to a value, or why not. It is YAML 1.2 with its core schema and nothing that JSON could not hold:
 * no tags, and no keys that are no text. An alias is a copy of what it names, as far as a definition may grow. The library composes recursively and
 * takes seconds for a hostile text of a megabyte, so size and depth are bounded before it is asked.
 */
import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  Parser,
  type YAMLError,
  YAMLParseError,
} from 'yaml';
import { valueDepthMax, yamlBytesMax } from '../../limits.ts';
import type { ProblemCode } from '../../problems.ts';
import { placedAt, type DefinitionText } from './placed-problems.ts';
import { placesIn } from './place.ts';
import { WantedPaths } from './wanted-paths.ts';
import { BRACES, IN_QUOTES, TAGS, YamlReading } from './yaml-reading.ts';

export function readYaml(text: string): DefinitionText {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > yamlBytesMax) {
    const message = `the definition has ${bytes} bytes; at most ${yamlBytesMax} are read as YAML: write it as JSON, or keep data in files`;
    return { ok: false, problem: { code: 'TOO_LARGE', severity: 'error', path: '', message } };
  }
  const deep = tooDeep(text);
  if (deep !== undefined)
    return refused(
      text,
      'TOO_DEEP',
      deep,
      `there are more than ${valueDepthMax} levels here; move the inner steps into a definition of their own and refer to it by "$ref"`,
    );
  const document = documentIn(text);
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong !== undefined)
    return refused(text, 'NOT_YAML', wrong.pos[0], remedyAt(text, wrong.pos[0]) ?? plainWords(wrong));
  const { contents } = document;
  const reading = new YamlReading();
  const value = contents === null ? null : reading.value(contents, '');
  if (reading.fault !== undefined) return refused(text, reading.fault.code, reading.fault.at, reading.fault.message);
  return {
    ok: true,
    value,
    problems: reading.changes.map(({ problem, at }) =>
      placedAt({ ...problem, message: `${placesIn(text)(at)}: ${problem.message}` }, text, at),
    ),
    placeOf: (paths) => placesInYaml(contents, paths),
  };
}

/** The first document of a text; a second one is an error of it. */
function documentIn(text: string): Document.Parsed {
  const composer = new Composer({
    schema: 'core',
    version: '1.2',
    merge: false,
    uniqueKeys: false,
    strict: true,
    logLevel: 'error',
    prettyErrors: false,
  });
  const [first, second] = composer.compose(withOneError(new Parser().parse(text)), true, text.length);
  if (first === undefined) throw new Error('bug: the library composes a document of any text');
  if (second !== undefined)
    first.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', 'a second document'));
  return first;
}

/** Only the first error is told. A hostile text has one at each character, and the library makes an object of each. */
function* withOneError(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let hasError = false;
  for (const token of tokens) {
    if (token.type !== 'error' || !hasError) yield token;
    hasError ||= token.type === 'error';
  }
}

function refused(text: string, code: ProblemCode, at: number, message: string): DefinitionText {
  return {
    ok: false,
    at,
    problem: { code, severity: 'error', path: '', message: `${placesIn(text)(at)}: ${message}` },
  };
}

/** Errors whose sentences speak to a program, or end without a remedy. */
const WORDS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  MULTIPLE_DOCS: 'a second document begins here, and a file holds one definition; move it into a file of its own',
  BLOCK_AS_IMPLICIT_KEY: `a ": " begins another map here; where it belongs to a text, ${IN_QUOTES}`,
  TAG_RESOLVE_FAILED: TAGS,
  TAB_AS_INDENT: 'a tab stands in the indentation of this line; indent with spaces',
};

/** The library ends some of its sentences in a place, which is told already. */
function plainWords({ code, message }: YAMLError): string {
  const words = WORDS[code] ?? message.replace(/ at line \d+, column \d+:?[^]*$/, '').slice(0, 200);
  return /cannot start with/.test(words) ? `${words}; ${IN_QUOTES}` : words;
}

/** Where more levels are open than the library may recurse over: by brackets, by indentation, and by marks that open one each. */
function tooDeep(text: string): number | undefined {
  const indents: number[] = [];
  let brackets = 0;
  for (let begin = 0; begin < text.length;) {
    const newline = text.indexOf('\n', begin);
    const end = newline === -1 ? text.length : newline;
    let at = begin;
    let marks = 0;
    for (; at < end; at += 1) {
      const char = text[at];
      if (char === ' ') continue;
      if ((char === '-' || char === '?' || char === ':') && (text[at + 1] === ' ' || at + 1 === end)) marks += 1;
      else break;
    }
    if (at < end) {
      const indent = at - begin;
      while ((indents.at(-1) ?? -1) >= indent) indents.pop();
      indents.push(indent);
    }
    for (let inner = at; inner < end; inner += 1) {
      const char = text[inner];
      if (char === '[' || char === '{') brackets += 1;
      else if ((char === ']' || char === '}') && brackets > 0) brackets -= 1;
      if (brackets > valueDepthMax) return inner;
    }
    if (indents.length + marks + brackets > valueDepthMax) return begin;
    begin = end + 1;
  }
  return undefined;
}

/** A value that begins with a reference in braces is the mistake that most are. */
function remedyAt(text: string, at: number): string | undefined {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, (text.indexOf('\n', at) + 1 || text.length + 1) - 1);
  return /(?:^|[:,[-])\s*\{\{/.test(line) ? BRACES : undefined;
}

function placesInYaml(root: Node | null, paths: readonly string[]): Map<string, number> {
  const wanted = new WantedPaths(paths);
  const visit = (node: Node | null, path: string | undefined): void => {
    if (node === null || path === undefined) return;
    if (isSeq(node))
      node.items.forEach((item, index) => {
        const child = wanted.child(path, String(index));
        wanted.found(child, (item as Node | null)?.range?.[0] ?? 0);
        visit(item as Node | null, child);
      });
    if (!isMap(node)) return;
    for (const { key, value } of node.items as { key: Node | null; value: Node | null }[]) {
      if (!isScalar(key)) continue;
      const child = wanted.child(path, String(key.source ?? key.value));
      wanted.found(child, key.range?.[0] ?? 0);
      visit(value, child);
    }
  };
  wanted.found('', root?.range?.[0] ?? 0);
  visit(root, '');
  return wanted.places();
}
