/**
 * spin: a model plays against its own previous iterate. The opponent answers the prompts of the supervised data; the player learns to
 * prefer the data's response y to the opponent's y', by how far each has moved from the opponent's probability of it:
 *
 *   loss = -log sigmoid( lambda [ log p(y)/p_t(y) - log p(y')/p_t(y') ] ),   p_t = opponent and reference
 *
 * A round is an iteration: the newest version becomes opponent and reference, its answers are paired with the data's, those of the
 * iteration before are mixed in, and the player goes over the pairs twice. Nobody is rewarded and no preference is labelled.
 */
import type { Recipe } from '../core/recipe.ts';
import { mean } from '../core/rl/statistics.ts';
import { checkAnswers } from '../core/roles/answered-corpus.ts';
import { drawnTasks } from '../core/roles/drawn-tasks.ts';
import { coinOf } from '../core/roles/gold.ts';
import { solve } from '../core/roles/solve.ts';
import { examineSolver } from '../core/roles/solver-exam.ts';
import type { Exam } from '../core/roles/stage.ts';
import { evaluation } from '../core/schema/evaluation.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import { arithmetic } from '../core/tasks/arithmetic.ts';
import { exactTrace, workedCorpus } from '../core/tasks/worked-corpus.ts';
import type { LearnTools, Lesson, PreferencePair, RoundRecords, UpdatePart } from '../core/training.ts';
import { claim } from './claims/spin.ts';

/** The paper's 0.1 lets the policy drift further from the opponent than a small model survives; see the variant. */
const LAMBDA = 1;
const PUBLISHED_LAMBDA = 0.1;
const EPOCHS = 2;
const PLAYER = 'player';
const OPPONENT = 'opponent';
/** The longest trace of five operators. */
const MAX_NEW = 26;

/** What an opponent answered to a prompt of the data, as the next iteration needs it again. */
interface Played {
  readonly task: string;
  readonly ids: readonly number[];
}

/** The data's response against the opponent's; none where they are the same, as those have no gradient. */
export function pairOf({ task, ids }: Played, encode: (text: string) => number[]): PreferencePair | null {
  const prompt = encode(arithmetic.solverPrompt(task));
  const gold = encode(exactTrace(task));
  if (gold.length === ids.length && gold.every((id, i) => id === ids[i])) return null;
  return { chosen: { prompt, ids: gold }, rejected: { prompt, ids } };
}

const swapped = ({ chosen, rejected }: PreferencePair): PreferencePair => ({
  chosen: rejected,
  rejected: chosen,
});

function learn({ round, groups, memory }: RoundRecords, { encode }: LearnTools): Lesson {
  const { reward, variant } = round.settings;
  const played = groups.map(({ task, samples }): Played => ({ task, ids: samples[0]!.ids }));
  const earlier = (memory ?? []) as readonly Played[];
  const pairs = [...played, ...earlier].flatMap((item) => pairOf(item, encode) ?? []);
  const items = [...played, ...earlier].map(({ task }) => ({
    prompt: encode(arithmetic.solverPrompt(task)),
    ids: encode(exactTrace(task)),
  }));
  const part: UpdatePart =
    variant === 'sft'
      ? { kind: 'imitation', role: PLAYER, weight: 1, items }
      : {
          kind: 'preference',
          role: PLAYER,
          weight: 1,
          pairs:
            reward === 'random'
              ? pairs.map((pair, i) => (coinOf(`${round.id}/${i}`) ? swapped(pair) : pair))
              : pairs,
          objective: { kind: 'spin', lambda: variant === 'published-lambda' ? PUBLISHED_LAMBDA : LAMBDA },
          reference: { set: MAIN_SET, version: round.roles[OPPONENT]!.version },
          imitation: variant === 'anchored' ? 1 : 0,
        };
  return {
    // Where the opponent wrote the data's response everywhere, nothing is left to learn.
    updates: pairs.length ? [{ set: MAIN_SET, parts: [part], epochs: EPOCHS }] : [],
    memory: played,
    figures: { pairs: pairs.length },
  };
}

/** Beside accuracy: the likelihood of the exact held-out traces, nats a token. */
async function evaluate(exam: Exam) {
  const heldOut = await examineSolver(exam, {
    family: arithmetic,
    role: PLAYER,
    temperature: 1,
    force: false,
  });
  const traces = arithmetic.heldOut().map((task) => ({
    from: exam.tokenizer.encode(arithmetic.solverPrompt(task)),
    ids: exam.tokenizer.encode(exactTrace(task)),
  }));
  const scores = await exam.score(
    PLAYER,
    traces.map(({ from, ids }) => [...from, ...ids]),
  );
  const goldLogProb = mean(scores.flatMap(({ logprobs }, i) => logprobs.slice(traces[i]!.from.length - 1)));
  return evaluation(heldOut, { goldLogProb });
}

export const spin: Recipe = {
  name: 'spin',
  title: 'Self-play fine-tuning against the previous iterate',
  paper: {
    title: 'Self-Play Fine-Tuning Converts Weak Language Models to Strong Language Models',
    year: 2024,
    source: 'arXiv:2401.01335',
  },
  summary:
    'The opponent, the newest version, answers the prompts of a fixed corpus; the player learns by a logistic loss to raise the corpus’ worked solutions above those answers, relative to the opponent. Then the player becomes the opponent.',
  differences: [
    'AdamW at 1e-5 instead of RMSprop at 5e-7; lambda is 1 throughout, where the paper has 0.1 and, in the last iteration, 5.',
    'Pairs in which the opponent wrote the data’s response word for word are left out: their gradient is zero.',
  ],
  claim,
  start: 'undertrained',
  taskName: arithmetic.name,
  stop: arithmetic.stop,
  tasks: 384,
  group: 1,
  rewards: {
    data: { says: 'the data’s response is preferred to the opponent’s', usesGold: true },
    random: { says: 'control: a fair coin says which is preferred', usesGold: true },
  },
  variants: {
    sft: 'supervised fine-tuning on the same data, as many updates',
    'published-lambda': 'lambda 0.1',
    anchored: 'with the negative log-likelihood of the data’s response beside the loss',
  },
  sets: {
    main: {
      optimizer: {
        learningRate: 1e-5,
        warmup: 5,
        betas: [0.9, 0.95],
        weightDecay: 0,
        clipNorm: 1,
        minibatches: 12,
      },
    },
  },
  roles: {
    player: { says: 'is trained', sampling: { maxNew: MAX_NEW, temperature: 1 } },
    opponent: {
      says: 'the previous iterate, answers the prompts',
      sampling: { maxNew: MAX_NEW, temperature: 1 },
    },
  },
  freezable: [OPPONENT],
  propose: async (stage) => drawnTasks(stage, (random) => random.pick(workedCorpus())),
  rollOut: (stage, tasks) => solve({ family: arithmetic }, stage, tasks, OPPONENT),
  judge: async (stage, groups) => checkAnswers(arithmetic, stage, groups),
  learn,
  evaluate,
  describe: {
    difficulty: arithmetic.difficulty,
    worked: (text) => text.startsWith(arithmetic.workedPrefix),
  },
};
