/** Rounds whose episodes agents hold: what becomes of calls and rewards, and what an audit can do without the agents. */
import { describe, expect, test } from 'vitest';
import { rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { recordedEpisodes } from '../../core/audit/recorded-episodes.ts';
import type { AgentEpisode } from '../../core/episodes/agent-episode.ts';
import { callSampleId } from '../../core/episodes/agent-episode.ts';
import { monitorRound } from '../../core/monitor/monitors.ts';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { Completion, GeneratePrompt, SamplingSettings } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { type RoundSpec, roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { episodeItems, rewardsToGo } from '../../protocols/episode-credit.ts';
import { groupItems } from '../../protocols/solver.ts';
import { grpo as grpoOnFiles } from '../../recipes/grpo/recipe.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { smallConfig } from '../model/checkpoints.ts';

const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const text = textOf(
  {
    'config.json': utf8(toHfConfig(smallConfig({ vocab_size: 262, max_position_embeddings: 256 }))),
    'tokenizer.json': utf8(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])),
    'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE }),
  },
  'mine',
);
const END = text.renderer().stops[0]!;

const task = (i: number) => ({
  file: 'a.jsonl',
  line: i + 1,
  messages: [{ role: 'user', content: `Task ${i}` }],
  answer: `${i}`,
  metadata: {},
  difficulty: null,
});
const data = {
  name: 'a.jsonl',
  start: 'arithmetic-base',
  checker: 'number',
  extract: ['whole'],
  sources: [{ weight: 1, tasks: Array.from({ length: 6 }, (_, i) => task(i)) }],
  heldOut: [task(9)],
  settings: { maxNew: 8 },
  agent: true,
};
const recipe = grpoOnFiles.make(data);
const settings = {
  recipe: recipe.name,
  seed: 0,
  policy: 'mine',
  rewardFunction: 'posted',
  freeze: [],
  tasks: 2,
  groupSize: 4,
};
const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);

/** Answers every sample with four tokens that follow from its prompt's length, the last one an end; fewer are cut off. */
const answer = ({ ids }: GeneratePrompt, { maxNew }: SamplingSettings): Completion => {
  const whole = [40 + (ids.length % 9), 41, 42, END].slice(0, maxNew);
  return { ids: whole, logprobs: whole.map((_, t) => -0.25 * (t + 1)), stopped: maxNew >= 4 };
};

const contextOf = (
  episodes: (group: string) => readonly AgentEpisode[],
  asked: string[] = [],
  played: { recipe: Recipe; round: RoundSpec } = { recipe, round },
) =>
  openRoundContext({
    ...played,
    ...text,
    textOf: async () => text,
    recipeState: async () => undefined,
    episodes: async (group) => episodes(group),
    use: async (ref, work) =>
      work({
        ref,
        generate: async (prompts, sampling) =>
          prompts.map((prompt) =>
            prompt.sampleIds.map((id) => {
              asked.push(id);
              return answer(prompt, sampling);
            }),
          ),
        score: () => Promise.reject(new Error('nobody scores')),
        dispose: async () => {},
      }),
  });

const EPISODES: readonly AgentEpisode[] = [
  {
    sample: 0,
    calls: [
      { role: 'solver', turn: 0, prompt: [1, 2], maxNew: 8 },
      { role: 'solver', turn: 1, prompt: [1, 2, 3, 4], maxNew: 2, reward: 0.25 },
      // A call between was never answered.
      { role: 'solver', turn: 3, prompt: [7], maxNew: 8 },
    ],
    rewards: { solver: 1 },
  },
  {
    sample: 1,
    calls: [{ role: 'solver', turn: 0, prompt: [1, 2, 5], maxNew: 8 }],
    rewards: { solver: 'abandoned' },
  },
  { sample: 2, calls: [], rewards: {} },
  { sample: 3, calls: [{ role: 'solver', turn: 0, prompt: [1], maxNew: 8 }], rewards: { solver: -2 } },
];

const tasksOf = async () => (await recipe.propose(contextOf(() => []))).tasks;

async function played(): Promise<ScoredGroup> {
  const context = contextOf(() => EPISODES);
  const [first] = await tasksOf();
  return (await recipe.judge(context, await recipe.rollOut(context, [first!])))[0]!;
}

test('each answer is a sample under its call’s id, each episode is paid once on all of its turns', async () => {
  const { group, samples, answersExact } = await played();
  const id = (sample: number, turn: number) => callSampleId(group, 'solver', sample, turn);
  expect(samples.map((sample) => [sample.id, sample.turn, sample.of, sample.outcome])).toEqual([
    [id(0, 0), 0, undefined, 'ok'],
    [id(0, 1), 1, id(0, 0), 'cut-off'],
    [id(0, 3), 3, id(0, 0), 'ok'],
    [id(1, 0), 0, undefined, 'ok'],
    [id(3, 0), 0, undefined, 'ok'],
  ]);
  expect(samples.map(({ prompt }) => prompt)).toEqual([[1, 2], [1, 2, 3, 4], [7], [1, 2, 5], [1]]);
  expect(samples.map(({ rewards, missing }) => [rewards.reward, missing?.reward])).toEqual([
    [1, undefined],
    [1, undefined],
    [1, undefined],
    [null, 'abandoned'],
    [-2, undefined],
  ]);
  expect(samples.map(({ rewards }) => rewards.turn)).toEqual([
    undefined,
    0.25,
    undefined,
    undefined,
    undefined,
  ]);
  expect(answersExact).toEqual([null, null, null, null, null]);
});

test('the record says which calls there were: an audit without agents finds nothing, and every forgery', async () => {
  const group = await played();
  expect(recordedEpisodes(group, recipe, round)).toEqual(EPISODES.filter(({ calls }) => calls.length));
  const proposals = await recipe.propose(contextOf(() => []));
  const audit = async (change: (group: ScoredGroup) => void) => {
    const forged = structuredClone(group);
    change(forged);
    const ledger = new AuditLedger();
    const tools = {
      ...text,
      use: () => Promise.reject(new Error('no model')),
      recipeState: async () => undefined,
    };
    await rereadRound(ledger, { recipe, round, proposals, groups: [forged] }, tools);
    return [...new Set(ledger.findings.map((finding) => finding.class))];
  };
  expect(await audit(() => {})).toEqual([]);
  expect(await audit(({ samples }) => Object.assign(samples[3]!, { id: '0'.repeat(32) }))).toContain(
    'provenance',
  );
  expect(await audit(({ samples }) => Object.assign(samples[1]!, { turn: 2 }))).not.toEqual([]);
  expect(await audit(({ samples }) => (samples[1]!.rewards.reward = 5))).toEqual(['reward']);
  expect(await audit(({ samples }) => delete samples[3]!.missing)).toEqual(['reward']);
  expect(await audit(({ samples }) => samples[0]!.ids.push(1))).toContain('token');
  expect(await audit(({ samples }) => samples[0]!.logprobs.splice(0, 1, 1))).toEqual(['log-probability']);
});

test('the same calls are drawn again, each under its own settings', async () => {
  const group = await played();
  const asked: string[] = [];
  const again = contextOf(() => recordedEpisodes(group, recipe, round), asked);
  const [first] = await tasksOf();
  expect((await recipe.judge(again, await recipe.rollOut(again, [first!])))[0]).toEqual(group);
  expect(asked).toEqual(group.samples.map(({ id }) => id));
});

test('a task of which no episode asked anything fails, and pays nobody', async () => {
  const silent = contextOf(() => EPISODES.map((episode) => ({ ...episode, calls: [] })));
  const [first] = await tasksOf();
  await expect(recipe.rollOut(silent, [first!])).rejects.toMatchObject({
    code: 'agent.silent',
    kind: 'give-up',
  });
});

test('without a mesh no agent is there', async () => {
  const { episodes } = openRoundContext({
    recipe,
    round,
    ...text,
    recipeState: async () => undefined,
    use: () => Promise.reject(new Error('no model')),
  });
  await expect(episodes('0'.repeat(32))).rejects.toMatchObject({ code: 'agent.unreachable' });
});

test('agents are told the task with its answer, and where they cannot play the recipe is what it was', () => {
  expect(recipe.agent!.taskView(JSON.stringify(task(3)))).toEqual({
    messages: [{ role: 'user', content: 'Task 3' }],
    answer: '3',
    metadata: {},
  });
  expect(Object.keys(recipe.rewards)).toEqual(['posted']);
});

test('episodes are compared by their returns, each once; those of one turn as samples are', async () => {
  const group = await played();
  // Returns 1 and -2, one missing: mean -1/2, deviation with n-1 is 3/√2.
  const advantage = 1.5 / (3 / Math.SQRT2);
  const items = episodeItems([group], (returns, groups) => grpo(returns, groups));
  expect(items.map(({ sample, advantage }) => [sample.id, advantage])).toEqual([
    ...group.samples.slice(0, 3).map(({ id }) => [id, expect.closeTo(advantage, 4)]),
    [group.samples[4]!.id, expect.closeTo(-advantage, 4)],
  ]);
  const single = { group: 'g', samples: group.samples.map(({ of: _, ...sample }) => sample) };
  expect(episodeItems([single], grpo)).toEqual(groupItems([single], grpo));
});

test('a turn is credited with what it and the turns after it were paid; the last turn has what the episode was paid beyond that', async () => {
  const group = await played();
  const [credited] = rewardsToGo([group]);
  // Turns are paid 0, 0.25 and nothing of an episode worth 1, so that 0.75 falls to the last; an episode without a reward stays without.
  const toGo = [1, 1, 0.75, null, -2];
  expect(credited!.samples.map(({ rewards }) => rewards.reward)).toEqual(toGo);
  const plan = async (settings: object) => {
    const { learn } = grpoOnFiles.make({ ...data, settings: { maxNew: 8, ...settings } });
    const records = { round, proposals: { round: round.id, samples: [], tasks: [] }, groups: [group] };
    const { updates } = await learn(records as never, undefined as never);
    const [part] = updates[0]!.parts;
    return part?.kind === 'policy' ? part.items.map(({ advantage }) => advantage) : [];
  };
  // Mean 3/16; squares of what is above it sum to 6.421875, so that the deviation with n - 1 is 1.46308.
  const spread = Math.sqrt(6.421875 / 3);
  expect(await plan({ turnRewards: 'turn' })).toEqual(
    [1, 1, 0.75, -2].map((reward) => expect.closeTo((reward - 0.1875) / spread, 4)),
  );
  const byEpisode = [1, 1, 1, -1].map((sign) => expect.closeTo((sign * 1.5) / (3 / Math.SQRT2), 4));
  expect(await plan({ turnRewards: 'episode' })).toEqual(byEpisode);
  expect(await plan({})).toEqual(byEpisode);
  const { agent: _, ...alone } = data;
  expect(() => grpoOnFiles.make({ ...alone, settings: { turnRewards: 'turn' } })).toThrow(
    expect.objectContaining({ code: 'run.setting' }),
  );
});

describe('seats', () => {
  const SEATS = [
    { name: 'proposer' },
    { name: 'solver' },
    { name: 'opponent', policy: { name: 'words', version: 3 } },
  ];
  const of = (
    { seats = SEATS, ...more }: { seats?: unknown; [setting: string]: unknown } = {},
    freeze: string[] = [],
  ) => {
    const made = grpoOnFiles.make({ ...data, seats, settings: { maxNew: 8, ...more } });
    const asked = { ...settings, recipe: made.name, freeze };
    return { recipe: made, round: roundOf(asked, bindingsOf(made, asked), 4, 7) };
  };
  const call = (role: string, turn: number, prompt: number[], reward?: number) => ({
    ...{ role, turn, prompt, maxNew: 8 },
    ...(reward === undefined ? {} : { reward }),
  });
  const HELD: readonly AgentEpisode[] = [
    {
      sample: 0,
      calls: [
        call('proposer', 0, [1]),
        call('solver', 1, [2, 3], 1),
        call('opponent', 2, [2, 3]),
        call('solver', 3, [2, 3, 4, 5]),
      ],
      rewards: { proposer: 1, solver: 3, opponent: 'not-rated' },
    },
    { sample: 1, calls: [call('solver', 0, [6])], rewards: { solver: 1 } },
    {
      sample: 2,
      calls: [call('proposer', 0, [1, 1]), call('solver', 1, [7])],
      rewards: { proposer: 0, solver: 'abandoned' },
    },
    // The first call was never answered.
    {
      sample: 3,
      calls: [call('proposer', 1, [1, 1, 1]), call('solver', 2, [8])],
      rewards: { proposer: 2, solver: -1 },
    },
  ];

  async function seated(made = of()) {
    const proposals = await made.recipe.propose(contextOf(() => [], [], made));
    const context = contextOf(() => HELD, [], made);
    const [group] = await made.recipe.judge(
      context,
      await made.recipe.rollOut(context, [proposals.tasks[0]!]),
    );
    return { ...made, proposals, group: group! };
  }

  test('each has its own ids, history, version and reward, in the order in which they spoke', async () => {
    const { group, recipe, round } = await seated();
    const id = (role: string, sample: number, turn: number) => callSampleId(group.group, role, sample, turn);
    const first = id('solver', 0, 1);
    expect(group.samples.map((sample) => [sample.id, sample.turn, sample.episode, sample.of])).toEqual([
      [id('proposer', 0, 0), 0, 0, undefined],
      [first, 1, 0, undefined],
      [id('opponent', 0, 2), 2, 0, undefined],
      [id('solver', 0, 3), 3, 0, first],
      [id('solver', 1, 0), 0, 1, undefined],
      [id('proposer', 2, 0), 0, 2, undefined],
      [id('solver', 2, 1), 1, 2, undefined],
      [id('proposer', 3, 1), 1, 3, undefined],
      [id('solver', 3, 2), 2, 3, undefined],
    ]);
    expect(group.samples.slice(0, 4).map(({ role, policy }) => [role, policy.name, policy.version])).toEqual([
      ['proposer', 'mine', 7],
      ['solver', 'mine', 7],
      ['opponent', 'words', 3],
      ['solver', 'mine', 7],
    ]);
    expect(group.samples.map(({ rewards, missing }) => rewards.reward ?? missing?.reward)).toEqual([
      ...[1, 3, 'not-rated', 3, 1, 0, 'abandoned', 2, -1],
    ]);
    expect(recordedEpisodes(group, recipe, round)).toEqual(HELD);
  });

  test('each is compared with itself alone, and the fixed one is not trained', async () => {
    const advantages = async (more: object, freeze: string[] = []) => {
      const { recipe, round, proposals, group } = await seated(of({ ...more }, freeze));
      const records = { round, proposals, groups: [group], recipeState: undefined, version: 7 };
      const { updates } = await planTraining(recipe, records, undefined as never);
      expect(updates).toHaveLength(1);
      return Object.fromEntries(
        updates[0]!.parts.map((part) => [
          part.role,
          part.kind === 'policy' ? part.items.map(({ advantage }) => advantage) : part.kind,
        ]),
      );
    };
    const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 3));
    // Proposers earned 1, 0 and 2: mean 1, deviation with n - 1 is 1.
    const proposer = near([0, -1, 1]);
    // Solvers earned 3 over two turns, 1 and -1, one is missing: mean 1, deviation 2.
    expect(await advantages({})).toEqual({ proposer, solver: near([1, 1, 0, -1]) });
    expect(await advantages({}, ['proposer'])).toEqual({ solver: near([1, 1, 0, -1]) });
    // To go: of 3 the first of two turns was paid 1, so that 2 fall to the last: 3 2 1 -1 with mean 5/4, squares of what is above it sum to 35/4.
    const spread = Math.sqrt(35 / 4 / 3);
    expect(await advantages({ turnRewards: 'turn' })).toEqual({
      proposer,
      solver: near([3, 2, 1, -1].map((reward) => (reward - 5 / 4) / spread)),
    });
  });

  test('whitening, the critic and running baselines keep seats apart', async () => {
    const { recipe, round, proposals, group } = await seated();
    const values = async (_: string, sequences: readonly { readonly ids: readonly number[] }[]) =>
      sequences.map(({ ids }) => new Float32Array(ids.length));
    const learned = (variant: string) => {
      const asked = { ...round, settings: { ...round.settings, variant } };
      const records = { round: asked, proposals, groups: [group], recipeState: undefined, version: 7 };
      return recipe.learn(records, { values } as never);
    };
    const planned = async (variant: string) => (await learned(variant)).updates;
    const mean = (numbers: readonly number[]) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
    for (const variant of ['reinforce-plus-plus', 'ppo']) {
      const policy = (await planned(variant)).at(-1)!;
      expect(policy.parts.map(({ role }) => role)).toEqual(['proposer', 'solver']);
      // Whitened over a seat's own tokens, the advantages of each have the mean 0; over both they would not.
      for (const part of policy.parts)
        if (part.kind === 'policy')
          expect(mean(part.items.flatMap(({ advantage }) => advantage))).toBeCloseTo(0, 4);
    }
    const [critic] = await planned('ppo');
    expect([critic!.set, critic!.parts.map(({ kind, role }) => `${kind} ${role}`)]).toEqual([
      'critic',
      ['value proposer', 'value solver'],
    ]);
    // Proposers earned 1, 0 and 2, solvers 3, 1 and -1: each seat has a baseline of its own, which a reward moves a twentieth of the way.
    const moved = (rewards: readonly number[]) => rewards.reduce((b, r) => 0.95 * b + 0.05 * r, 0);
    expect((await learned('rae')).recipeState).toEqual({
      baselines: {
        proposer: expect.closeTo(moved([1, 0, 2]), 8),
        solver: expect.closeTo(moved([3, 1, -1]), 8),
      },
    });
  });

  test('one with weights of its own has a parameter set, and is trained in it alone', async () => {
    const [proposer, solver] = SEATS as [object, object];
    for (const [seats, sets] of [
      [
        [proposer, { ...solver, own: true }],
        ['main proposer', 'solver solver'],
      ],
      [
        [{ ...proposer, own: true }, solver],
        ['proposer proposer', 'main solver'],
      ],
      [
        [
          { ...proposer, own: true },
          { ...solver, own: true },
        ],
        ['proposer proposer', 'solver solver'],
      ],
    ] as const) {
      const made = of({ seats: [...seats, SEATS[2]] });
      const { group, proposals } = await seated(made);
      const variant = { ...made.round, settings: { ...made.round.settings, variant: 'kl' } };
      const records = { round: variant, proposals, groups: [group], recipeState: undefined, version: 7 };
      const { updates } = await planTraining(made.recipe, records, undefined as never);
      expect(updates.map(({ set, parts }) => [set, ...parts.map(({ role }) => role)].join(' '))).toEqual(
        sets,
      );
      for (const { set, parts } of updates) {
        // Each is held near what it was itself.
        expect(parts).toMatchObject([{ kl: { reference: { set, version: 0 } } }]);
        // All that it drew was drawn by the weights that it trains.
        const role = parts[0]!.role;
        for (const { policy } of group.samples.filter((sample) => sample.role === role))
          expect(policy).toEqual({ name: 'mine', version: 7, ...(set === 'main' ? {} : { set }) });
        expect(made.recipe.sets[set]!.optimizer).toEqual(made.recipe.sets.main!.optimizer);
      }
    }
  });

  test('the round’s figures tell seats apart', async () => {
    const { recipe, round, proposals, group } = await seated();
    const records = { round, proposals, groups: [group], recipeState: undefined, version: 7 };
    const { figures } = await recipe.learn(records, undefined as never);
    // (1 + 0 + 2)/3 and (3 + 1 - 1)/3; nobody paid the opponent.
    expect(figures).toMatchObject({ 'seatReward.proposer': 1, 'seatReward.solver': 1, unanimous: 0 });
    expect(figures).not.toHaveProperty('seatReward.opponent');
    const flat = {
      ...group,
      samples: group.samples.map((sample) => ({ ...sample, rewards: { reward: sample.role.length } })),
    };
    // Each seat earned the same in all episodes, and the seats differ.
    expect((await recipe.learn({ ...records, groups: [flat] }, undefined as never)).figures).toMatchObject({
      unanimous: 1,
    });
    expect(monitorRound(recipe, () => '', proposals, [flat]).zeroVariance).toBe(1);
    expect(monitorRound(recipe, () => '', proposals, [group]).zeroVariance).toBe(0);
  });

  test('an audit finds what was moved from one seat to another', async () => {
    const { recipe, round, proposals, group } = await seated();
    const audit = async (change: (group: ScoredGroup) => void) => {
      const forged = structuredClone(group);
      change(forged);
      const ledger = new AuditLedger();
      const tools = {
        ...text,
        textOf: async () => text,
        use: () => Promise.reject(new Error('no model')),
        recipeState: async () => undefined,
      };
      await rereadRound(ledger, { recipe, round, proposals, groups: [forged] }, tools);
      return [...new Set(ledger.findings.map((finding) => finding.class))];
    };
    expect(await audit(() => {})).toEqual([]);
    const [proposer, solver, , again] = group.samples;
    // A history that is cut in two, one that goes on from another seat's, and an answer in another episode.
    expect(await audit(({ samples }) => delete samples[3]!.of)).toEqual(['provenance']);
    expect(await audit(({ samples }) => (samples[3]!.of = proposer!.id))).toContain('provenance');
    expect(await audit(({ samples }) => (samples[4]!.episode = 2))).toEqual(['provenance']);
    expect(again!.of).toBe(solver!.id);
    for (const role of ['proposer', 'opponent', 'nobody'])
      expect(await audit(({ samples }) => (samples[1]!.role = role))).toContain('provenance');
    expect(await audit(({ samples }) => (samples[2]!.policy.version = 4))).toEqual(['version']);
    // What a seat is paid is the agent's word; that all of its turns are paid so is not.
    expect(await audit(({ samples }) => (samples[3]!.rewards.reward = 1))).toEqual(['reward']);
  });

  test('what cannot be seats is refused', () => {
    const made =
      (seats: unknown, more: object = {}) =>
      () =>
        grpoOnFiles.make({ ...data, seats, ...more });
    expect(made([{ name: 'a' }, { name: 'a' }])).toThrow('seats with names of their own');
    expect(made([{ name: 'a', policy: { name: 'words', version: 0 } }])).toThrow(
      'at least one seat that is trained',
    );
    expect(made([{ name: 'A/b' }])).toThrow('Expected the name of a seat');
    expect(made([])).toThrow();
    expect(made([{ name: 'a', own: true, policy: { name: 'words', version: 0 } }, { name: 'b' }])).toThrow(
      'weights of its own for a seat that no fixed version plays',
    );
    expect(made([{ name: 'main', own: true }])).toThrow('Expected another name than main');
    expect(made([{ name: 'main' }])).not.toThrow();
    const curriculum = { settings: { maxNew: 8, curriculum: { unanimousWeight: 0.5 } } };
    expect(made(SEATS, curriculum)).toThrow(expect.objectContaining({ code: 'run.setting' }));
    expect(made([{ name: 'a' }], curriculum)).not.toThrow();
    expect(of().recipe.freezable).toEqual(['proposer', 'solver']);
    expect(recipe.freezable).toEqual([]);
  });
});
