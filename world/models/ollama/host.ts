/** `OLLAMA_HOST` as Ollama's own programs read it, and as a client can use it. */
const PORT = '11434';

/**
 * An address such as `http://127.0.0.1:11434`; null where the text is none. A server's own setting may
 * stand in the variable: `0.0.0.0` is where it listens, and it is asked at `127.0.0.1`.
 */
export function ollamaAddress(text: string | undefined): string | null {
  const given = text?.trim().replaceAll(/^["']|["']$/g, '') ?? '';
  if (given === '') return `http://127.0.0.1:${PORT}`;
  const hasScheme = /^https?:\/\//i.test(given);
  if (!hasScheme && given.includes('://')) return null;
  const address = withHost(hasScheme ? given : `http://${given}`);
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = '127.0.0.1';
  const writesPort = /^https?:\/\/(?:[^/@]*@)?(?:\[[^\]]*\]|[^/:?#]*):\d+/i.test(address);
  // With a scheme the port is the scheme's, without one it is Ollama's.
  if (!writesPort && !hasScheme) url.port = PORT;
  return `${url.protocol}//${credentials(url)}${url.host}${url.pathname}`.replace(/\/+$/, '');
}

/** `:11434` names a port alone. */
const withHost = (address: string): string => address.replace(/^(https?:\/\/):/i, '$1127.0.0.1:');

const credentials = ({ username, password }: URL): string =>
  username === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`;
