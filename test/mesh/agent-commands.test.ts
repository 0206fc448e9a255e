/** The commands of agents against a mesh: they print what an agent needs, play a run's episodes in an environment, and say what is wrong. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { command as agents } from '../../cli/agents/command.ts';
import { command as environment } from '../../cli/environment/command.ts';
import { command as trajectories } from '../../cli/trajectories/command.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { readStart } from '../../local/find-start.ts';
import { importPolicy } from '../../local/starts.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { INTERNALS, runCommand } from '../cli/terminal.ts';
import { byteTokenizer, QWEN_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { orsServer } from '../ors-server.ts';
import {
  asks,
  clientOf,
  contents,
  held,
  opened,
  ordered,
  POLICY,
  post,
  recipe,
  refusal,
  restart,
  rewards,
  root,
  scene,
  silence,
  withAgents,
} from './agent-scene.ts';
import { learns, printed } from './learns.ts';

withAgents();

/**
 * Random weights in Qwen2's shape with the chat template of Qwen2.5, tools included. A fifth of the tokens are calls of a tool, written as the
 * template has them: weights that know nothing would never write one byte by byte.
 */
function checkpointWithTools(): VersionFiles {
  const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const written = Array.from(
    { length: 64 },
    (_, n) => `<tool_call>\n{"name": "submit", "arguments": {"answer": "${n}"}}\n</tool_call>`,
  );
  const special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
  const tokenizer = byteTokenizer([...special, ...written]) as { added_tokens: { content: string }[] };
  const config = smallConfig({
    model_type: 'qwen2',
    vocab_size: 259 + special.length + written.length,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    max_position_embeddings: 2048,
  });
  const added = tokenizer.added_tokens.map((token) => ({
    ...token,
    special: special.includes(token.content),
  }));
  return {
    'config.json': utf8(toHfConfig(config)),
    'tokenizer.json': utf8({ ...tokenizer, added_tokens: added }),
    'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE }),
    'model.safetensors': writeSafetensors(randomTensors(config)),
  };
}

test('`agents` prints what an agent needs, and `trajectories` what it did', async () => {
  const { round, access } = await ordered(1, 2);
  const { run } = access;
  expect(await printed(scene, agents(), run)).toBe(
    `ROLLMESH_AGENT_URL=${access.url}\nROLLMESH_AGENT_TOKEN=${access.token}`,
  );
  expect(JSON.parse(await printed(scene, agents(), 'last', '--json'))).toEqual(access);
  const [one, two] = [await held(access), await held(access)];
  const first = await asks(one, 'What is 1 + 4?');
  const said = first.choices[0]!.message;
  await clientOf(one).chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'What is 1 + 4?' }, said, { role: 'user', content: 'Sure?' }],
  });
  await asks(two, 'What is 2 + 4?');
  const paid = (turns: object) => post(one.rewardURL, one.apiKey, { reward: 0.5, turns });
  for (const turns of [{ [first.id.slice(0, -1)]: 1 }, { '': 1 }])
    expect(await refusal(await paid(turns))).toBe('422 episode.turn');
  expect((await paid({ [first.id]: 0.125 })).status).toBe(200);
  await silence(two);
  await scene.mesh.cron();
  await scene.reach(round, ['training']);
  const samples = (await contents(round))[0]!.samples!;
  const out = join(root, 'rollouts.jsonl');
  expect(await printed(scene, trajectories(), run, '--out', out)).toBe(`${out}: 2 rollouts of 1 rounds`);
  type Row = { id: string; run: string; policy: string; turns: Record<string, unknown>[] };
  const rows = (path: string): Row[] =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  expect(rows(out).map(({ id, run: of, turns }) => [id, of, turns.length])).toEqual([
    [samples[0]!.id, run, 2],
    [samples[2]!.id, run, 1],
  ]);
  expect(rows(out).flatMap(({ turns }) => turns.map((turn) => turn.token_ids))).toEqual(
    samples.map(({ ids }) => ids),
  );
  expect(rows(out)[0]!.turns[1]).toMatchObject({
    prompt: `<|user|>What is 1 + 4?<|end|><|assistant|>${samples[0]!.text!.completion}<|user|>Sure?<|end|><|assistant|>`,
    prompt_ids: samples[1]!.prompt,
    logprobs: samples[1]!.logprobs,
    rewards: { reward: 0.5 },
  });
  expect(rows(out)[0]!.turns[0]!.rewards).toEqual({ reward: 0.5, turn: 0.125 });
  const missing = join(root, 'missing.jsonl');
  await printed(scene, trajectories(), 'last', '--only', 'missing', '--out', missing);
  expect(rows(missing).map(({ id }) => id)).toEqual([samples[2]!.id]);
  const refused = (...args: string[]) => expect(printed(scene, trajectories(), ...args)).rejects;
  await refused(run, '--out', out).toMatchObject({ code: 'file.exists' });
  await refused(run, '--only', 'wrong', '--out', join(root, 'none')).toMatchObject({
    code: 'trajectories.none',
  });
  await refused('0'.repeat(32), '--out', join(root, 'none')).toMatchObject({ code: 'run.unknown' });
  await refused('first', '--out', join(root, 'none')).toMatchObject({ code: 'run.named' });
  await refused(run, '--rounds', '0').toMatchObject({ code: 'commander.invalidArgument' });
  expect(existsSync(join(root, 'none'))).toBe(false);
});

test('`environment play` holds the episodes of a run in an environment, and says what it cannot pay', async () => {
  const server = await orsServer();
  // One episode comes to nothing.
  server.faults.set('/sums/prompt', (_, response) => {
    server.faults.clear();
    response.writeHead(401).end();
    return true;
  });
  const { round, access } = await ordered(1, 3);
  const { run } = access;
  const faults = vi.spyOn(console, 'error').mockImplementation(() => {});
  const ends = scene.reach(round, ['training']).then(() => scene.gateway.stopRun(run, 'test'));
  const args = ['play', server.url, run, '--answer-tool', 'submit', '--turns', '2', '--at-once', '1'];
  expect(await printed(scene, environment(), ...args)).toBe(
    `3 episodes of run ${run} were held in ${server.url}`,
  );
  await ends;
  expect(faults.mock.calls.flat().join()).toContain('answers GET /sums/prompt with 401');
  faults.mockRestore();
  const [group] = await contents(round);
  const samples = group!.samples!;
  // What the environment was told is what was recorded, and what it paid is the reward.
  const episodes = samples.filter(({ of }) => of === undefined);
  const { tokenizer } = textOf(await readStart(POLICY), POLICY);
  expect(server.ran.map((call) => JSON.parse(call.slice(call.indexOf('{'))).answer)).toEqual(
    samples.map(({ ids, stopped }) => tokenizer.decode(stopped ? ids.slice(0, -1) : ids)),
  );
  expect(episodes).toHaveLength(2);
  expect(server.begun).toEqual([0, 1, 2].map((sample) => `rollmesh-${group!.group}-${sample}`));
  for (const {
    id,
    rewards: { reward },
  } of episodes) {
    const turns = samples.filter(({ id: own, of }) => own === id || of === id).length;
    expect([1, 0.75, -0.25 * turns]).toContain(reward);
    // Every call pays here: the answers have the parts of the reward.
    const parts = samples.filter(({ id: own, of }) => own === id || of === id).map((one) => one.rewards.turn);
    expect(parts.reduce<number>((sum, part) => sum + part!, 0)).toBe(reward);
  }
  await server.stop();
});

test('two rounds of grpo train an imported policy that calls tools by its own chat template', async () => {
  const server = await orsServer();
  server.tools.splice(1);
  const name = 'calls';
  await importPolicy(scene.gateway, name, checkpointWithTools(), {});
  const { access } = await ordered(1, 4, { policy: name, rounds: 2 });
  const { run } = access;
  const end = await learns(scene, recipe);
  const said = await printed(scene, environment(), 'play', server.url, run, '--turns', '2');
  expect(said).toBe(`8 episodes of run ${run} were held in ${server.url}`);
  const rounds = await scene.gateway.listRounds(run);
  const last = rounds.find(({ index }) => index === 2)!;
  // The audit of every round drew every answer again, to the same bits.
  expect(await scene.reach(last.id, ['done', 'failed'])).toMatchObject({ state: 'done' });
  await end();
  const { tokenizer } = textOf(checkpointWithTools(), name);
  const samples = (await Promise.all(rounds.map(({ id }) => contents(id))))
    .flat(2)
    .flatMap((group) => group.samples!);
  const ran = samples.flatMap(({ ids }) => tokenizer.decode(ids).match(/<tool_call>/g) ?? []);
  expect(ran.length).toBeGreaterThanOrEqual(server.ran.length);
  expect(server.ran.length).toBeGreaterThan(8);
  const replies = samples.filter(({ turn }) => turn === 1);
  expect(replies.length).toBeGreaterThan(0);
  for (const reply of replies) {
    // What is read before the second answer begins with the very tokens of the first, and has the results of its calls.
    const first = samples.find(({ id }) => id === reply.of)!;
    const before = [...first.prompt, ...first.ids];
    expect(reply.prompt.slice(0, before.length)).toEqual(before);
    expect(tokenizer.decode(before)).toContain(
      '"name": "submit", "description": "Hands in a result.", "parameters": {',
    );
    expect(tokenizer.decode(reply.prompt.slice(before.length))).toContain('<tool_response>\nWrong.');
    expect(first.rewards.turn).toBeLessThan(0);
  }
  await server.stop();
});

/** Holds the episodes of a run as a command of its own, whose waits are short. */
async function playsAlone(url: string) {
  const { round, access } = await ordered(1, 2);
  vi.stubEnv('ROLLMESH_URL', scene.mesh.url);
  vi.stubEnv('LEARNER_TOKEN', scene.mesh.secrets.LEARNER_TOKEN);
  // Between attempts, and not while an answer is waited for.
  const hasty =
    'const wait = setTimeout; setTimeout = (f, ms, ...a) => wait(f, ms > 16e3 ? ms : ms / 100, ...a)';
  vi.stubEnv('NODE_OPTIONS', `--import data:text/javascript,${encodeURIComponent(hasty)}`);
  const args = ['environment', 'play', url, access.run, '--answer-tool', 'submit', '--turns', '1'];
  const seen = runCommand('cli/rollmesh.ts', args);
  vi.unstubAllEnvs();
  await scene.reach(round, ['training']);
  return { run: access.run, seen };
}

test('a mesh that is started again goes on with the episodes that were open, and doubles nothing', async () => {
  const server = await orsServer();
  const alone = await playsAlone(server.url);
  const gateway = scene.mesh.url;
  const { round, access } = await ordered(1, 3);
  const [one, two] = [await held(access, { key: 'one' }), await held(access)];
  const asked = await asks(one, 'What is 1 + 4?', { return_token_ids: true });
  await asks(two, 'What is 2 + 4?');
  expect((await rewards(two, 1)).status).toBe(200);
  const { port } = new URL(scene.mesh.url);
  await restart();
  const moved = <T extends string>(url: T) => url.replace(`:${port}/`, `:${new URL(scene.mesh.url).port}/`);
  const here = { ...one, baseURL: moved(one.baseURL), rewardURL: moved(one.rewardURL) };
  const again = { ...access, url: moved(access.url) };
  expect((await held(again, { key: 'one' })).episode).toBe(one.episode);
  const said = asked.choices[0]!.message;
  const second = (await clientOf(here).chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'What is 1 + 4?' }, said, { role: 'user', content: 'Sure?' }],
    ...{ return_token_ids: true },
  })) as unknown as { prompt_token_ids: number[] };
  const { prompt_token_ids: prompt } = asked as unknown as { prompt_token_ids: number[] };
  const { token_ids: ids } = asked.choices[0] as unknown as { token_ids: number[] };
  expect(second.prompt_token_ids.slice(0, prompt.length + ids.length)).toEqual([...prompt, ...ids]);
  expect((await rewards(here, 0.5)).status).toBe(200);
  const gone = await held(again);
  expect((await opened(again)).state).toBe('wait');
  await silence(gone);
  await scene.mesh.cron();
  await scene.reach(round, ['training']);
  const [group] = await contents(round);
  const paid = group!.samples!.map(({ turn, rewards: { reward } }) => [turn, reward]);
  expect(paid).toEqual([
    [0, 0.5],
    [1, 0.5],
    [0, 1],
  ]);
  // A command that holds episodes lost its mesh, and says so.
  const { code, stdout, stderr } = await alone.seen;
  expect(stdout).toBe(`2 episodes of run ${alone.run} were held in ${server.url}\n`);
  expect(stderr).toContain(`The mesh ${new URL(gateway).origin} does not answer.`);
  expect(stderr).not.toMatch(INTERNALS);
  expect(code).toBe(1);
  await server.stop();
});
