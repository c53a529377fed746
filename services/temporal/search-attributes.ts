/**
 * The search attributes a run carries, and making sure that a server knows them. The embedded
 * server gets them on its command line; another server through its operator service, which
 * Temporal Cloud does not offer: there the user creates them once, and we say which.
 */
import type { Connection } from '@temporalio/client';

export const SEARCH_ATTRIBUTES = {
  SentinelName: 'Keyword',
  SentinelStatus: 'Keyword',
  SentinelPersona: 'Keyword',
  SentinelIteration: 'Int',
} as const;

/** `temporal.api.enums.v1.IndexedValueType` on the wire. */
const WIRE_TYPE = { Keyword: 2, Int: 3 } as const;

export type AttributeName = keyof typeof SEARCH_ATTRIBUTES;
export const ATTRIBUTE_NAMES = Object.keys(SEARCH_ATTRIBUTES) as AttributeName[];

/** What the namespace lacks; null when the server does not tell. */
export async function missingSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<AttributeName[] | null> {
  const known = (await listByOperator(connection, namespace)) ?? (await listByWorkflowService(connection));
  return known === null ? null : ATTRIBUTE_NAMES.filter((name) => !known.has(name));
}

/** Registers what is missing. Returns a warning for the user where that was not possible. */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<string | null> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing?.length === 0) return null;
  const wanted = missing ?? ATTRIBUTE_NAMES;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(wanted.map((name) => [name, WIRE_TYPE[SEARCH_ATTRIBUTES[name]]])),
    });
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return (
      `The search attributes ${describe(wanted)} are ${missing === null ? 'perhaps ' : ''}missing in namespace ${namespace} and could not be ` +
      `registered (${reason}). Create them there, as Temporal Cloud asks you to do in its own Web UI or with ` +
      `\`tcld namespace search-attributes add\`; runs cannot start without them.`
    );
  }
}

export function describe(names: readonly AttributeName[]): string {
  return names.map((name) => `${name}=${SEARCH_ATTRIBUTES[name]}`).join(', ');
}

async function listByOperator(connection: Connection, namespace: string): Promise<Set<string> | null> {
  try {
    const reply = await connection.operatorService.listSearchAttributes({ namespace });
    return new Set(Object.keys(reply.customAttributes ?? {}));
  } catch {
    // Not offered, or not permitted: the other way of asking decides.
    return null;
  }
}

async function listByWorkflowService(connection: Connection): Promise<Set<string> | null> {
  try {
    const reply = await connection.workflowService.getSearchAttributes({});
    return new Set(Object.keys(reply.keys ?? {}));
  } catch {
    return null;
  }
}
