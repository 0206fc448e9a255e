/**
 * A small server of OpenEnv, in the ways that matter here like the official one (huggingface/OpenEnv): a WebSocket is a session with an
 * environment of its own, requests are answered in their order and without numbers, and a call of a tool is a step. Its environment is a sum of
 * the seed; it can be told to go wrong. WebSockets are written here as RFC 6455 says, for text frames alone.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

/** Does something in place of the right answer to a message. @returns false where the right answer is to follow */
export type OpenEnvFault = (send: (text: string) => void, socket: Socket) => boolean;

const TEXT = 0x81;

/** An unmasked frame with its whole message. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10;
  const bytes = Buffer.alloc(head);
  bytes[0] = TEXT;
  bytes[1] = head === 2 ? payload.length : head === 4 ? 126 : 127;
  if (head === 4) bytes.writeUInt16BE(payload.length, 2);
  if (head === 10) bytes.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([bytes, payload]);
}

/** Calls `heard` with every text that a client sends; its frames are masked and not fragmented. */
function read(socket: Socket, heard: (text: string) => void): void {
  let kept = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    kept = Buffer.concat([kept, bytes]);
    for (;;) {
      if (kept.length < 6) return;
      const short = kept[1]! & 127;
      const at = short === 126 ? 4 : 2;
      const length = short === 126 ? kept.readUInt16BE(2) : short;
      if (kept.length < at + 4 + length) return;
      const mask = kept.subarray(at, at + 4);
      const text = kept.subarray(at + 4, at + 4 + length).map((byte, i) => byte ^ mask[i % 4]!);
      const isText = kept[0] === TEXT;
      kept = kept.subarray(at + 4 + length);
      if (!isText) {
        socket.end();
        return;
      }
      heard(Buffer.from(text).toString());
    }
  });
}

const metadata = { type: 'object', additionalProperties: true };
const CALL = {
  type: 'object',
  properties: { metadata, type: { const: 'call_tool', type: 'string' }, tool_name: {}, arguments: {} },
};
const ACTION = {
  $defs: { Digits: { type: 'string', pattern: '^[0-9]+$' } },
  type: 'object',
  additionalProperties: false,
  properties: { metadata, answer: { $ref: '#/$defs/Digits' } },
  required: ['answer'],
};
const ANSWER_TOOL = {
  name: 'submit',
  description: 'Hands in a result.',
  input_schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  output_schema: null,
};

/** @param areTools whether the environment speaks the Model Context Protocol; `room`: sessions at the same time */
export async function openEnvServer(areTools: boolean, room = 16) {
  const open = new Set<Socket>();
  const state = {
    url: '',
    /** Sessions that are open. */
    open,
    /** What every reset was given. */
    resets: [] as Json[],
    /** The steps that were carried out. */
    ran: [] as string[],
    closed: 0,
    /** By type of the message; removes itself where it wants to. A step has been carried out by then. */
    faults: new Map<string, OpenEnvFault>(),
    /** What a right result pays, and a wrong one. */
    pays: [1, -0.25] as unknown[],
    headers: [] as Json[],
  };

  const session = (socket: Socket) => {
    let seed = 0;
    const step = ({ tool_name, arguments: given, answer }: Json) => {
      const said = (areTools ? (given as Json).answer : answer) as string;
      state.ran.push(said);
      const isRight = said.endsWith(String(2 * seed + 4));
      const [reward, observation] = [state.pays[isRight ? 0 : 1], isRight ? 'Right.' : 'Wrong.'];
      if (!areTools) return { observation: { answered: observation, hint: null }, reward, done: isRight };
      const result = { content: [{ type: 'text', text: observation }], is_error: false };
      return { observation: { tool_name, result, error: null }, reward, done: isRight };
    };
    const answerTo = (type: string, data: Json): Json => {
      if (type === 'reset') {
        seed = data.seed as number;
        state.resets.push(data);
        const observation = { question: `What is ${seed} + ${seed + 4}?`, hint: null };
        return { type: 'observation', data: { observation, reward: 0, done: false } };
      }
      if (type === 'state') return { type: 'state', data: { step_count: state.ran.length } };
      if (type === 'mcp')
        return {
          type: 'mcp',
          data: { jsonrpc: '2.0', id: data.id, result: { tools: [ANSWER_TOOL] } },
        };
      if (areTools && data.tool_name !== 'submit') {
        const error = { error_type: 'tool_not_found', message: `Unknown tool: ${data.tool_name}` };
        const observation = { tool_name: data.tool_name, result: null, error };
        return { type: 'observation', data: { observation, reward: null, done: false } };
      }
      if (!areTools && typeof data.answer !== 'string') {
        const errors = [{ type: 'missing', loc: ['answer'], msg: 'Field required' }];
        return { type: 'error', data: { message: 'Invalid message', code: 'VALIDATION_ERROR', errors } };
      }
      return { type: 'observation', data: step(data) };
    };
    const send = (text: string) => {
      if (socket.writable) socket.write(frame(text));
    };
    const isFull = open.size >= room;
    read(socket, (text) => {
      const { type, data = {} } = JSON.parse(text) as { type: string; data?: Json };
      if (isFull) return;
      if (type === 'close') {
        state.closed++;
        socket.end();
        return;
      }
      const answer = JSON.stringify(answerTo(type, data));
      if (!state.faults.get(type)?.(send, socket)) send(answer);
    });
    if (isFull) {
      send(
        JSON.stringify({ type: 'error', data: { message: 'Server at capacity', code: 'CAPACITY_REACHED' } }),
      );
      socket.end();
      return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => open.delete(socket));
  };

  const server = createServer((request, response) => {
    const isKnown = request.url === '/schema';
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    if (!isKnown) response.end('{"detail":"Not Found"}');
    else response.end(JSON.stringify({ action: areTools ? CALL : ACTION, observation: {}, state: {} }));
  });
  server.on('upgrade', (request, socket: Socket) => {
    state.headers.push(request.headers as Json);
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    session(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
    });
  return Object.assign(state, { stop });
}
