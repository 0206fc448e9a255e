/** Episodes in an environment of OpenEnv: what the policy and the environment hear of each other, what is paid, and every fault. */
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Ask,
  type HoldOptions,
  holdEpisode,
  type Said,
} from '../../workers/api/environment/hold-episode.ts';
import { openHost } from '../../workers/api/environment/open-host.ts';
import { openEnvHost } from '../../workers/api/environment/openenv-host.ts';
import { nodeSocket } from '../../workers/api/node-socket.ts';
import { OpenEnvClient } from '../../workers/api/openenv-client.ts';
import { openEnvServer } from '../openenv-server.ts';

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const TASK = { metadata: { protocol: 'openenv', reset: { seed: 0 } } };

let server: Awaited<ReturnType<typeof openEnvServer>>;
const starts = async (...order: Parameters<typeof openEnvServer>) => {
  server = await openEnvServer(...order);
};
afterEach(() => server.stop());

const calling = (...calls: readonly (readonly [name: string, given: string])[]): Said => {
  const written = calls.map(([name, given], i) => ({ id: `${name}-${i}`, name, arguments: given }));
  return { id: 'a', message: { role: 'assistant', tool_calls: written }, content: '', calls: written };
};
const submits = (answer: string) => calling(['submit', JSON.stringify({ answer })]);
const steps = (answer: string) => calling(['step', JSON.stringify({ answer })]);
const saying = (content: string): Said => ({
  id: 'a',
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

const clientOf = (timeoutMs = 5000) =>
  new OpenEnvClient({ url: `${server.url}/`, backOff: QUICK, timeoutMs }, nodeSocket);
const hostOf = (url: string) => openHost(url, { key: process.env.ORS_API_KEY, connect: nodeSocket });
const hold = (ask: Ask, options: Partial<HoldOptions> = {}, task: object = TASK) =>
  holdEpisode(openEnvHost(clientOf()), task, 'one', ask, { turns: 8, ...options });

/** A session that is over has been closed by its client. */
const allClosed = () => vi.waitFor(() => expect(server.open.size).toBe(0));

describe('an environment with tools', () => {
  beforeEach(() => starts(true));

  test('is reset once under the name of the episode, offers its tools, and pays by its steps', async () => {
    const { ask, heard } = policy(
      submits('5'),
      calling(['submit', '{"answer":"4"}'], ['submit', '{"answer":"6"}']),
    );
    expect(await hold(ask)).toMatchObject({ score: 0.75 });
    expect(server.resets).toEqual([{ seed: 0, episode_id: 'one' }]);
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
    ]);
    expect(heard[1]!.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'submit-0', content: 'Wrong.' });
    // Nothing is called after the environment has finished.
    expect(server.ran).toEqual(['5', '4']);
    await allClosed();
    expect(server.closed).toBe(1);
  });

  test('hears of no call whose arguments do not fit, and tells the policy of tools that it does not know', async () => {
    const { ask, heard } = policy(calling(['submit', '{"answer":4}'], ['fly', '{}']), submits('4'));
    expect(await hold(ask)).toMatchObject({ score: 1 });
    const [wrong, unknown] = heard[1]!.messages.slice(2).map(({ content }) => String(content));
    expect(wrong).toMatch(/^The arguments of this call do not fit the tool: #\/answer: .*"string"/);
    expect(unknown).toBe('Unknown tool: fly');
    expect(server.ran).toEqual(['4']);
  });

  test('with an answer tool needs no tools of the policy', async () => {
    const { ask, heard } = policy(saying('I say 5'), saying('I say 4'));
    expect(await hold(ask, { answerTool: 'submit' })).toMatchObject({ score: 0.75 });
    expect(heard.map(({ tools }) => tools)).toEqual([[], []]);
  });

  test('of a policy that ends it without a call, or has no room left, is worth what was paid', async () => {
    expect(await hold(policy(saying('It is 4.')).ask)).toMatchObject({ score: 0 });
    expect(await hold(policy(submits('5'), null).ask)).toMatchObject({ score: -0.25 });
  });
});

describe('an environment with actions of its own', () => {
  beforeEach(() => starts(false));

  test('is acted in by one tool, whose arguments are the action', async () => {
    const { ask, heard } = policy(calling(['step', '{"answer":"x"}'], ['fly', '{}']), steps('5'), steps('4'));
    const task = {
      metadata: { ...TASK.metadata, instructions: 'Answer in digits.', show: ['question', 'answered'] },
    };
    expect(await hold(ask, {}, task)).toMatchObject({ score: 0.75 });
    expect(heard[0]!.messages).toEqual([{ role: 'user', content: 'Answer in digits.\n\nWhat is 0 + 4?' }]);
    expect(heard[0]!.tools).toMatchObject([
      { function: { name: 'step', parameters: { properties: { answer: {} }, required: ['answer'] } } },
    ]);
    expect(JSON.stringify(heard[0]!.tools)).not.toContain('metadata');
    const [wrong, unknown] = heard[1]!.messages.slice(2).map(({ content }) => String(content));
    expect(wrong).toMatch(/do not fit the tool: #\/answer: String does not match/);
    expect(unknown).toBe('There is no tool fly.');
    expect(heard[2]!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Wrong.' });
    expect(server.ran).toEqual(['5', '4']);
  });

  test('tells the policy what it does not take', async () => {
    server.faults.set('step', (send) => {
      server.faults.clear();
      send(
        '{"type":"error","data":{"message":"Invalid message","code":"VALIDATION_ERROR","errors":[{"loc":["answer"],"msg":"Too short"}]}}',
      );
      return true;
    });
    const { ask, heard } = policy(steps('5'), steps('4'));
    expect(await hold(ask)).toMatchObject({ score: 1 });
    expect(heard[1]!.messages.at(-1)!.content).toBe('The environment does not take this: answer: Too short');
  });
});

describe('once', () => {
  test('a step of which nothing was heard is not sent again', async () => {
    await starts(true);
    server.faults.set('step', (_, socket) => Boolean(socket.destroy()));
    expect(await hold(policy(submits('5'), submits('4')).ask)).toMatchObject({ score: 'unreachable' });
    expect([server.ran, server.resets.length]).toEqual([['5'], 1]);
  });

  test('a second answer to a step is not taken for the answer to the next one', async () => {
    await starts(true);
    const twice = (send: (text: string) => void) => {
      const answer = '{"type":"observation","data":{"observation":{},"reward":1,"done":false}}';
      send(answer);
      send(answer);
      return true;
    };
    server.faults.set('step', twice);
    const inTheMiddle = await hold(policy(submits('5'), submits('4')).ask);
    expect(inTheMiddle).toMatchObject({ score: 'unreadable' });
    expect(inTheMiddle.error!.message).toMatch(/observation that nobody asked for/);
    const atTheEnd = await hold(policy(submits('5'), saying('Enough.')).ask);
    expect(atTheEnd).toMatchObject({ score: 'unreadable' });
    expect(server.ran).toEqual(['5', '5']);
    await allClosed();
  });

  test('a session waits until the server has room for it, and fails where it never has', async () => {
    await starts(true, 1);
    const begun = await clientOf().begin({ seed: 1 });
    const waiting = hold(policy(submits('4')).ask);
    setTimeout(() => begun.session.close(), 50);
    expect(await waiting).toMatchObject({ score: 1 });
    await allClosed();
    await clientOf().begin({ seed: 1 });
    await expect(clientOf(30).begin({ seed: 2 })).rejects.toMatchObject({ code: 'environment.refused' });
    expect(server.resets.map(({ seed }) => seed)).toEqual([1, 0, 1]);
  });
});

const says = (text: string) => (send: (text: string) => void) => send(text);
const observed = (more: string) => says(`{"type":"observation","data":{"observation":{},${more}}}`);

test.each<[string, string, (send: (text: string) => void, socket: Socket) => void, RegExp]>([
  ['refused', 'step', says('{"type":"error","data":{"code":"EXECUTION_ERROR","message":"Boom"}}'), /"Boom"/],
  [
    'refused',
    'reset',
    says('{"type":"error","data":{"code":"FACTORY_ERROR","message":"No"}}'),
    /FACTORY_ERROR/,
  ],
  ['refused', 'mcp', says('{"type":"error","data":{"code":"UNKNOWN_TYPE"}}'), /UNKNOWN_TYPE/],
  ['unreadable', 'mcp', says('{"type":"mcp","data":{"id":1,"error":{"code":-32603}}}'), /tools\/list/],
  ['unreadable', 'step', says('{"type":'), /it is no JSON/],
  ['unreadable', 'step', observed('"reward":NaN'), /it is no JSON/],
  ['unreadable', 'step', observed('"reward":1e999'), /reward/],
  ['unreadable', 'step', observed('"reward":"1"'), /reward/],
  ['unreadable', 'step', says('{"type":"state","data":{}}'), /nobody asked for/],
  ['unreachable', 'reset', (_, socket) => socket.destroy(), /does not answer reset/],
  ['unreachable', 'step', (_, socket) => socket.end(), /does not answer step/],
  ['too-large', 'step', observed(`"text":"${'x'.repeat(10 << 20)}"`), /longer than 1048576 bytes/],
  ['too-large', 'reset', says(`"${'x'.repeat(2 << 20)}"`), /longer than/],
])('%s is missing data: %s', async (kind, type, fault, said) => {
  await starts(true);
  server.faults.set(type, (send, socket) => {
    fault(send, socket);
    return true;
  });
  const { score, error } = await hold(policy(submits('5'), submits('4')).ask);
  expect(score).toBe(kind);
  expect(error!.message).toMatch(said);
  expect(server.ran.length).toBeLessThanOrEqual(1);
  await allClosed();
});

test('an answer that does not come in time is missing data, and what comes later changes nothing', async () => {
  await starts(true);
  let late = () => {};
  server.faults.set('step', (send) => {
    late = () => send('{"type":"observation","data":{"observation":{},"reward":1,"done":true}}');
    return true;
  });
  const ended = await holdEpisode(openEnvHost(clientOf(40)), TASK, 'one', policy(submits('4')).ask, {
    turns: 2,
  });
  expect(ended).toMatchObject({ score: 'timed-out' });
  late();
  await allClosed();
});

test('a reward that is null is none, and a truth value counts as 1 or 0', async () => {
  await starts(true);
  server.pays = [null, true];
  expect(await hold(policy(submits('4')).ask)).toEqual({ score: 'not-rated' });
  expect(await hold(policy(submits('5'), submits('4')).ask)).toMatchObject({ score: 1 });
});

describe('by its address alone', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('a server is known for one of OpenEnv, and its seeds become rows of a file', async () => {
    vi.stubEnv('ORS_API_KEY', 'secret-key');
    await starts(false);
    const host = await hostOf(server.url);
    const { rows } = await host.rows({ first: 2, reset: { level: 2 }, show: ['question'] });
    const metadata = (seed: number) => ({
      protocol: 'openenv',
      reset: { seed, level: 2 },
      show: ['question'],
    });
    expect(rows).toEqual([
      { question: 'What is 0 + 4?', answer: '(the environment alone knows)', metadata: metadata(0) },
      { question: 'What is 1 + 5?', answer: '(the environment alone knows)', metadata: metadata(1) },
    ]);
    expect(await hold(policy(steps('6')).ask, {}, rows[1]!)).toMatchObject({ score: 1 });
    expect(server.headers[0]).toMatchObject({ 'x-api-key': 'secret-key' });
    // Seeds that begin alike are told apart, since a file has every question once.
    const alike = (await host.rows({ first: 2, instructions: 'Guess.', show: ['hint'] })).rows;
    expect(alike).toMatchObject([{ question: 'Guess.' }, { question: 'Guess.\n\n(seed 1)' }]);
    await allClosed();
  });

  test('what means nothing to it is refused, and so is an observation that says nothing', async () => {
    await starts(false);
    const host = await hostOf(server.url);
    await expect(host.rows({ first: 1, name: 'sums' })).rejects.toMatchObject({ code: 'environment.option' });
    await expect(host.rows({ first: 1, show: ['answer'] })).rejects.toMatchObject({
      code: 'environment.prompt',
    });
    await expect(hostOf(`${server.url}/elsewhere`)).rejects.toMatchObject({ code: 'environment.protocol' });
    await expect(host.open({ metadata: { index: 1 } }, 'one')).rejects.toMatchObject({
      code: 'environment.task',
    });
  });
});
