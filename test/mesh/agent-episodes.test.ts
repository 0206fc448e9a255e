/**
 * Agents of somebody else: they open episodes of a run, speak to the policy through OpenAI's own client, and post what an episode is worth.
 * The rounds go on as any others. Whatever an agent does wrong is refused by name, or recorded as missing data with its kind.
 */
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { recordedEpisodes } from '../../core/audit/recorded-episodes.ts';
import { episodeToken } from '../../core/net/agent-token.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { readStart } from '../../local/find-start.ts';
import {
  asks,
  clientOf,
  contents,
  EPISODE_SECONDS,
  forget,
  type Held,
  held,
  opened,
  ordered,
  POLICY,
  post,
  postpone,
  recipe,
  refusal,
  rewards,
  scene,
  silence,
  thrown,
  withAgents,
} from './agent-scene.ts';
import { learns } from './learns.ts';
import { ALONE } from './scene.ts';

withAgents();

describe('an episode', () => {
  test.each(['onnx', 'kernels'])(
    'is recorded with the very tokens, and trained on, audited and read like any other: %s',
    async (engine) => {
      const { round, access } = await ordered(2, 2, { engine });
      const prompts: number[][] = [];
      const answers: number[][] = [];
      for (let i = 0; i < 4; i++) {
        const episode = await held(access);
        expect(episode).toMatchObject({
          round: 1,
          model: expect.stringMatching(/^words@\d+$/),
          idleSeconds: EPISODE_SECONDS,
        });
        const { messages, answer } = episode.task as { messages: { content: string }[]; answer: string };
        expect(messages[0]!.content).toMatch(/^What is \d+ \+ 4\?$/);
        expect(Number(answer)).toBeGreaterThanOrEqual(4);
        // Cut off, ended before, or as the run has it: the audit does not know what was asked for.
        const [most] = [{ max_tokens: 2 }, { max_tokens: 12 }, { max_tokens: 23 }, {}].slice(i);
        const said = await asks(episode, messages[0]!.content, {
          return_token_ids: true,
          logprobs: true,
          top_logprobs: i,
          ...most,
        });
        for (const { top_logprobs: told } of said.choices[0]!.logprobs!.content!)
          expect(told).toHaveLength(i);
        expect(said.model).toBe(episode.model);
        prompts.push((said as unknown as { prompt_token_ids: number[] }).prompt_token_ids);
        answers.push((said.choices[0] as unknown as { token_ids: number[] }).token_ids);
        expect((await rewards(episode, i / 4)).status).toBe(200);
      }
      expect((await opened(access)).state).toBe('wait');
      const end = await learns(scene, recipe);
      const done = await scene.reach(round, ['done', 'failed']);
      await end();
      expect(done).toMatchObject({ state: 'done', groups: { trained: 2, failed: 0 } });
      expect(done.report?.monitors).toMatchObject({ rollouts: 4, reward: 0.375, missingRewards: 0 });
      const groups = await contents(round);
      const samples = groups.flatMap((group) => group.samples ?? []);
      expect(samples.map(({ prompt }) => prompt)).toEqual(prompts);
      expect(samples.map(({ ids }) => ids)).toEqual(answers);
      // Some ended under a lower limit than the one that the audit draws them with.
      expect(samples.slice(1, 3).some(({ stopped }) => stopped)).toBe(true);
      expect(samples[0]!.stopped).toBe(false);
      expect(samples.map(({ rewards: { reward } }) => reward)).toEqual([0, 0.25, 0.5, 0.75]);
      // The run wanted one round.
      expect((await opened(access)).state).toBe('over');
    },
  );

  test('goes on from its own answers by their ids; another conversation stands by itself', async () => {
    const { round, access } = await ordered(1, 2);
    const episode = await held(access);
    const openai = clientOf(episode);
    const first = [{ role: 'user' as const, content: 'What is 3 + 4?' }];
    type WithIds = { prompt_token_ids: number[]; choices: { token_ids: number[] }[] };
    const ids = { model: 'm', return_token_ids: true } as { model: string };
    const said = await openai.chat.completions.create({ ...ids, messages: first });
    const one = said as unknown as WithIds;
    const next = [...first, said.choices[0]!.message, { role: 'user' as const, content: 'Are you sure?' }];
    const two = (await openai.chat.completions.create({ ...ids, messages: next })) as unknown as WithIds;
    const before = [...one.prompt_token_ids, ...one.choices[0]!.token_ids];
    expect(two.prompt_token_ids.slice(0, before.length)).toEqual(before);
    // The whole is what the template writes, and after the answer nothing but the new message is encoded.
    const { tokenizer } = textOf(await readStart(POLICY), POLICY);
    const ended = said.choices[0]!.finish_reason === 'stop' ? '' : '<|end|>';
    expect(two.prompt_token_ids.slice(before.length)).toEqual(
      tokenizer.encode(`${ended}<|user|>Are you sure?<|end|><|assistant|>`),
    );
    // An answer that the policy did not give.
    const other = [...first, { role: 'assistant' as const, content: 'Eleven.' }, next[2]!];
    const three = (await openai.chat.completions.create({ ...ids, messages: other })) as unknown as WithIds;
    expect(three.prompt_token_ids).toEqual(
      tokenizer.encode(
        '<|user|>What is 3 + 4?<|end|><|assistant|>Eleven.<|end|><|user|>Are you sure?<|end|><|assistant|>',
      ),
    );
    expect((await rewards(episode, -1.5)).status).toBe(200);
    const second = await held(access);
    await asks(second, 'What is 1 + 4?');
    expect((await rewards(second, 2)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    const samples = group!.samples!;
    expect(samples.map(({ turn, of }) => [turn, of === samples[0]!.id])).toEqual([
      [0, false],
      [1, true],
      [2, true],
      [0, false],
    ]);
    expect(samples.map(({ rewards: { reward } }) => reward)).toEqual([-1.5, -1.5, -1.5, 2]);
    expect(samples[1]!.prompt).toEqual(two.prompt_token_ids);
    // The record alone says which calls there were, so that an audit needs no agent.
    const again = recordedEpisodes(
      { group: group!.group, samples },
      recipe,
      (await scene.gateway.getRound(round)).spec,
    );
    expect(again.map(({ sample, calls, rewards }) => [sample, calls.length, rewards.solver])).toEqual([
      [0, 3, -1.5],
      [1, 1, 2],
    ]);
  });

  test('streams, and may be asked by text and by token ids; all of it is recorded', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    let streamed = '';
    for await (const { choices } of await clientOf(one).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'What is 2 + 4?' }],
      stream: true,
    }))
      streamed += choices[0]?.delta.content ?? '';
    const again = await clientOf(one).responses.create({ model: 'm', input: 'What is 2 + 5?' });
    const text = await clientOf(two).completions.create({ model: 'm', prompt: 'What is', max_tokens: 5 });
    const generated = await post(`${two.baseURL.replace(/\/v1$/, '')}/inference/v1/generate`, two.apiKey, {
      model: 'm',
      token_ids: [5, 6, 7],
      // What verifiers and its renderers send, the policy's own end among it.
      sampling_params: {
        ...{ max_tokens: 3, temperature: 1, top_p: 1, n: 1 },
        ...{ logprobs: 1, stop_token_ids: [4], skip_special_tokens: false },
      },
      ...{ cache_salt: 'x', priority: 0 },
    });
    expect(generated.status).toBe(200);
    const { choices } = (await generated.json()) as { choices: { token_ids: number[] }[] };
    for (const episode of [one, two]) expect((await rewards(episode, 1)).status).toBe(200);
    await scene.reach(round, ['training']);
    const samples = (await contents(round))[0]!.samples!;
    expect(samples).toHaveLength(4);
    const [, response] = samples.splice(0, 2, samples[0]!);
    const { tokenizer, renderer } = textOf(await readStart(POLICY), POLICY);
    expect(renderer().read(samples[0]!.prompt, samples[0]!.ids).text).toBe(streamed);
    expect(renderer().read(response!.prompt, response!.ids).text).toBe(again.output_text);
    expect(samples[1]!.prompt).toEqual(tokenizer.encode('What is'));
    expect(samples[1]!.ids.length).toBeLessThanOrEqual(5);
    expect(text.usage?.completion_tokens).toBe(samples[1]!.ids.length);
    expect(samples[2]).toMatchObject({ prompt: [5, 6, 7], ids: choices[0]!.token_ids });
  });

  test('counts a request that is sent again once, and one that only looks the same twice', async () => {
    const { round, access } = await ordered(1, 2);
    const key = 'first of mine';
    const episode = await held(access, { key });
    expect(await held(access, { key })).toEqual({ ...episode, again: true });
    const other = await held(access);
    expect(other.episode).not.toBe(episode.episode);
    const body = { model: 'm', messages: [{ role: 'user', content: 'What is 9 + 4?' }] };
    const url = `${episode.baseURL}/chat/completions`;
    const sent = async (headers: Record<string, string>) => {
      const answer = await post(url, episode.apiKey, body, headers);
      return ((await answer.json()) as { id: string }).id;
    };
    const keyed = await sent({ 'idempotency-key': 'a' });
    expect(await sent({ 'idempotency-key': 'a' })).toBe(keyed);
    // OpenAI's clients count their retries and send no key.
    const plain = await sent({});
    expect(plain).not.toBe(keyed);
    expect(await sent({ 'x-stainless-retry-count': '1' })).toBe(plain);
    const fresh = await sent({ 'x-stainless-retry-count': '0' });
    expect(new Set([keyed, plain, fresh]).size).toBe(3);
    const reused = await post(url, episode.apiKey, { ...body, max_tokens: 3 }, { 'idempotency-key': 'a' });
    expect(await refusal(reused)).toBe('422 episode.key');
    await asks(other, 'What is 8 + 4?');
    for (const one of [episode, other]) expect((await rewards(one, 0)).status).toBe(200);
    await scene.reach(round, ['training']);
    const ids = (await contents(round))[0]!.samples!.map(({ id }) => `chatcmpl-${id}`);
    expect(ids.slice(0, 3)).toEqual([keyed, plain, fresh]);
    expect(ids).toHaveLength(4);
  });

  test('one client of the whole mesh asks in every episode that it names in a header', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    const openai = new OpenAI({
      baseURL: `${scene.mesh.url}/v1`,
      apiKey: access.token,
      maxRetries: 0,
      defaultHeaders: ALONE,
    });
    type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
    const ask = ({ headers }: Held, messages: Messages, more: Record<string, string> = {}) =>
      openai.chat.completions.create(
        { model: 'm', messages, logprobs: true, top_logprobs: 3, ...({ return_token_ids: true } as object) },
        { headers: { ...headers, ...more } },
      );
    type WithIds = { prompt_token_ids: number[]; choices: { token_ids: number[] }[] };
    const first: Messages = [{ role: 'user', content: 'What is 3 + 4?' }];
    const said = await ask(one, first, { 'idempotency-key': 'a' });
    await ask(two, first);
    const next = await ask(one, [...first, said.choices[0]!.message, { role: 'user', content: 'Sure?' }]);
    const ids = said as unknown as WithIds;
    const before = [...ids.prompt_token_ids, ...ids.choices[0]!.token_ids];
    expect((next as unknown as WithIds).prompt_token_ids.slice(0, before.length)).toEqual(before);
    // Sent again, it is the same answer from the record, with all that was told of it.
    const again = await ask(one, first, { 'idempotency-key': 'a' });
    expect([again.id, again.choices]).toEqual([said.id, said.choices]);
    expect(said.choices[0]!.logprobs!.content!.map((token) => token.top_logprobs.length)).toContain(3);
    const { headers } = two;
    expect((await openai.models.list({ headers: headers! })).data).toMatchObject([{ id: two.model }]);
    const generated = await post(`${scene.mesh.url}/inference/v1/generate`, access.token, {
      model: POLICY,
      token_ids: [5, 6, 7],
      sampling_params: { max_tokens: 3 },
    });
    // Without the header it is nobody's call.
    expect(generated.status).toBe(200);
    // The episode's own key asks in it, too, and no other.
    const body = { model: 'm', messages: first };
    const send = (token: string, header: string) =>
      post(`${scene.mesh.url}/v1/chat/completions`, token, body, { 'x-rollmesh-episode': header });
    const named = two.headers!['x-rollmesh-episode']!;
    expect((await send(two.apiKey, named)).status).toBe(200);
    const foreign = await ordered(1, 2);
    for (const [token, header] of [
      [one.apiKey, named],
      [foreign.access.token, named],
      ['x', named],
      [foreign.access.token, named.replace(access.run, foreign.access.run)],
    ] as const)
      expect(await refusal(await send(token, header))).toBe('401 agent.token');
    for (const header of ['', two.episode, `${named}/..`])
      expect(await refusal(await send(access.token, header))).toBe('422 episode.header');
    for (const episode of [one, two]) expect((await rewards(episode, 1)).status).toBe(200);
    expect(await refusal(await send(access.token, named))).toBe('409 episode.rewarded');
    await scene.reach(round, ['training']);
    const samples = (await contents(round))[0]!.samples!;
    expect(samples.map(({ id }) => `chatcmpl-${id}`).slice(0, 2)).toEqual([said.id, next.id]);
    expect(samples).toHaveLength(4);
  });

  test('is sampled as its run samples; anything else is refused by name', async () => {
    const { access } = await ordered();
    const episode = await held(access);
    for (const more of [{ temperature: 0.2 }, { top_p: 0.9 }, { seed: 1 }, { n: 2 }, { stop: 'x' }])
      expect(await thrown(asks(episode, 'What is 1 + 1?', more))).toBe('422 episode.sampling');
    const fine = { temperature: 1, top_p: 1, n: 1, max_tokens: 4 };
    expect((await asks(episode, 'What is 1 + 1?', fine)).usage!.completion_tokens).toBeLessThanOrEqual(4);
    const [model] = (await clientOf(episode).models.list()).data;
    expect(model).toMatchObject({ id: episode.model, max_model_len: 1024 });
  });
});

describe('what an agent does wrong', () => {
  test('a call that is nested without measure is refused by name before the policy sees it', async () => {
    const episode = await held((await ordered()).access);
    const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    const call = async (more: object) => {
      const body = {
        model: episode.model,
        messages: [{ role: 'user', content: '1' }],
        max_tokens: 2,
        ...more,
      };
      return post(`${episode.baseURL}/chat/completions`, episode.apiKey, body);
    };
    // A field that nobody reads.
    expect(await refusal(await call({ user: deep(101) }))).toBe('422 body.nesting');
    expect((await call({ user: deep(50) })).status).toBe(200);
  });

  test('a second reward, one of another, and one that is no number: each is refused, and the first counts', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    await asks(one, 'What is 1 + 4?');
    await asks(two, 'What is 2 + 4?');
    expect(await refusal(await rewards(one, 1, two.apiKey))).toBe('401 agent.token');
    expect(await refusal(await rewards(one, 1, access.token))).toBe('401 agent.token');
    for (const wrong of [null, '1', true, [1], {}, 1.1e9, -1e308])
      expect(await refusal(await rewards(one, wrong))).toBe('422 body.schema');
    expect(await refusal(await post(one.rewardURL, one.apiKey, '{"reward":NaN}'))).toBe('400 body.json');
    expect(await refusal(await post(one.rewardURL, one.apiKey, '{"reward":1e999}'))).toBe('422 body.schema');
    for (const turn of ['__proto__', 'constructor'])
      expect(await refusal(await post(one.rewardURL, one.apiKey, `{"reward":1,"turns":{"${turn}":1}}`))).toBe(
        '422 body.schema',
      );
    expect((await rewards(one, 0.5)).status).toBe(200);
    expect(await refusal(await rewards(one, 0.75))).toBe('409 episode.rewarded');
    expect(await thrown(asks(one, 'And now?'))).toBe('409 episode.rewarded');
    expect((await rewards(two, 0.25)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    expect(group!.samples!.map(({ rewards: { reward } }) => reward)).toEqual([0.5, 0.25]);
  });

  test('an agent that has no reward says why, and the episode has ended', async () => {
    const { round, access } = await ordered(1, 2);
    const [one, two] = [await held(access), await held(access)];
    await asks(one, 'What is 1 + 4?');
    await asks(two, 'What is 2 + 4?');
    for (const wrong of [{ missing: 'lost' }, { missing: null }, { reward: 1, missing: 'unreachable' }])
      expect(await refusal(await post(one.rewardURL, one.apiKey, wrong))).toBe('422 body.schema');
    const taken = await post(one.rewardURL, one.apiKey, { missing: 'unreachable' });
    expect(await taken.json()).toEqual({ episode: one.episode, reward: null, missing: 'unreachable' });
    expect(await refusal(await rewards(one, 1))).toBe('409 episode.rewarded');
    expect((await rewards(two, 1)).status).toBe(200);
    await scene.reach(round, ['training']);
    const [group] = await contents(round);
    expect(group!.samples!.map(({ rewards: { reward }, missing }) => [reward, missing])).toEqual([
      [null, { reward: 'unreachable' }],
      [1, undefined],
    ]);
  });

  test('a call that is answered while the reward comes is a part of the episode, or is refused', async () => {
    const { round, access } = await ordered(1, 2);
    const [episode, other] = [await held(access), await held(access)];
    await asks(episode, 'What is 1 + 4?');
    await asks(other, 'What is 3 + 4?');
    const [late, ended] = await Promise.all([thrown(asks(episode, 'What is 2 + 4?')), rewards(episode, 1)]);
    expect(ended.status).toBe(200);
    expect((await rewards(other, 0)).status).toBe(200);
    await scene.reach(round, ['training']);
    expect(['answered', '409 episode.rewarded']).toContain(late);
    expect((await contents(round))[0]!.samples).toHaveLength(late === 'answered' ? 3 : 2);
  });

  test('an agent that goes away leaves missing data, and can do nothing more', async () => {
    const { round, access } = await ordered(2, 2);
    const first = [await held(access), await held(access)] as const;
    await asks(first[0], 'What is 1 + 4?');
    await asks(first[1], 'What is 2 + 4?');
    expect((await rewards(first[1], 1)).status).toBe(200);
    const second = [await held(access), await held(access)] as const;
    for (const gone of [first[0], ...second]) await silence(gone);
    await scene.mesh.cron();
    const { groups, failures } = await scene.reach(round, ['training']);
    expect(groups).toMatchObject({ scored: 1, failed: 1 });
    expect(failures.map(({ failure }) => failure?.code)).toEqual(['agent.silent']);
    const [scored] = (await contents(round)).filter(({ state }) => state === 'scored');
    expect(scored!.samples!.map(({ rewards: { reward }, missing }) => [reward, missing])).toEqual([
      [null, { reward: 'abandoned' }],
      [1, undefined],
    ]);
    expect(await refusal(await rewards(first[0], 1))).toBe('409 episode.given-up');
    expect(await thrown(asks(first[0], 'Am I late?'))).toBe('409 episode.given-up');
  });

  test('an episode that is held again, long after what was recorded of it was forgotten, gets answers to its own questions', async () => {
    const { access } = await ordered(1, 2);
    const first = await held(access);
    const promptOf = async (episode: Held, content: string) => {
      const said = await asks(episode, content, { return_token_ids: true });
      return (said as unknown as { prompt_token_ids: number[] }).prompt_token_ids;
    };
    await promptOf(first, 'What is 1 + 4?');
    await forget(first);
    const again = await held(access);
    expect(again.episode).toBe(first.episode);
    await postpone(again);
    const other = await held(access);
    const asked = await promptOf(other, 'What is 12 + 4?');
    expect(await promptOf(again, 'What is 12 + 4?')).toEqual(asked);
    await scene.gateway.stopRun(access.run, 'test');
  });

  test('a round that was closed takes no call and no reward', async () => {
    const { access } = await ordered(1, 2);
    const episode = await held(access);
    await asks(episode, 'What is 1 + 4?');
    await scene.gateway.stopRun(access.run, 'test');
    expect(await thrown(asks(episode, 'What is 2 + 4?'))).toBe('409 episode.round-closed');
    expect(await refusal(await rewards(episode, 1))).toBe('409 episode.round-closed');
    expect((await opened(access)).state).toBe('over');
  });

  test('tokens open what they are of, and nothing else', async () => {
    const [one, two] = [await ordered(), await ordered()];
    const episode = await held(one.access);
    const { LEARNER_TOKEN } = scene.mesh.secrets;
    const never = `${'0'.repeat(32)}-0`;
    const open = (url: string, token: string) => post(`${url}/episodes`, token, {});
    for (const token of [two.access.token, episode.apiKey, LEARNER_TOKEN, 'x', '0'.repeat(64)])
      expect(await refusal(await open(one.access.url, token))).toBe('401 agent.token');
    expect(await refusal(await open(`${scene.mesh.url}/agents/runs/x`, one.access.token))).toBe(
      '401 agent.token',
    );
    const foreign = `${scene.mesh.url}/agents/episodes/${never}/reward`;
    expect(await refusal(await post(foreign, episode.apiKey, { reward: 1 }))).toBe('401 agent.token');
    // A right token of an episode that nobody opened.
    const unopened = await post(foreign, episodeToken(LEARNER_TOKEN, never), { reward: 1 });
    expect(await refusal(unopened)).toBe('422 episode.unknown');
    const wrong = `${scene.mesh.url}/agents/episodes/../reward`;
    expect((await post(wrong, episode.apiKey, { reward: 1 })).status).toBe(404);
    const plain = await scene.order({ recipe: 'trio', seed: 700, tasks: 1, groupSize: 2 });
    await expect(scene.gateway.getAgentAccess(plain.run)).rejects.toMatchObject({ code: 'run.agents' });
  });
});
