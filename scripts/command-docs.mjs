// docs/command-reference.md, from what the commands state of themselves.

const inCell = (text) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').trim();
const code = (text) => `\`${inCell(text)}\``;

/** `rowsOf`: language/schema/schema-rows.ts. */
function fieldTable(title, schema, rowsOf) {
  const rows = schema === null ? [] : rowsOf(schema);
  if (rows.length === 0) return title === 'parameter' ? ['It takes no parameters.', ''] : [];
  const isResult = title === 'result';
  return [
    isResult ? '| result | type | means |' : '| parameter | type | needed | means |',
    isResult ? '|---|---|---|' : '|---|---|---|---|',
    ...rows.map(({ field, type, isNeeded, description }) => {
      const cells = [
        field === '' ? 'the value' : code(field),
        inCell(type),
        ...(isResult ? [] : [isNeeded ? 'yes' : '']),
      ];
      return `| ${[...cells, inCell(description)].join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
    }),
    '',
  ];
}

function section({ name, description, permission, operations, speed, timeoutMs, params, result }, rowsOf) {
  const classes = Object.entries(operations).map(([operation, own]) => `${code(operation)} has ${code(own)}`);
  const facts = [
    `Permission ${code(permission)}${classes.length === 0 ? '' : ` (${classes.join(', ')})`}`,
    speed === 'quick' ? 'quick' : 'long',
    `time limit ${timeoutMs / 1000} s unless the step states one`,
  ];
  return [
    `### \`${name}\``,
    '',
    ...(description === null ? [] : [description, '']),
    `${facts.join('; ')}.`,
    '',
    ...fieldTable('parameter', params, rowsOf),
    ...fieldTable('result', result, rowsOf),
  ];
}

/** The words of a system on the codes with which its commands fail (its failures.md), below its commands. */
const failureSection = (words) =>
  words === null
    ? []
    : [
        '### Failures',
        '',
        ...words.replaceAll(/^##/gm, '####').replaceAll('](../../docs/', '](').trimEnd().split('\n'),
        '',
      ];

/** `rowsOf`: language/schema/schema-rows.ts; `failuresOf`: what stands in failures.md of a system, null where there is none. */
export function commandReference(commands, rowsOf, failuresOf) {
  const built = commands.filter(({ isPlanned }) => !isPlanned);
  const planned = commands.filter(({ isPlanned }) => isPlanned);
  return [
    '# Command reference',
    '',
    'Every command that comes with Sentinel, by system. Steps [call them](language.md#command), models have them as [tools](models.md#the-step), and `sentinel command NAME` [performs one by hand](cli.md#command). `sentinel commands` shows the same at the command line, and the [commands of a project](commands.md) and its [MCP servers](mcp.md) with them.',
    '',
    'A *quick* command is local and short, and shares a transaction with the steps around it. A *long* one is an activity of its own. The [permission](safety.md#modes) is what a mode and `requireApproval` look at.',
    '',
    '<!-- Written by the build from what the commands state; edit the commands instead. -->',
    '',
    ...[...new Set(built.map(({ system }) => system))].flatMap((system) => {
      const own = built.filter((command) => command.system === system);
      const { about } = own[0];
      return [
        `## ${system}`,
        '',
        `${about[0].toUpperCase()}${about.slice(1)}.`,
        '',
        ...own.flatMap((one) => section(one, rowsOf)),
        ...failureSection(failuresOf(system)),
      ];
    }),
    '## Planned',
    '',
    'These names are part of the format, and nothing is built for them yet. A step that names one fails with [`COMMAND_NOT_BUILT`](failures.md#command_not_built).',
    '',
    `${planned.map(({ name }) => code(name)).join(', ')}.`,
    '',
  ].join('\n');
}
