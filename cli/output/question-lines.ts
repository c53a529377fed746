/** An open question for people: what is asked, the fields of its form, and the commands that answer it. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { isActing, type Choice } from '../../language/events/question.ts';
import { briefLines } from '../../language/events/shown-value.ts';
import { PLAIN, type Paint } from '../../client/show/paint.ts';
import { isShownWhole, shortDigest } from '../../client/lookup/find-question.ts';
import { oneLine } from '../../client/show/trace.ts';

export interface ShownQuestion {
  handle: string;
  id: string;
  message: string;
  choices: readonly Choice[];
  show: Json;
  form: JsonObject | null;
  digest: string | null;
}

/** As a list shows it: the whole, or how it begins and where the whole is. */
export function questionLines(question: ShownQuestion, paint: Paint = PLAIN): string[] {
  return [
    `  ${paint.warn('asks')}: ${oneLine(question.message)}`,
    ...briefLines(question.show).map((line) => `      ${line}`),
    ...howToAnswer(question).map((line) => `    ${line}`),
  ];
}

/** What has to be known, and what to type: with a form its fields first, and a command whose data fit it. */
export function howToAnswer(question: Omit<ShownQuestion, 'message'>): string[] {
  const { handle, id, choices } = question;
  if (isShownWhole(question) || !choices.some(isActing)) return answerLines(question, choices);
  return [
    `all of it, and how to approve it: sentinel inbox show ${word(handle)} ${word(id)}`,
    ...answerLines(
      question,
      choices.filter((choice) => !isActing(choice)),
    ),
  ];
}

/** The same for somebody who is shown all of it. */
export const howToAnswerSeen = (question: Omit<ShownQuestion, 'message'>): string[] =>
  answerLines(question, question.choices, question.digest === null ? '' : ` --digest ${shortDigest(question.digest)}`);

function answerLines(
  { handle, id, form }: Omit<ShownQuestion, 'message'>,
  choices: readonly Choice[],
  named = '',
): string[] {
  if (choices.length === 0) return [];
  const answer = `sentinel answer ${word(handle)} ${word(id)}`;
  // The form is what an approval carries; every other choice goes without data.
  if (form === null || !choices.includes('approve')) return [`${answer} ${choices.join('|')}${named}`];
  const others = choices.filter((choice) => choice !== 'approve');
  return [
    `needs --data with ${fieldsText(form)}`,
    `${answer} approve --data ${quoted(JSON.stringify(exampleOf(form, DEPTH_MAX)))}${named}`,
    ...(others.length === 0 ? [] : [`${answer} ${others.join('|')}${named}`]),
  ];
}

/** As a shell takes it for one word. */
const word = (text: string): string => (/^[\w@%+=:,./#-]+$/.test(text) ? text : quoted(text));
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const FIELDS_MAX = 20;
const DEPTH_MAX = 5;

/** `version (text: which one), count (a whole number, may be left out)`. */
function fieldsText(form: JsonObject): string {
  const fields = fieldsOf(form);
  if (fields.length === 0) return `what fits ${oneLine(JSON.stringify(form))}`;
  const shown = fields
    .slice(0, FIELDS_MAX)
    .map(({ name, schema, isNeeded }) => `${name} (${kindText(schema)}${isNeeded ? '' : ', may be left out'})`);
  return [...shown, ...(fields.length > FIELDS_MAX ? [`${fields.length - FIELDS_MAX} more`] : [])].join(', ');
}

interface Field {
  name: string;
  schema: JsonObject;
  isNeeded: boolean;
}

/** What must be given comes first. */
function fieldsOf({ properties, required }: JsonObject): Field[] {
  if (properties === undefined || !isJsonObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, schema]): Field => ({
    name,
    schema: isJsonObject(schema) ? schema : {},
    isNeeded: needed.has(name),
  }));
  return [...fields.filter(({ isNeeded }) => isNeeded), ...fields.filter(({ isNeeded }) => !isNeeded)];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function kindText(schema: JsonObject): string {
  const { description } = schema;
  const choices = Array.isArray(schema['enum'])
    ? schema['enum']
    : schema['const'] === undefined
      ? null
      : [schema['const']];
  const kind =
    choices === null
      ? typesOf(schema)
          .flatMap((type) => KINDS[type] ?? [])
          .join(' or ') || 'anything'
      : choices.map((choice) => JSON.stringify(choice)).join(' or ');
  return typeof description === 'string' && description !== '' ? `${kind}: ${oneLine(description)}` : kind;
}

function typesOf({ type }: JsonObject): string[] {
  return (Array.isArray(type) ? type : [type]).flatMap((name) => (typeof name === 'string' ? [name] : []));
}

/** Something that fits a plain schema: the fields that must be given, or all of them where none must. */
function exampleOf(schema: JsonObject, depth: number): Json {
  const given = [schema['const'], schema['default'], ...asList(schema['examples']), ...asList(schema['enum'])].find(
    (value) => value !== undefined,
  );
  if (given !== undefined) return given;
  const [type = schema['properties'] === undefined ? 'string' : 'object'] = typesOf(schema);
  switch (type) {
    case 'object':
      return depth === 0 ? {} : exampleObject(schema, depth);
    case 'array':
      return depth === 0 || !isJsonObject(schema['items'] ?? null)
        ? []
        : [exampleOf(schema['items'] as JsonObject, depth - 1)];
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number'
        ? schema['minimum']
        : typeof schema['maximum'] === 'number'
          ? schema['maximum']
          : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema);
  }
}

function exampleObject(schema: JsonObject, depth: number): JsonObject {
  const fields = fieldsOf(schema);
  const needed = fields.filter(({ isNeeded }) => isNeeded);
  return Object.fromEntries(
    (needed.length > 0 ? needed : fields).map(({ name, schema: field }) => [name, exampleOf(field, depth - 1)]),
  );
}

function exampleText({ minLength }: JsonObject): string {
  const text = 'text';
  return typeof minLength === 'number' && minLength > text.length ? text.padEnd(Math.min(minLength, 100), '.') : text;
}

const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
