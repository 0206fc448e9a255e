/** The environments that the mesh serves: played through the client of the standard they give what they give in process, and a session is never lost or doubled. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isHeldOutKey } from '../../core/recipe/split.ts';
import { shipped } from '../../recipes/index.ts';
import { type Ask, holdEpisode } from '../../workers/api/environment/hold-episode.ts';
import { orsHost } from '../../workers/api/environment/ors-host.ts';
import { agentPrompt } from '../../worlds/environment.ts';
import { agentSees, gridOutcome, openGrid } from '../../worlds/grids/play.ts';
import { isHeldOutQuestion } from '../../worlds/knowledge/episode.ts';
import { solverPrompt, writeAnswer, writeSearch, writeTask } from '../../worlds/knowledge/proposal.ts';
import { called, inProcess, served } from './environment-scene.ts';

const ragen = shipped.find('ragen');
const ssp = shipped.find('ssp');

afterEach(() => vi.unstubAllGlobals());

/** Everything that was read and written in an episode, as the policy's text. */
function listener(
  begins: (situation: string) => string,
  sees: (observation: string) => string,
  write: (prompt: string) => string,
  callOf: (text: string) => readonly [name: string, input: object],
) {
  const said: string[] = [];
  let text = '';
  const ask: Ask = async (messages) => {
    const last = String(messages.at(-1)!.content);
    // The rules are one line, and come first.
    text += said.length ? sees(last) : begins(last.slice(last.indexOf('\n') + 1));
    const written = write(text);
    text += written;
    said.push(written);
    return called(`call-${said.length}`, ...callOf(written));
  };
  return { ask, said, text: () => text };
}

test.each(['lake', 'push'] as const)(
  'worlds of %s are read, walked and paid as in process, byte for byte',
  async (environment) => {
    const { client } = await served();
    const moves = ['u r', 'd', 'l l u', 'z', 'd r d', 'r', 'u u u u u', 'l d'];
    let paid = 0;
    for (let index = 0; index < 9; index++) {
      // What is written depends on all that was read.
      const write = (prompt: string) => {
        const sum = [...prompt].reduce((all, letter) => all + letter.charCodeAt(0), index);
        return `<answer>${moves[sum % moves.length]}<eos>`;
      };
      const heard = listener(agentPrompt, agentSees, write, (text) => [
        'act',
        { actions: text.slice('<answer>'.length, -'<eos>'.length) },
      ]);
      const place = { environment, split: 'train', index };
      const { score } = await holdEpisode(orsHost(client), { metadata: place }, `walk-${index}`, heard.ask, {
        turns: 16,
      });
      const task = String((await client.task(place)).world);
      const { text, turns } = await inProcess(ragen, { agent: {} }, write)(task);
      expect(heard.text()).toBe(text);
      expect(heard.said).toHaveLength(turns.length);
      const { total, success } = gridOutcome(openGrid(task), heard.said);
      expect(score).toBeCloseTo(total, 12);
      paid += Number(success);
    }
    expect(paid).toBeGreaterThan(0);
  },
);

test('questions are searched, answered and paid as in process, byte for byte', async () => {
  const { client } = await served();
  const scores: unknown[] = [];
  for (let index = 0; index < 9; index++) {
    const place = { environment: 'search', split: 'train', index };
    const { question, answer } = (await client.task(place)) as { question: string; answer: string };
    const [, ...relations] = question.split(/(?:^|of )the /);
    const name = question.slice(0, -1).split(' ').at(-1);
    // Some answer rightly, some wrongly, some search for ever.
    const write = (prompt: string) => {
      const searched = prompt.split('<sep>').length - 2;
      if (index % 3 === 0 || searched < 2) return writeSearch(`${relations.at(-1)?.split(' ')[0]} ${name}`);
      return writeAnswer(index % 3 === 1 ? answer : 'nobody');
    };
    const heard = listener(
      solverPrompt,
      (found) => `${found}<sep>`,
      write,
      (text) =>
        text.startsWith('<step>?')
          ? ['search', { query: text.slice('<step>?'.length, -'<eos>'.length) }]
          : ['answer', { name: text.slice('<answer>'.length, -'<eos>'.length) }],
    );
    const { score } = await holdEpisode(orsHost(client), { metadata: place }, `search-${index}`, heard.ask, {
      turns: 16,
    });
    const { text, turns } = await inProcess(
      ssp,
      { proposer: {}, solver: {} },
      write,
    )(writeTask(question, answer));
    expect(heard.text()).toBe(text);
    expect(heard.said).toHaveLength(turns.length);
    expect(turns.map(({ rewards }) => rewards.reward)).toEqual(turns.map(() => score));
    scores.push(score);
  }
  expect(scores.slice(0, 6)).toEqual([0, 1, 0, 0, 1, 0]);
});

test('no task of the held-out split is one of training, and only training tells answers', async () => {
  const { client } = await served();
  expect(await client.environments()).toEqual(['lake', 'push', 'search']);
  for (const split of ['train', 'test']) {
    const heldOut = split === 'test';
    const questions = await client.countTasks('search', split);
    expect(questions).toBeGreaterThan(heldOut ? 100 : 1000);
    for (let i = 0; i < 20; i++) {
      const index = Math.floor((i * questions) / 20);
      const { question, answer } = await client.task({ environment: 'search', split, index });
      expect(isHeldOutQuestion(String(question))).toBe(heldOut);
      expect(answer === undefined).toBe(heldOut);
      const session = `${split}-${i}`;
      await client.begin({ environment: 'lake', split, index: i }, session);
      const [, board] = await client.prompt('lake', session);
      // The agent stands on ice.
      const map = (board as { text: string }).text.replaceAll('\n', '').replace('p', '.');
      expect(isHeldOutKey('lake', map)).toBe(heldOut);
    }
  }
  const { rows } = await orsHost(client).rows({ name: 'search', first: 3 });
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatchObject({ metadata: { environment: 'search', split: 'train', index: 0 } });
});

const AT = { environment: 'search', split: 'train', index: 0 };

describe('a session', () => {
  test('has a call once: its output comes again under its number, and of two calls at once one is refused', async () => {
    const { client, send } = await served();
    await client.begin(AT, 'one');
    const output = async (body: object) =>
      (await (await send('POST', '/search/call', 'one', body)).text()).split('\n');
    const first = await output({ name: 'search', input: { query: 'land' } });
    expect(first[1]).toBe('data: call-1');
    expect(await output({ name: 'search', input: { query: 'other' }, task_id: 'call-1' })).toEqual(first);
    expect((await send('POST', '/search/call', 'one', { name: 'search', task_id: 'call-2' })).status).toBe(
      404,
    );
    const both = await Promise.all(
      ['home', 'guild'].map((query) =>
        send('POST', '/search/call', 'one', { name: 'search', input: { query } }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await output({ name: 'search', input: { query: 'land' } }))[1]).toBe('data: call-3');
  });

  test('takes no call that does not fit a tool, and none after its end; neither counts', async () => {
    const { client } = await served();
    await client.begin(AT, 'one');
    const refused = async (name: string, input: Record<string, unknown>) => {
      const said = await client.call('search', 'one', name, input);
      return said.ok ? null : said.error;
    };
    expect(await refused('fly', {})).toBe('There is no tool fly. The tools are search, answer.');
    expect(await refused('search', {})).toMatch(/arguments of search .* "query"/);
    expect(await refused('search', { query: '<eos>' })).toMatch(/#\/query/);
    expect(await refused('search', { query: 'a', more: 1 })).toMatch(/more/);
    for (let i = 0; i < 3; i++) expect(await refused('search', { query: 'land' })).toBeNull();
    expect(await client.call('search', 'one', 'answer', { name: 'nobody' })).toMatchObject({
      output: { reward: 0, finished: true },
    });
    expect(await refused('answer', { name: 'nobody' })).toBe('The episode has ended.');
  });

  test('is begun once, ends when it is told to, and is given up when nobody calls for 900 s', async () => {
    const { client, clock, send, bucket } = await served();
    const status = async (session: string) => (await send('GET', '/search/prompt', session)).status;
    await client.begin(AT, 'one');
    await expect(client.begin(AT, 'one')).rejects.toMatchObject({ code: 'environment.refused' });
    await client.begin(AT, 'two');
    expect([await status('one'), await status('nobody')]).toEqual([200, 404]);
    expect((await send('GET', '/lake/prompt', 'one')).status).toBe(404);
    await client.end('one');
    expect(await status('one')).toBe(404);
    clock.now += 600_000;
    expect((await send('POST', '/ping', 'two')).status).toBe(200);
    clock.now += 600_000;
    expect(await status('two')).toBe(200);
    clock.now += 301_000;
    expect([await status('two'), (await send('POST', '/ping', 'two')).status]).toEqual([404, 404]);
    await client.begin(AT, 'three');
    expect(bucket.objects.size).toBe(1);
  });

  test('waits for room where there are as many as there may be', async () => {
    const { client, send, bucket } = await served();
    await client.begin(AT, 's-0');
    const [[, stored]] = [...bucket.objects] as [[string, { text: string; etag: string; uploaded: Date }]];
    for (let i = 1; i < 256; i++) bucket.objects.set(`sessions/${i}`, stored);
    const body = { env_name: 'search', split: 'train', index: 0 };
    const full = await send('POST', '/create', 'more', body);
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '5']);
    await client.end('s-0');
    expect((await send('POST', '/create', 'more', body)).status).toBe(200);
  });

  test.each([
    [{ env_name: 'fly', split: 'train', index: 0 }, 404],
    [{ env_name: 'search', split: 'exam', index: 0 }, 400],
    [{ env_name: 'lake', split: 'test', index: 150 }, 400],
    [{ env_name: 'lake', split: 'test', index: -1 }, 422],
    [{ env_name: 'lake', split: 'test', index: 0.5 }, 422],
  ])('is not begun of %j', async (body, status) => {
    const { send, bucket } = await served();
    expect((await send('POST', '/create', 'one', body)).status).toBe(status);
    expect(bucket.objects.size).toBe(0);
  });

  test.each(['', 'a b', 'x'.repeat(129)])('is not named %j', async (name) => {
    const { send } = await served();
    expect((await send('POST', '/ping', name)).status).toBe(400);
  });
});

test('a deployed mesh serves who holds the reader’s token, in the header of the standard', async () => {
  const read = 'a-token-for-readers'.padEnd(64, '0');
  const { client, send } = await served({ local: false, read });
  expect(await client.environments()).toEqual(['lake', 'push', 'search']);
  expect((await send('GET', '/list_environments', 'one')).status).toBe(401);
  await served({ local: false });
  expect((await send('GET', '/list_environments', 'one')).status).toBe(401);
});
