/**
 * The environments of the mesh's recipes, served to others by the Open Reward Standard: whoever trains with a client of the standard can train on
 * them. A session is an object of the store, written before a call is answered, so that any isolate goes on where another one died.
 */
import { type Context, Hono } from 'hono';
import type {
  HostedCall,
  HostedEnvironment,
  HostedOutput,
  HostedSplit,
  HostedTask,
} from '../../core/episodes/hosted-environment.ts';
import { HOSTED_SPLITS } from '../../core/episodes/hosted-environment.ts';
import { argumentsCheck } from '../../core/episodes/tool-arguments.ts';
import { callOrder, sessionOrder, splitOrder, taskOrder } from '../../core/schema/environment.ts';
import { DEEPEST, isShallow } from '../../core/text/nesting.ts';
import {
  deleteSession,
  type EnvironmentSession,
  pruneSessions,
  readSession,
  writeSession,
} from '../store/environment-sessions.ts';
import { readJsonBody } from './body.ts';
import { callersByKey } from './guards.ts';
import { HttpError } from './http-error.ts';
import type { GatewayTypes } from './services.ts';

const ORDER_LIMIT = 16 * 1024;
/** Sessions that may be open at the same time. */
const MOST_SESSIONS = 256;
/** A session that was not called for so long is given up, as by the official server. */
const IDLE_MS = 900_000;
/** When a caller should try again that found all sessions taken, seconds. */
const RETRY_SECONDS = 5;
const NAME = /^[\x21-\x7e]{1,128}$/;

type EnvironmentContext = Context<GatewayTypes>;

const unknown = (what: string, expected: readonly string[]) =>
  new HttpError(404, 'environment.unknown', `There is no ${what}.`, {
    expected: `one of ${expected.join(', ') || '(none is served here)'}`,
  });

function environmentOf(c: EnvironmentContext, name = c.req.param('environment') ?? ''): HostedEnvironment {
  const { hosted } = c.var.services.recipes;
  const found = hosted.get(name);
  if (!found) throw unknown(`environment ${JSON.stringify(name.slice(0, 64))}`, [...hosted.keys()]);
  return found;
}

function splitOf(name: string): HostedSplit {
  const found = HOSTED_SPLITS.find((split) => split === name);
  if (!found)
    throw new HttpError(400, 'environment.split', `There is no split ${JSON.stringify(name)}.`, {
      expected: `one of ${HOSTED_SPLITS.join(', ')}`,
    });
  return found;
}

function taskOf(environment: HostedEnvironment, split: HostedSplit, index: number): HostedTask {
  const count = environment.count(split);
  if (index >= count)
    throw new HttpError(400, 'environment.index', `The split ${split} has no task ${index}.`, {
      expected: `0 to ${count - 1}`,
    });
  return environment.task(split, index);
}

function sessionName(c: EnvironmentContext): string {
  const name = c.req.header('x-session-id') ?? '';
  if (NAME.test(name)) return name;
  throw new HttpError(400, 'session.name', 'The request names no session.', {
    expected: 'a header X-Session-ID of 1 to 128 printable characters without spaces',
  });
}

/** The session that a request names, in the environment that its path names. */
async function openSession(c: EnvironmentContext) {
  const name = sessionName(c);
  const environment = environmentOf(c);
  const { bucket, now } = c.var.services;
  const found = await readSession(bucket, name, now() - IDLE_MS);
  if (!found || found.session.environment !== environment.name)
    throw new HttpError(404, 'session.unknown', `There is no such session of ${environment.name}.`, {
      expected: `a session that was begun by POST /create, and called within the last ${IDLE_MS / 1000} s`,
    });
  const { split, index } = found.session;
  return { name, environment, ...found, task: taskOf(environment, split, index) };
}

const blocksOf = (texts: readonly string[]) => texts.map((text) => ({ type: 'text', text, detail: null }));
const told = ({ text, reward, finished }: HostedOutput) => ({
  ok: true,
  output: { blocks: blocksOf([text]), metadata: null, reward, finished },
});
const refused = (error: string) => ({ ok: false, error });

/** A call's output as an event stream; `id` is the number under which it can be had again. */
function streamed(output: object, id?: string): Response {
  const events = [
    ...(id === undefined ? [] : [`event: task_id\ndata: ${id}\n\n`]),
    `event: end\ndata: ${JSON.stringify(output)}\n\n`,
  ];
  return new Response(events.join(''), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}

const numberOf = (calls: number): string => `call-${calls}`;

/** Why a call does not get to the environment; null where it does. A policy reads it. */
function whyNot({ tools }: HostedEnvironment, { name, input }: HostedCall): string | null {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return `There is no tool ${name}. The tools are ${tools.map((one) => one.name).join(', ')}.`;
  const wrong = argumentsCheck(tool.input_schema)(input);
  return wrong && `The arguments of ${name} do not fit its schema. ${wrong}`;
}

/** Makes a call once: it is part of the session before its output is told. */
async function call(c: EnvironmentContext, made: HostedCall): Promise<Response> {
  const { name, environment, session, etag, task } = await openSession(c);
  const { calls } = session;
  if (calls.length && task.after(calls).finished) return streamed(refused('The episode has ended.'));
  const why = whyNot(environment, made);
  if (why !== null) return streamed(refused(why));
  const after: EnvironmentSession = { ...session, calls: [...calls, { ...made }] };
  if (!(await writeSession(c.var.services.bucket, name, after, etag)))
    throw new HttpError(409, 'session.busy', 'Another call of this session came first.', {
      expected: 'one call after the other',
    });
  return streamed(told(task.after(after.calls)), numberOf(after.calls.length));
}

export const environmentRoutes = new Hono<GatewayTypes>()
  .use(callersByKey)
  .get('/health', (c) => c.json({ status: 'ok' }))
  .get('/list_environments', (c) => c.json([...c.var.services.recipes.hosted.keys()]))
  .post('/create_session', () => {
    const events = `event: task_id\ndata: ${crypto.randomUUID()}\n\nevent: end\ndata: \n\n`;
    return new Response(events, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    });
  })
  .post('/create', async (c) => {
    const sid = sessionName(c);
    const { env_name, split, index } = await readJsonBody(c.req.raw, sessionOrder, ORDER_LIMIT);
    const environment = environmentOf(c, env_name);
    const side = splitOf(split);
    taskOf(environment, side, index);
    const { bucket, now } = c.var.services;
    if ((await pruneSessions(bucket, now() - IDLE_MS)) >= MOST_SESSIONS) {
      c.header('retry-after', String(RETRY_SECONDS));
      throw new HttpError(
        429,
        'session.many',
        `There are ${MOST_SESSIONS} sessions, as many as there may be.`,
        {
          next: 'End sessions by POST /delete; one that is not called for 900 s ends by itself.',
        },
      );
    }
    const session = { environment: environment.name, split: side, index, calls: [] };
    if (!(await writeSession(bucket, sid, session, null)))
      throw new HttpError(400, 'session.exists', 'Session already exists.', {
        expected: 'a name that no session has had',
      });
    return c.json({ sid });
  })
  .post('/ping', async (c) => {
    const name = sessionName(c);
    const { bucket, now } = c.var.services;
    const found = await readSession(bucket, name, now() - IDLE_MS);
    if (!found) throw new HttpError(404, 'session.unknown', 'There is no such session.');
    // Whoever wrote it in the meantime has kept it alive.
    await writeSession(bucket, name, found.session, found.etag);
    return c.json({ status: 'ok' });
  })
  .on('POST', ['/delete', '/delete_session'], async (c) => {
    const sid = sessionName(c);
    await deleteSession(c.var.services.bucket, sid);
    return c.json({ sid });
  })
  .get('/:environment/splits', (c) => {
    environmentOf(c);
    return c.json(HOSTED_SPLITS.map((name) => ({ name, type: name })));
  })
  .get('/:environment/tools', (c) => c.json({ tools: environmentOf(c).tools }))
  .post('/:environment/num_tasks', async (c) => {
    const { split } = await readJsonBody(c.req.raw, splitOrder, ORDER_LIMIT);
    return c.json({ num_tasks: environmentOf(c).count(splitOf(split)) });
  })
  .post('/:environment/task', async (c) => {
    const { split, index } = await readJsonBody(c.req.raw, taskOrder, ORDER_LIMIT);
    return c.json({ task: taskOf(environmentOf(c), splitOf(split), index).taskView });
  })
  .get('/:environment/task_tools', async (c) => c.json({ tools: (await openSession(c)).environment.tools }))
  .get('/:environment/prompt', async (c) => c.json(blocksOf((await openSession(c)).task.prompt)))
  .post('/:environment/call', async (c) => {
    const { name, input, task_id } = await readJsonBody(c.req.raw, callOrder, ORDER_LIMIT);
    if (!isShallow(input))
      throw new HttpError(422, 'body.nesting', 'The body is nested too deeply.', {
        expected: `at most ${DEEPEST} levels`,
      });
    if (task_id === null) return call(c, { name, input });
    const { session, task } = await openSession(c);
    const made = session.calls.findIndex((_, i) => numberOf(i + 1) === task_id);
    if (made >= 0) return streamed(told(task.after(session.calls.slice(0, made + 1))), task_id);
    throw new HttpError(404, 'call.unknown', `The session has no call ${JSON.stringify(task_id)}.`, {
      expected: 'the number that the first event of the call told, or none for a call of its own',
    });
  });
