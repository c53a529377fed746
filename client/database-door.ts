/**
 * The store as the client sees it. Whatever the database cannot do is told here, in one way: which address,
 * what was found, and what to do. A statement that is wrong goes on up as the bug it is.
 */
import type { Store } from '../prisma/store/contract/contract.ts';
import { databaseFinding, sentenceOf } from '../prisma/store/connection/database-finding.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { ClientError } from '../runs/client-error.ts';

type Tell = (error: unknown) => unknown;

export function openClientStore(url: string, poolSize: number): Store {
  return told(openStore({ url, poolSize }), (error) => databaseError(error, url) ?? error);
}

/** Null where the error is something else. */
function databaseError(error: unknown, url: string): ClientError | null {
  const found = databaseFinding(error, url);
  return found === null ? null : new ClientError('STORE_UNAVAILABLE', sentenceOf(found), { cause: error });
}

/** The same part of the store, whose methods reject with what `tell` makes of their errors. */
function told<Part extends object>(part: Part, tell: Tell): Part {
  return new Proxy(part, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === 'function')
        return (...given: unknown[]): unknown => toldResult(Reflect.apply(member, target, given), tell);
      return isPart(member) ? told(member, tell) : member;
    },
  });
}

function toldResult(result: unknown, tell: Tell): unknown {
  if (result instanceof Promise)
    return result.catch((error: unknown) => {
      throw tell(error);
    });
  if (isIterable(result)) return toldEach(result, tell);
  return isPart(result) ? told(result, tell) : result;
}

async function* toldEach(items: AsyncIterable<unknown>, tell: Tell): AsyncGenerator {
  try {
    yield* items;
  } catch (error) {
    throw tell(error);
  }
}

const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isIterable = (value: unknown): value is AsyncIterable<unknown> => isPart(value) && Symbol.asyncIterator in value;
