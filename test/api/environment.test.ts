/** Episodes in an environment that somebody else hosts: what the policy and the environment hear of each other, what is paid, and every fault. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { command } from '../../cli/environment/command.ts';
import {
  type Ask,
  type HoldOptions,
  holdEpisode,
  type Said,
} from '../../workers/api/environment/hold-episode.ts';
import { orsHost, placeOf } from '../../workers/api/environment/ors-host.ts';
import { EnvironmentClient } from '../../workers/api/environment-client.ts';
import { orsServer } from '../ors-server.ts';

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const PLACE = { environment: 'sums', split: 'train', index: 0 };

let server: Awaited<ReturnType<typeof orsServer>>;
let client: EnvironmentClient;
beforeEach(async () => {
  server = await orsServer();
  client = new EnvironmentClient({ url: `${server.url}/`, backOff: QUICK });
});
afterEach(() => server.stop());

const calling = (...calls: readonly (readonly [name: string, given: string])[]): Said => {
  const written = calls.map(([name, given], i) => ({ id: `${name}-${i}`, name, arguments: given }));
  const id = `says ${JSON.stringify(calls)}`;
  return { id, message: { role: 'assistant', tool_calls: written }, content: '', calls: written };
};
const submits = (answer: string) => calling(['submit', JSON.stringify({ answer })]);
const saying = (content: string): Said => ({
  id: `says ${content}`,
  message: { role: 'assistant', content },
  content,
  calls: [],
});

/** A policy that says one thing after the other, and what it was told. */
function policy(...answers: readonly (Said | null)[]) {
  const heard: { messages: Readonly<Record<string, unknown>>[]; tools: readonly object[] }[] = [];
  const ask: Ask = async (messages, tools) => {
    heard.push({ messages: [...messages], tools });
    return answers[heard.length - 1]!;
  };
  return { ask, heard };
}

const hold = (ask: Ask, options: Partial<HoldOptions> = {}) =>
  holdEpisode(orsHost(client), { metadata: PLACE }, 'one', ask, { turns: 8, ...options });

const once =
  (...faults: readonly ((response: ServerResponse) => void)[]) =>
  (_: unknown, response: ServerResponse): boolean => {
    const [fault, ...others] = faults;
    faults = others;
    fault?.(response);
    return fault !== undefined;
  };

test.each([
  ['one answer', [1e9, 1], [-1e9, -1]],
  ['the episode', [1e9], [1]],
])(
  'what %s is paid beyond what can be paid is no reward, whatever is taken back later',
  async (_, ...paid) => {
    const calls = paid.map((rewards, turn) =>
      calling(...rewards.map((__, i) => [`t${turn}-${i}`, '{}'] as const)),
    );
    const { ask } = policy(...calls, saying('done'));
    const rewards = paid.flat().values();
    const world = {
      prompt: '',
      tools: [],
      call: async () => ({ text: '', reward: rewards.next().value!, finished: false }),
      settled: async () => {},
      end: async () => {},
    };
    expect(await holdEpisode({ open: async () => world }, {}, 'one', ask, { turns: 8 })).toEqual({
      score: 'not-a-number',
    });
  },
);

describe('an episode', () => {
  test('hears prompt, tools and results; the reward is the sum of what was paid, and nothing is called after the end', async () => {
    const last = calling(['peek', '{}'], ['submit', '{"answer":"4"}'], ['submit', '{"answer":"5"}']);
    const { ask, heard } = policy(submits('5'), last);
    // The first answer is paid for its one call, the second for the one of its calls that paid.
    expect(await hold(ask)).toEqual({ score: 0.75, turns: { [submits('5').id]: -0.25, [last.id]: 1 } });
    expect(heard[0]!.messages).toEqual([{ role: 'user', content: 'What is 0 + 4?' }]);
    expect(heard[0]!.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'submit',
          description: 'Hands in a result.',
          parameters: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
        },
      },
      {
        type: 'function',
        function: {
          name: 'peek',
          description: 'Says a long hint.',
          parameters: { type: 'object', properties: {} },
        },
      },
    ]);
    expect(heard[1]!.messages.slice(1)).toEqual([
      submits('5').message,
      { role: 'tool', tool_call_id: 'submit-0', content: 'Wrong.' },
    ]);
    expect(server.ran).toEqual(['one submit {"answer":"5"}', 'one peek {}', 'one submit {"answer":"4"}']);
    expect([server.begun, server.sessions.size]).toEqual([['one'], 0]);
  });

  test('of a policy that ends it without a call, or has no room or no turn left, is worth what was paid', async () => {
    expect(await hold(policy(saying('It is 4.')).ask)).toMatchObject({ score: 0 });
    expect(await hold(policy(submits('5'), null).ask)).toMatchObject({ score: -0.25 });
    expect(await hold(policy(submits('5'), submits('6')).ask, { turns: 2 })).toMatchObject({ score: -0.5 });
    expect(server.begun).toEqual(['one', 'one', 'one']);
  });

  test('tells the policy of calls that cannot be read or that the environment does not know', async () => {
    const { ask, heard } = policy(calling(['submit', '[4]'], ['fly', '{}']), submits('4'));
    expect(await hold(ask)).toMatchObject({ score: 1 });
    expect(heard[1]!.messages.slice(2).map(({ content }) => content)).toEqual([
      'The arguments of this call are no JSON object. Write them again.',
      'Unknown tool fly',
    ]);
  });

  test('sends no call whose arguments do not fit the schema of the tool, and tells the policy why', async () => {
    const wrong = calling(['submit', '{"answer":4}'], ['submit', '{}'], ['peek', '{"any":1}']);
    const { ask, heard } = policy(wrong, submits('4'));
    expect(await hold(ask)).toMatchObject({ score: 1 });
    const [number, nothing, peeked] = heard[1]!.messages.slice(2).map(({ content }) => String(content));
    expect(number).toMatch(
      /^The arguments of this call do not fit the tool: #\/answer: .*"string".* Write them again\.$/,
    );
    expect(nothing).toMatch(/required property "answer"/);
    // A tool without a schema takes what it is given.
    expect(peeked).toMatch(/^It is even/);
    expect(server.ran).toEqual(['one peek {"any":1}', 'one submit {"answer":"4"}']);
  });

  test.each([
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a pattern that has no form in linear time', { patternProperties: { '(a+)+$': { type: 'null' } } }],
  ])('leaves arguments to the environment where its schema has %s', async (_, schema) => {
    server.tools[0] = { ...server.tools[0]!, input_schema: { type: 'object', ...schema } };
    expect(await hold(policy(submits('4')).ask)).toMatchObject({ score: 1 });
  });

  test('with an answer tool needs no tools of the policy', async () => {
    const { ask, heard } = policy(saying('I say 5'), saying('I say 4'));
    expect(await hold(ask, { answerTool: 'submit' })).toMatchObject({ score: 0.75 });
    expect(heard.map(({ tools }) => tools)).toEqual([[], []]);
    expect(heard[1]!.messages.at(-1)).toEqual({ role: 'user', content: 'Wrong.' });
    expect(server.ran).toEqual(['one submit {"answer":"I say 5"}', 'one submit {"answer":"I say 4"}']);
    server.tools[0] = {
      ...server.tools[0]!,
      input_schema: {
        type: 'object',
        properties: { why: { type: 'string' }, answer: { type: 'string' } },
        required: ['why', 'answer'],
      },
    };
    for (const answerTool of ['submit', 'peek', 'fly'])
      await expect(hold(policy().ask, { answerTool })).rejects.toMatchObject({
        code: 'environment.answer-tool',
      });
    expect(server.sessions.size).toBe(0);
  });
});

describe('once', () => {
  test('a stream that breaks is taken up again under its number, and the tool runs once', async () => {
    const broken = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: task_id\ndata: call-0\n\nevent: chunk\ndata: {"ok"\n\n');
    };
    server.faults.set('/sums/call', once(broken));
    expect(await hold(policy(calling(['peek', '{}']), submits('4')).ask)).toMatchObject({ score: 1 });
    expect(server.ran).toEqual(['one peek {}', 'one submit {"answer":"4"}']);
  });

  test('of a call that is answered twice the first answer counts', async () => {
    const paid = (reward: number) =>
      `event: end\ndata: {"ok":true,"output":{"blocks":[],"reward":${reward},"finished":false}}\n\n`;
    server.faults.set(
      '/sums/call',
      once((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`event: task_id\ndata: call-0\n\n${paid(0.5)}${paid(7)}`);
      }),
    );
    expect(await hold(policy(submits('5'), submits('4')).ask)).toMatchObject({ score: 1.5 });
  });

  test('a call of which nothing was heard is not sent again', async () => {
    server.faults.set(
      '/sums/call',
      once((response) => response.destroy()),
    );
    expect(await hold(policy(submits('5'), submits('4')).ask)).toMatchObject({ score: 'unreachable' });
    expect(server.ran).toEqual(['one submit {"answer":"5"}']);
  });

  test('a session whose beginning was not heard of is the same one', async () => {
    server.faults.set(
      '/create',
      once((response) => response.destroy()),
    );
    expect(await hold(policy(submits('4')).ask)).toMatchObject({ score: 1 });
    expect(server.begun).toEqual(['one']);
  });

  test('a session that is there already is refused', async () => {
    await client.begin(PLACE, 'one');
    expect(await hold(policy().ask)).toMatchObject({ score: 'refused' });
  });

  test('an environment that is busy is asked again', async () => {
    const busy = (response: ServerResponse) => void response.writeHead(429, { 'retry-after': '0' }).end();
    server.faults.set('/sums/call', once(busy, busy));
    server.faults.set('/sums/prompt', once(busy));
    expect(await hold(policy(submits('4')).ask)).toMatchObject({ score: 1 });
    expect(server.ran).toHaveLength(1);
  });
});

const events = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
const result = (output: string) => events(`event: task_id\ndata: call-0\n\nevent: end\ndata: ${output}\n\n`);
const answers =
  (status: number, body = '') =>
  (response: ServerResponse) =>
    void response.writeHead(status).end(body);

test.each<[string, string, (response: ServerResponse) => void, RegExp]>([
  ['refused', '/sums/call', answers(500, 'Boom'), /POST \/sums\/call with 500: "Boom"/],
  ['refused', '/sums/call', answers(308), /with 308/],
  ['refused', '/sums/call', events('event: error\ndata: unknown task_id\n\n'), /"unknown task_id"/],
  ['refused', '/sums/prompt', answers(503), /GET \/sums\/prompt with 503/],
  ['refused', '/sums/task_tools', answers(404), /with 404/],
  ['refused', '/create', answers(401), /POST \/create with 401/],
  ['unreadable', '/sums/call', result('{"ok":'), /it is no JSON/],
  ['unreadable', '/sums/call', result('{"ok":true,"output":{"blocks":[],"reward":"1"}}'), /reward/],
  ['unreadable', '/sums/call', result('{"ok":true,"output":{"blocks":[],"reward":1e999}}'), /reward/],
  ['unreadable', '/sums/prompt', answers(200, '{"text":"?"}'), /GET \/sums\/prompt/],
  ['unreadable', '/sums/task_tools', answers(200, '{"tools":[]}'), /tools/],
  ['unreachable', '/sums/call', events('data: nothing\n\n'), /does not answer/],
  ['unreachable', '/sums/prompt', (response) => void response.destroy(), /does not answer/],
  ['too-large', '/sums/call', result('x'.repeat(2 << 20)), /longer than 1048576 bytes/],
  ['too-large', '/sums/prompt', answers(200, `"${'x'.repeat(10 << 20)}"`), /longer than/],
])('%s is missing data: %s', async (kind, path, fault, said) => {
  server.faults.set(path, (_, response) => {
    fault(response);
    return true;
  });
  const { score, error } = await hold(policy(submits('5'), submits('4')).ask);
  expect(score).toBe(kind);
  expect(error!.message).toMatch(said);
  expect(server.ran.length).toBeLessThanOrEqual(1);
});

test.each(['/create', '/sums/task_tools', '/sums/prompt', '/sums/call'])(
  'a redirect of %s is missing data, and leads nowhere',
  async (path) => {
    const elsewhere = await orsServer();
    let asked = 0;
    for (const at of [path, '/create', '/sums/task_tools', '/sums/prompt', '/sums/call'])
      elsewhere.faults.set(at, () => {
        asked += 1;
        return false;
      });
    server.faults.set(path, (_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}${path}` }).end();
      return true;
    });
    expect((await hold(policy(submits('5'), submits('4')).ask)).score).toBe('refused');
    expect(asked).toBe(0);
    await elsewhere.stop();
  },
);

test('an answer that does not come in time is missing data', async () => {
  await client.begin(PLACE, 'one');
  server.faults.set('/sums/call', () => true);
  const hasty = new EnvironmentClient({ url: server.url, backOff: QUICK, timeoutMs: 20 });
  await expect(hasty.call('sums', 'one', 'submit', {})).rejects.toMatchObject({
    code: 'environment.timed-out',
  });
});

test('an environment that stays busy is waited for no longer than a call may take', async () => {
  await client.begin(PLACE, 'one');
  server.faults.set('/sums/call', (_, response) => {
    response.writeHead(429, { 'retry-after': '60' }).end();
    return true;
  });
  const backOff = { attempts: 3, firstMs: 1, longestMs: 60_000 };
  const hasty = new EnvironmentClient({ url: server.url, backOff, timeoutMs: 300 });
  const began = performance.now();
  await expect(hasty.call('sums', 'one', 'submit', {})).rejects.toMatchObject({
    code: 'environment.timed-out',
  });
  // Far below the minute that was asked for.
  expect(performance.now() - began).toBeLessThan(50_000);
});

test('a reward that is NaN arrives as null, and an episode that ends without a number is not rated', async () => {
  server.pays = Number.NaN;
  expect(await hold(policy(submits('4')).ask)).toEqual({ score: 'not-rated' });
});

describe('the key of a server', () => {
  afterEach(() => vi.unstubAllEnvs());

  const tasks = (url: string) =>
    command().exitOverride().parseAsync(['tasks', url, '--out', '/nowhere/tasks.jsonl'], { from: 'user' });

  test('is sent with every request, to this machine or encrypted, and is in no error', async () => {
    vi.stubEnv('ORS_API_KEY', 'secret-key');
    const sent: unknown[] = [];
    server.faults.set('/list_environments', (request, response) => {
      sent.push(request.headers['x-api-key']);
      response.writeHead(401).end('no');
      return true;
    });
    const refused = await tasks(server.url).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'environment.refused' });
    expect(String(refused)).not.toContain('secret-key');
    expect(sent).toEqual(['secret-key']);
    await expect(tasks('http://environments.example')).rejects.toMatchObject({ code: 'environment.address' });
  });

  test('without one, an address has to be one all the same', async () => {
    for (const url of ['localhost:8080', 'ftp://localhost', 'x'])
      await expect(tasks(url)).rejects.toMatchObject({ code: 'environment.address' });
  });
});

test('what goes wrong with the policy is no fault of the environment', async () => {
  await expect(
    hold(async () => {
      throw new Error('policy');
    }),
  ).rejects.toThrow('policy');
  expect(server.sessions.size).toBe(0);
});

test('the tasks of an environment become rows of a file', async () => {
  const row = (index: number, answer: string) => ({
    question: `What is ${index} + ${index + 4}?`,
    answer,
    metadata: { environment: 'sums', split: 'train', index },
  });
  const { place, rows } = await orsHost(client).rows({ first: 2 });
  expect(place).toBe('sums, split train');
  expect(rows).toEqual([row(0, '4'), row(1, '(the environment alone knows)')]);
  expect((await orsHost(client).rows({ first: 9, split: 'exam' })).rows).toHaveLength(3);
  expect(server.sessions.size).toBe(0);
  for (const wrong of [{ name: 'x' }, { split: 'x' }])
    await expect(orsHost(client).rows({ first: 1, ...wrong })).rejects.toMatchObject({
      code: 'environment.unknown',
    });
  expect(placeOf(rows[1])).toEqual({ environment: 'sums', split: 'train', index: 1 });
  expect(() => placeOf({ metadata: { index: 1 } })).toThrow(
    expect.objectContaining({ code: 'environment.task' }),
  );
});
