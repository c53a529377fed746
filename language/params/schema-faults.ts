/** Parameters held against a JSON Schema that came from elsewhere, of whichever draft it says. */
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../json.ts';
import type { ParamFault } from './param-check.ts';

const options: Options = { allErrors: true, strict: false, logger: false, validateFormats: false, verbose: true };

/** What a schema finds in parameters. */
export type SchemaFaults = (params: JsonObject) => readonly ParamFault[];

/** Throws where the schema is none. */
export function schemaFaults({ $schema, $id: _id, ...schema }: JsonObject): SchemaFaults {
  const validate = ajvFor(typeof $schema === 'string' ? $schema : '').compile(schema);
  return (params) => (validate(params) ? [] : oneOfEachChoice((validate.errors ?? []).filter(isFinding)).map(faultOf));
}

function ajvFor(draft: string): Pick<Ajv, 'compile'> {
  if (/draft-0[4-7]/.test(draft)) return new Ajv(options);
  return draft.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options);
}

/** That a rule applied is said by what it found. */
const isFinding = ({ keyword }: ErrorObject): boolean => keyword !== 'if';

/**
 * Of a value that may have one of several forms, each form says what keeps the value from it. What counts is said by
 * the one form that is of the value's kind; where there is none, or several are, the kinds are said once.
 */
function oneOfEachChoice(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = [...errors];
  // The choice around another comes behind it.
  for (const choice of errors.toReversed()) {
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || !left.includes(choice)) continue;
    const inside = left.filter(({ schemaPath }) => schemaPath.startsWith(`${choice.schemaPath}/`));
    const isOtherKind = ({ keyword, instancePath }: ErrorObject): boolean =>
      keyword === 'type' && instancePath === choice.instancePath;
    const formOf = ({ schemaPath }: ErrorObject): string =>
      schemaPath.slice(choice.schemaPath.length + 1).split('/')[0] ?? '';
    const others = new Set(inside.filter(isOtherKind).map(formOf));
    const forms = new Set(inside.map(formOf).filter((form) => !others.has(form)));
    const dropped = new Set(
      forms.size === 1 ? [choice, ...inside.filter((error) => others.has(formOf(error)))] : inside,
    );
    const kinds = inside.filter(isOtherKind).map(({ params }) => String(params['type']));
    const groups = needed(inside, formOf);
    if (groups !== undefined) {
      choice.keyword = 'required';
      choice.message = `must hold ${groups.join(' or ')}`;
    }
    if (forms.size === 0) choice.message = `must be ${[...new Set(kinds)].join(' or ')}`;
    left = left.filter((error) => !dropped.has(error));
  }
  return left;
}

/** Where all that the forms lack are parameters: those that each needs. */
function needed(inside: readonly ErrorObject[], formOf: (error: ErrorObject) => string): string[] | undefined {
  if (!inside.every(({ keyword }) => keyword === 'required')) return undefined;
  const forms = new Map(
    inside.map((error) => [formOf(error), (error.parentSchema as { required?: readonly string[] }).required ?? []]),
  );
  return Array.from(forms.values(), (names) => names.map((name) => `"${name}"`).join(' and '));
}

function faultOf({ keyword, instancePath, params, parentSchema, message = 'does not fit' }: ErrorObject): ParamFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, allowedValues } = params as {
    missingProperty?: string;
    additionalProperty?: string;
    allowedValues?: readonly Json[];
  };
  if (keyword === 'required' && missingProperty !== undefined)
    return { code: 'MISSING_KEY', path: [...path, missingProperty], message: 'is needed' };
  if (keyword === 'additionalProperties' && additionalProperty !== undefined)
    return {
      code: 'UNKNOWN_KEY',
      path: [...path, additionalProperty],
      message: 'is not taken',
      taken: Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {}),
    };
  if ((keyword === 'minLength' || keyword === 'minItems') && params['limit'] === 1)
    return { code: 'WRONG_VALUE', path, message: 'must not be empty' };
  if (keyword === 'required') return { code: 'MISSING_KEY', path, message };
  if (keyword === 'false schema') return { code: 'UNKNOWN_KEY', path, message: 'is not taken beside the others' };
  if (allowedValues !== undefined) {
    const allowed = allowedValues.map((value) => JSON.stringify(value)).join(', ');
    return { code: 'WRONG_VALUE', path, message: `must be one of ${allowed}` };
  }
  const isKind = keyword === 'type' || (keyword.endsWith('Of') && message.startsWith('must be '));
  return { code: isKind ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message };
}
