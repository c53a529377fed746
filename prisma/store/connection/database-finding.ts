/** What is wrong with a database that cannot be used, in the words of whoever gave its address. */
import { causesOf, codeOf, isUnavailable } from './unavailable.ts';

export interface DatabaseFinding {
  /** `user@host:port/name`, without the password. */
  address: string;
  finding: string;
  remedy: string;
}

type Words = Omit<DatabaseFinding, 'address'>;

/** Null where the error is not one of the database, or says that a statement is wrong. */
export function databaseFinding(error: unknown, url: string): DatabaseFinding | null {
  const place = placeOf(url);
  for (const cause of causesOf(error).flatMap(withInner)) {
    const words = wordsFor(codeOf(cause), cause.message, place);
    if (words !== null) return { address: place.address, ...words };
  }
  if (!isUnavailable(error)) return null;
  const reason =
    causesOf(error)
      .map(({ message }) => lastLine(message))
      .findLast((text) => text !== '') ?? '';
  return { address: place.address, finding: `does not answer (${reason})`, remedy: REACH };
}

/** One sentence. */
export const sentenceOf = ({ address, finding, remedy }: DatabaseFinding): string =>
  `The database ${address} ${finding}: ${remedy}.`;

interface Place {
  address: string;
  host: string;
  user: string;
  name: string;
}

function placeOf(url: string): Place {
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const socket = searchParams.get('host');
  const host = socket ?? (port === '' ? hostname : `${hostname}:${port}`);
  const user = decodeURIComponent(username);
  const name = decodeURIComponent(pathname.slice(1)) || user;
  return { address: `${user === '' ? '' : `${user}@`}${host}/${name}`, host, user, name };
}

const REACH =
  'see that its Postgres runs, and what DATABASE_URL says where that is set; "sentinel doctor" looks at both';

const CERTIFICATES = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function wordsFor(code: string, message: string, { host, user, name }: Place): Words | null {
  if (/no pg_hba\.conf entry/.test(message)) {
    const isPlain = /no encryption|SSL off/.test(message);
    return {
      finding: `lets "${user}" in from here ${isPlain ? 'only over TLS, or not at all' : 'in no way'}`,
      remedy: `${isPlain ? 'add "?sslmode=require" to DATABASE_URL, or ' : ''}allow the role and this host in its pg_hba.conf`,
    };
  }
  switch (code) {
    case 'ECONNREFUSED':
      return { finding: 'does not answer (ECONNREFUSED: nothing listens there)', remedy: REACH };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { finding: `does not answer (there is no host "${host}")`, remedy: REACH };
    case '28P01':
    case '28000':
    case 'P1000':
      return {
        finding: `refuses "${user}" (the password is wrong, or there is no such role)`,
        remedy: 'correct the user and the password in DATABASE_URL',
      };
    case '3D000':
    case 'P1003':
      return {
        finding: 'does not exist on that server',
        remedy: `create it ("createdb ${name}"), or correct the name in DATABASE_URL; "sentinel up" then makes its tables`,
      };
    case '42P01':
    case '42703':
    case '3F000':
    case 'P2021':
    case 'P2022':
      return {
        finding: "lacks Sentinel's tables, or has those of an older version",
        remedy: '"sentinel up" makes them; if this is another database, correct DATABASE_URL',
      };
    case '42501':
    case 'P1010':
      return {
        finding: `does not let "${user}" use Sentinel's tables`,
        remedy: 'grant the role the rights, or use the one that owns them',
      };
    case '53300':
      return {
        finding: 'has no connection free',
        remedy: 'raise its max_connections, or run fewer workers',
      };
    case '57P03':
      return { finding: 'is starting up or shutting down', remedy: 'try again in a moment' };
    case 'EPROTO':
      return noTls(lastLine(message));
    default:
      return CERTIFICATES.has(code) ? untrusted(code) : wordsForMessage(message, user);
  }
}

/** The driver gives these no code. */
function wordsForMessage(message: string, user: string): Words | null {
  if (/does not support SSL connections/.test(message)) return noTls('it speaks none');
  if (/password must be a string|password must be a non-empty/.test(message))
    return {
      finding: `wants a password for "${user}", and DATABASE_URL holds none`,
      remedy: 'write it as postgres://USER:PASSWORD@HOST/NAME',
    };
  if (/timeout exceeded when trying to connect|timeout expired/.test(message))
    return { finding: 'does not answer in time', remedy: REACH };
  return null;
}

const noTls = (reason: string): Words => ({
  finding: `cannot be reached over TLS (${reason})`,
  remedy: 'turn TLS on there, or write "sslmode=disable" in DATABASE_URL',
});

const untrusted = (code: string): Words => ({
  finding: `shows a certificate that nothing here trusts (${code})`,
  remedy: 'name its authority in DATABASE_URL ("sslrootcert=FILE"), or the host that the certificate is for',
});

const withInner = (error: Error): Error[] =>
  error instanceof AggregateError ? [error, ...error.errors.filter((inner) => inner instanceof Error)] : [error];

/** Prisma begins with where it was asked. */
const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
