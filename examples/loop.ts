/**
 * The whole loop of reinforcement learning on one screen: sample, reward, advantage, plan, train, publish. It trains a policy of 190
 * thousand parameters to do sums such as 3+4-9 by GRPO, on this machine's CPU. In a clone of the repository:
 *
 *     npx tsx examples/loop.ts        trains 8 rounds, which takes some ten seconds, and prints a line a round
 *
 * A recipe (docs/write-a-recipe.md) has the same steps as functions, so that Workers can sample and a learner can train elsewhere.
 */
import { arithmetic, deriveId, drawUntil, grpo, mean, Random, type Sample } from 'rollmesh';
import { solverUpdate, trainedSolver } from 'rollmesh';
import { nodeEngines, OpenPolicies, openDevice, RoundTrainer } from 'rollmesh/local';
import { readPolicyFolder, roundOf, textOf } from 'rollmesh/local';

const [ROUNDS, TASKS, GROUP] = [8, 64, 8];
/** What the rounds are made of; their ids, and from these all random numbers, are derived from it. */
const settings = {
  ...{ recipe: 'loop', policy: 'sums', seed: 0, rewardFunction: 'exact', freeze: [] },
  ...{ engine: 'kernels' as const, tasks: TASKS, groupSize: GROUP },
};

/** A policy version in memory: its files by name (weights, tokenizer, the optimiser's state). */
const versions = [await readPolicyFolder('models/arithmetic-base')];
const load = async (version: number) => versions[version]!;
const policies = new OpenPolicies(nodeEngines, ({ version }) => load(version));
const { tokenizer } = textOf(versions[0]!, settings.policy);
const prompt = (task: string) => tokenizer.encode(arithmetic.solverPrompt(task));
const sampling = { maxNew: arithmetic.maxNew.solver, stop: [tokenizer.id('<eos>')] };

/** 1 for a right answer, 0 for a wrong one and for text that is no answer. */
function exact(task: string, ids: readonly number[]): number {
  const solution = arithmetic.parseSolution(task, tokenizer.decode(ids));
  return Number(solution.ok && arithmetic.answerIsExact(task, solution.value));
}

/** Plays one round: version `parent` samples, and version `parent + 1` is made. Returns the share of right answers among the sampled ones. */
async function playRound(trainer: RoundTrainer, parent: number): Promise<number> {
  const round = roundOf(settings, { solver: {} }, parent + 1, parent);
  const policy = round.roles.solver!;

  // 1. Sample: 8 answers to each of 64 sums, none of which is held out. A sample's id seeds its random numbers.
  const random = new Random(round.id);
  const draw = () => arithmetic.random(random);
  const tasks = Array.from({ length: TASKS }, () => drawUntil(draw, (task) => !arithmetic.isHeldOut(task)));
  const prompts = tasks.map((task, t) => ({
    ids: prompt(task),
    sampleIds: Array.from({ length: GROUP }, (_, i) => deriveId(round.id, t, i)),
  }));
  const answers = await policies.use(policy, (open) =>
    open.generate(prompts, { ...sampling, temperature: 1 }),
  );

  // 2. Reward: is the answer right?
  const rewards = answers.flatMap((group, t) => group.map(({ ids }) => exact(tasks[t]!, ids)));

  // 3. Advantage: (reward − mean) / standard deviation, over the answers to the same sum.
  const groups = answers.flatMap((group, t) => group.map(() => t));
  const advantages = grpo(rewards, groups);

  // 4. Plan: which tokens are trained, with which advantage, under which objective. It is plain data.
  const samples = answers.flatMap((group, t) =>
    group.map((answer, i): Sample => {
      const { ids, sampleIds } = prompts[t]!;
      const what = { id: sampleIds[i]!, role: 'solver', policy, prompt: ids, outcome: 'ok' as const };
      return { ...what, ...answer, rewards: { reward: rewards[t * GROUP + i]! } };
    }),
  );
  const plan = {
    updates: solverUpdate(
      samples.map((sample, i) => ({ sample, advantage: advantages[i]! })),
      { objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 }, aggregation: { mode: 'token-mean' } },
    ),
  };

  // 5. Train: four steps of AdamW.
  const { files } = await trainer.train({
    recipe: { name: 'loop', sets: trainedSolver({ learningRate: 2e-4, warmup: 8 }), learn: async () => plan },
    round,
    proposals: { round: round.id, samples: [], tasks: [] },
    groups: [],
    parent,
    next: parent + 1,
    load,
  });

  // 6. Publish: the next round samples from these files.
  versions.push(files);
  return mean(rewards);
}

/** The share of 500 held-out sums that a version answers right by its likeliest tokens. */
async function greedyAccuracy(version: number): Promise<number> {
  const tasks = arithmetic.heldOut();
  const prompts = tasks.map((task, t) => ({ ids: prompt(task), sampleIds: [deriveId('held-out', t)] }));
  const policy = { name: settings.policy, version, engine: settings.engine };
  const answers = await policies.use(policy, (open) =>
    open.generate(prompts, { ...sampling, temperature: 0 }),
  );
  return mean(answers.map(([answer], t) => exact(tasks[t]!, answer!.ids)));
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
await openDevice({ device: 'cpu' });
const trainer = new RoundTrainer();
console.log(`version 0: greedy accuracy ${percent(await greedyAccuracy(0))} on 500 held-out sums`);
for (let round = 1; round <= ROUNDS; round++) {
  const sampled = percent(await playRound(trainer, round - 1));
  const greedy = percent(await greedyAccuracy(round));
  console.log(`round ${round}: sampled accuracy ${sampled}, greedy accuracy on held-out sums ${greedy}`);
}
trainer.dispose();
await policies.dispose();
