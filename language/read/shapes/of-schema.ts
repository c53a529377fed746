/** What a JSON Schema says of the fields of a value. */
import { isJsonObject, pathOfPointer, valueAt, type Json, type JsonObject } from '../../json.ts';
import { eitherOf, listOf, object, scalar, type Shape } from './shape.ts';

/** So many references one after the other nobody follows. */
const depthMax = 100;

/** `isWhole`: an object has no other fields than it declares, unless the schema says that it may. */
export function shapeOfSchema(schema: Json, isWhole = false): Shape {
  return new Schema(schema, isWhole).shape(schema, 0);
}

class Schema {
  readonly #root: Json;
  readonly #isWhole: boolean;
  /** By the part of the schema: it may be named from everywhere, itself included. */
  readonly #known = new Map<JsonObject, Shape>();

  constructor(root: Json, isWhole: boolean) {
    this.#root = root;
    this.#isWhole = isWhole;
  }

  shape(schema: Json | undefined, depth: number): Shape {
    if (!isJsonObject(schema) || depth > depthMax) return undefined;
    // What leads back to itself may be anything from there on.
    if (!this.#known.has(schema)) {
      this.#known.set(schema, undefined);
      this.#known.set(schema, this.#of(schema, depth));
    }
    return this.#known.get(schema);
  }

  #of(schema: JsonObject, depth: number): Shape {
    const { $ref, anyOf, oneOf = anyOf } = schema;
    if (typeof $ref === 'string')
      return this.shape($ref.startsWith('#') ? valueAt(this.#root, pathOfPointer($ref)) : undefined, depth + 1);
    if (Array.isArray(oneOf)) {
      // Nothing is read of what is not there.
      const forms = oneOf.filter((form) => !(isJsonObject(form) && form['type'] === 'null'));
      return 'properties' in schema ? undefined : eitherOf(forms.map((form) => this.shape(form, depth + 1)));
    }
    // What they say together is said by their sum, and by nothing less.
    if ('allOf' in schema || 'if' in schema) return undefined;
    return this.#ofType(schema, depth);
  }

  #ofType(schema: JsonObject, depth: number): Shape {
    const [type, ...others] = [schema['type'] ?? null].flat().filter((one) => one !== 'null');
    if (typeof type !== 'string' || others.length > 0) return undefined;
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return listOf('prefixItems' in schema ? undefined : this.shape(schema['items'], depth + 1));
      case 'number':
      case 'integer':
        return scalar('a number');
      case 'boolean':
        return scalar('true or false');
      default:
        return undefined;
    }
  }

  #object({ properties, patternProperties, additionalProperties }: JsonObject, depth: number): Shape {
    if (!isJsonObject(properties)) return undefined;
    const isOpen =
      patternProperties !== undefined ||
      (additionalProperties === undefined ? !this.#isWhole : additionalProperties !== false);
    return object(
      Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, this.shape(inner, depth + 1)])),
      { isOpen },
    );
  }
}
