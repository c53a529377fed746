/** The world outside: a server that notes what it is told, and a model at the wire that notes what it is asked. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject } from '../../../language/json.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed, word } from '../../models/wires/wire.ts';
import { answers, calls } from '../../server/harness/models/model-runs.ts';
import { COLLECTION } from './kind-steps.ts';
import { kindOfId } from './kinds.ts';

export interface Noted {
  id: string;
  what: string;
  at: number;
}

export class Outside {
  readonly posts: Noted[] = [];
  readonly notices: Noted[] = [];
  readonly turns: Noted[] = [];
  readonly #model = new Double();
  readonly #server: Server = createServer((request, response) => {
    void this.#note(request).then(
      () => response.writeHead(204).end(),
      () => response.writeHead(400).end(),
    );
  });
  url = '';

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    await this.#model.open();
    this.#model.route('/props', { status: 404, pieces: ['{}'] });
    const models = [
      { id: 'some-model', object: 'model', max_model_len: 200_000 },
      { id: 'small-model', object: 'model', max_model_len: 4000 },
    ];
    this.#model.route('/v1/models', { pieces: [JSON.stringify({ object: 'list', data: models })] });
    this.#model.answer(wire.path, (body) => this.#say(body));
    return this;
  }

  async close(): Promise<void> {
    await this.#model.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get env(): Record<string, string> {
    return { OPENAI_API_KEY: 'key-of-a-campaign', OPENAI_BASE_URL: `${this.#model.url}/v1` };
  }

  async #note(request: IncomingMessage): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as JsonObject;
    const at = Date.now();
    if (request.url === '/notices') {
      const run = isJsonObject(body['run']) ? body['run']['handle'] : body['handle'];
      this.notices.push({ id: word(run), what: word(request.headers['x-sentinel-event']), at });
    } else this.posts.push({ id: word(body['id']), what: word(body['what']), at });
  }

  #say(body: JsonObject): Reply {
    const messages = wire.messages(body);
    const [id = ''] = /c-[a-z]+-\d+/.exec(JSON.stringify(messages.filter(({ role }) => role === 'user'))) ?? [];
    const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
    const { what, reply } = answerTo(id, turn, body);
    this.turns.push({ id, what, at: Date.now() });
    return { silentMs: 80, ...reply };
  }
}

const create = (id: string, turn: number): { id: string; name: string; input: object } => ({
  id: `create-${turn}`,
  name: 'data_create',
  input: { collection: COLLECTION, data: { run: id, at: `turn ${turn}` } },
});

function answerTo(id: string, turn: number, body: JsonObject): { what: string; reply: Reply } {
  const what = `turn ${turn}`;
  const kind = kindOfId(id);
  if (kind === 'compact') return shortened(turn, body);
  if (kind === 'refused')
    return { what, reply: { status: 400, pieces: [JSON.stringify({ error: { message: 'no such thing' } })] } };
  if (turn === 4) return { what, reply: answers('done') };
  if (kind === 'calling')
    return { what, reply: calls({ id: `post-${turn}`, name: 'camp_post', input: { id, what: `call ${turn}` } }) };
  if (kind !== 'model' || turn === 2) return { what, reply: calls(create(id, turn)) };
  const input = { command: `echo ${id} call-${turn} >> "$CAMPAIGN_CALLS"; sleep 0.2` };
  return { what, reply: calls({ id: `append-${turn}`, name: 'code_shell_execute', input }) };
}

function shortened(turn: number, body: JsonObject): { what: string; reply: Reply } {
  const text = JSON.stringify(wire.messages(body));
  if (text.includes('Three files were read')) return { what: 'last', reply: answers('done') };
  if (text.includes('Write a summary')) return { what: 'summary', reply: answers('Three files were read.') };
  const path = ['a', 'b', 'c'][turn - 1] ?? 'c';
  const parts = [
    { text: [path.repeat(4000)] },
    { call: { id: path, name: 'code_read', pieces: [JSON.stringify({ path: `${path}.txt` })] } },
  ];
  return {
    what: `turn ${turn}`,
    reply: streamed(wire, wire.events({ parts, reason: wire.reasons.calls, usage: null })),
  };
}
