// Writes docs/client.md from the declarations of what `sentinel-engine/client` exports: `npm run docs`. With --check it
// writes nothing, and exits with 1 where the page says something else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

const root = fileURLToPath(new URL('..', import.meta.url));
const ENTRY = 'client/package/client.d.ts';
const MARKER = '<!-- Generated from the declarations by `npm run docs`; edit the docstrings instead. -->\n';
/** Types that have a page of their own, or that mean what their name says. */
const ELSEWHERE = new Set([
  'Definition',
  'Step',
  'Json',
  'JsonObject',
  'RunEvent',
  'Environment',
  'ProblemCode',
  'StepType',
]);

const read = (file) => {
  const text = readFileSync(join(root, 'dist', file), 'utf8');
  const { program } = parse(text, {
    sourceType: 'module',
    plugins: [['typescript', { dts: true }]],
    attachComment: true,
  });
  return { file, text, body: program.body };
};
const modules = new Map();
const moduleAt = (file) => {
  if (!modules.has(file)) modules.set(file, read(file));
  return modules.get(file);
};
const pathFrom = (file, source) => relative('.', join(dirname(file), source)).replace(/\.js$/, '.d.ts');

/** A declaration in a module, exported or imported there, followed to where it is written; null where it is a library's. */
function find(file, name) {
  const { body } = moduleAt(file);
  for (const node of body) {
    const declared = node.declaration ?? node;
    if (declared.id?.name === name) return { file, node: declared, comments: node.leadingComments ?? [] };
    const source = node.source?.value;
    if (source === undefined || !source.startsWith('.')) continue;
    if (node.type === 'ExportAllDeclaration') {
      const found = find(pathFrom(file, source), name);
      if (found !== null) return found;
    }
    for (const { local, exported, imported } of node.specifiers ?? [])
      if ((exported ?? local)?.name === name) return find(pathFrom(file, source), (imported ?? local).name);
  }
  return null;
}

/** Names that a module exports, in their order. */
const exportsOf = (file) =>
  moduleAt(file).body.flatMap((node) => {
    if (node.type === 'ExportAllDeclaration') return exportsOf(pathFrom(file, node.source.value));
    if (node.type !== 'ExportNamedDeclaration') return [];
    return node.declaration ? [node.declaration.id.name] : node.specifiers.map(({ exported }) => exported.name);
  });

/** Type names that a piece of syntax refers to. */
function namesIn(node, found = new Set()) {
  if (Array.isArray(node)) for (const one of node) namesIn(one, found);
  else if (node !== null && typeof node === 'object') {
    if (node.type === 'TSTypeReference' && node.typeName.type === 'Identifier') found.add(node.typeName.name);
    if (node.type === 'TSInterfaceHeritage' || node.type === 'TSExpressionWithTypeArguments')
      found.add(node.expression.name);
    for (const [key, value] of Object.entries(node))
      if (!key.endsWith('Comments') && key !== 'loc') namesIn(value, found);
  }
  return found;
}

/** The text of a comment, without its stars; blank lines part its paragraphs. */
const prose = (comments) =>
  comments
    .filter(({ type, value }) => type === 'CommentBlock' && value.startsWith('*'))
    .slice(-1)
    .map(({ value }) =>
      value
        .slice(1)
        .split('\n')
        .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
        .join('\n')
        .trim()
        .replaceAll(/(?<!\n)\n(?!\n)/g, ' '),
    )
    .join('');

/** Without the indentation that all lines but the first share. */
const dedent = (text) => {
  const [first, ...rest] = text.split('\n');
  const by = Math.min(...rest.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return [first, ...rest.map((line) => line.slice(by))].join('\n');
};
const codeOf = ({ file, node }) =>
  dedent(moduleAt(file).text.slice(node.start, node.end))
    .replace(/^declare /, '')
    .replaceAll('    ', '  ')
    .replaceAll(/\n\s*#private;/g, '');
const block = (code) => `\`\`\`ts\n${code}\n\`\`\`\n`;

function methodSections(client) {
  return client.node.body.body
    .filter((member) => member.type === 'TSDeclareMethod' && member.key.type === 'Identifier')
    .map((member) => {
      const text = prose(member.leadingComments ?? []);
      const title = member.kind === 'constructor' ? 'new SentinelClient' : member.key.name;
      const signature = codeOf({ file: client.file, node: member });
      return `### \`${title}\`\n\n${text === '' ? '' : `${text}\n\n`}${block(signature)}`;
    });
}

/** The types that the signatures name, and those that these name, each where it is first needed. */
function typeSections(start, known) {
  const waiting = [...start];
  const seen = new Set(known);
  const sections = [];
  for (const { file, name } of waiting) {
    if (seen.has(name) || ELSEWHERE.has(name)) continue;
    seen.add(name);
    const found = find(file, name);
    if (found === null || found.node.type === 'ClassDeclaration') continue;
    const text = prose(found.comments);
    sections.push({ name, text: `### \`${name}\`\n\n${text === '' ? '' : `${text}\n\n`}${block(codeOf(found))}` });
    for (const inner of namesIn(found.node)) waiting.push({ file: found.file, name: inner });
  }
  return sections.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ text }) => text);
}

/** The page: the text that stands before the marker is written by hand. */
function clientPage(written) {
  const client = find(ENTRY, 'SentinelClient');
  const reader = find(ENTRY, 'readDefinition');
  const named = exportsOf(ENTRY).filter((name) => !['SentinelClient', 'readDefinition', 'ClientError'].includes(name));
  const start = [
    ...[...namesIn(client.node), ...namesIn(reader.node)].map((name) => ({
      file: find(client.file, name) === null ? reader.file : client.file,
      name,
    })),
    ...named.map((name) => ({ file: ENTRY, name })),
  ];
  return [
    written.slice(0, written.indexOf(MARKER) + MARKER.length),
    '## `readDefinition`\n',
    `${prose(reader.comments)}\n`,
    block(codeOf(reader)),
    '## `SentinelClient`\n',
    ...methodSections(client),
    '## Types\n',
    ...typeSections(start, ['Promise', 'AsyncGenerator', 'Omit', 'Pick', 'Partial', 'Record']),
  ].join('\n');
}

const page = join(root, 'docs', 'client.md');
if (!existsSync(join(root, 'dist', ENTRY))) throw new Error('there are no declarations; run "npm run build"');
const written = readFileSync(page, 'utf8');
const generated = clientPage(written);
if (!process.argv.includes('--check')) writeFileSync(page, generated);
else if (generated !== written) {
  process.stderr.write('docs/client.md is not what the declarations say; run "npm run docs".\n');
  process.exitCode = 1;
}
