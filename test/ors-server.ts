/**
 * A small server of the Open Reward Standard, in the ways that matter here like the official one (openrewardstandard/python-sdk): a session is
 * begun once under its name, a call is an event stream whose first event is its number, and under that number the same call's result comes again.
 * Its tasks are sums; it can be told to go wrong.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Does something in place of the right answer. @returns false where the right answer is to follow */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Session {
  readonly index: number;
  finished: boolean;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object | null;
}

const TOOLS: readonly Tool[] = [
  {
    name: 'submit',
    description: 'Hands in a result.',
    input_schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  },
  { name: 'peek', description: 'Says a long hint.', input_schema: null },
];

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text ? JSON.parse(text) : {};
};

export async function orsServer() {
  const sessions = new Map<string, Session>();
  const results = new Map<string, string>();
  const ran: string[] = [];
  const state = {
    url: '',
    sessions,
    tools: [...TOOLS],
    /** The calls of tools that were carried out. */
    ran,
    /** Every session that was begun. */
    begun: [] as string[],
    /** By path; removes itself where it wants to. */
    faults: new Map<string, Fault>(),
    /** What a right result pays; NaN becomes null, as in JSON. */
    pays: 1 as number | string,
  };

  const submit = (session: Session, input: Record<string, unknown>) => {
    const right = String(input.answer).endsWith(String(2 * session.index + 4));
    session.finished = right;
    return {
      blocks: [{ type: 'text', text: right ? 'Right.' : 'Wrong.' }],
      metadata: null,
      reward: right ? state.pays : -0.25,
      finished: right,
    };
  };
  const output = (session: Session, name: string, input: Record<string, unknown>) => {
    if (name === 'submit') return { ok: true, output: submit(session, input) };
    if (name !== 'peek') return { ok: false, error: `Unknown tool ${name}` };
    const blocks = [{ type: 'text', text: 'It is even. '.repeat(1000) }];
    return { ok: true, output: { blocks, metadata: null, reward: null, finished: false } };
  };

  const server = createServer(async (request, response) => {
    const { method, url: path = '' } = request;
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const name = String(request.headers['x-session-id']);
    const session = sessions.get(name);
    const body = await bodyOf(request);
    const call = () => {
      const id = (body.task_id as string | undefined) ?? `call-${ran.length}`;
      if (body.task_id === undefined) {
        if (session!.finished) throw new Error('called after it had finished');
        ran.push(`${name} ${body.name} ${JSON.stringify(body.input)}`);
        results.set(id, JSON.stringify(output(session!, String(body.name), body.input as never)));
      }
      return id;
    };
    if (path === '/create') {
      if (session) return json({ detail: 'Session already exists' }, 400);
      sessions.set(name, { index: body.index as number, finished: false });
      state.begun.push(name);
    }
    if (state.faults.get(path)?.(request, response)) {
      // What goes wrong with a call goes wrong after the tool has run.
      if (path === '/sums/call' && response.statusCode !== 429) call();
      return;
    }
    switch (`${method} ${path}`) {
      case 'GET /list_environments':
        return json(['sums']);
      case 'GET /sums/splits':
        return json([
          { name: 'exam', type: 'test' },
          { name: 'train', type: 'train' },
        ]);
      case 'POST /sums/num_tasks':
        return json({ num_tasks: 3 });
      case 'POST /sums/task':
        return json({ task: body.index === 0 ? { answer: 4 } : {} });
      case 'POST /create':
        return json({ sid: name });
      case 'POST /delete':
        sessions.delete(name);
        return json({ sid: name });
    }
    if (!session) return json({ detail: 'Active environment not found' }, 404);
    switch (`${method} ${path}`) {
      case 'GET /sums/prompt':
        return json([
          { type: 'text', text: `What is ${session.index} + ${session.index + 4}?`, detail: null },
        ]);
      case 'GET /sums/task_tools':
        return json({ tools: state.tools });
      case 'POST /sums/call': {
        const id = call();
        const result = results.get(id)!;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`event: task_id\r\ndata: ${id}\r\n\r\n: ping\r\n\r\n`);
        for (let at = 0; at < result.length; at += 4096) {
          const event = at + 4096 >= result.length ? 'end' : 'chunk';
          response.write(`event: ${event}\r\ndata: ${result.slice(at, at + 4096)}\r\n\r\n`);
        }
        return response.end();
      }
    }
    json({ detail: 'Not Found' }, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return Object.assign(state, { stop });
}
