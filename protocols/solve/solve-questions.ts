/** Ways to answer questions with a policy as it is, at equal tokens: greedily, by sampling at several temperatures and choosing, by power sampling, by beams, by trees. */
import type { Checker } from '../../core/checkers/checker.ts';
import type { Extraction } from '../../core/checkers/extract.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { mean } from '../../core/rl/statistics.ts';
import { bestAtK, chanceAtK } from '../../core/statistics/best-at-k.ts';
import { majorityAtK } from '../../core/statistics/majority-at-k.ts';
import { pairedDifference } from '../../core/statistics/paired.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { type CheckedAnswer, checkAnswer } from '../../worlds/questions/check-answer.ts';
import { countsOf, isRight, type Share, shareOf, textsOf } from '../evaluate/figures.ts';
import { beamSearch, type ScoreAnswers } from './beam-search.ts';
import { powerSample } from './power-sampling.ts';
import { type Drawn, drawWithin, type Found, type Search, sampleId } from './sampling.ts';
import { treeSearch } from './tree-search.ts';
import type { WayName } from './ways.ts';

export interface SolveSettings extends Pick<Search, 'policy' | 'maxNew' | 'budget' | 'seed'> {
  readonly renderer: Renderer;
  readonly checker: Checker;
  readonly extract: readonly Extraction[];
  readonly temperatures: readonly number[];
  /** Powers of power sampling. */
  readonly alphas: readonly number[];
  /** Chooses among samples, beams and branches, by its name. */
  readonly scorer?: { readonly name: string; readonly score: ScoreAnswers } | undefined;
  /** The ways that are gone, beside the greedy answer. */
  readonly ways: readonly WayName[];
  /** Tokens with which a step ends, and the most that it may have: beams and trees grow by steps. */
  readonly steps: TokenIds;
  readonly piece: number;
  /** Told the name of a way when it begins. */
  readonly begin?: (way: string) => void;
}

/** What a way to answer came to. */
export interface Way {
  readonly way: string;
  readonly accuracy: Share;
  /** Mean tokens that a question took. */
  readonly tokens: number;
  /** Difference from the greedy answer, question by question. */
  readonly overGreedy: ReturnType<typeof pairedDifference>;
}

/** The ways in which each beam is gone on with, and each node of a tree when the search first comes there. */
const BRANCHES = 4;
const TREE_BRANCHES = 2;

export async function solveQuestions(tasks: readonly PlacedTask[], settings: SolveSettings): Promise<Way[]> {
  const {
    policy,
    renderer,
    checker,
    extract,
    maxNew,
    budget,
    seed,
    scorer,
    piece,
    begin = () => {},
  } = settings;
  const prompts = tasks.map(({ messages }) => renderer.begin(messages).ids);
  const ends = renderer.ends();
  const isEnded = (prompt: TokenIds, ids: TokenIds) => renderer.read(prompt, ids).ended;
  const search: Search = { policy, prompts, ends, steps: settings.steps, isEnded, maxNew, budget, seed };
  const goes = (way: WayName) => settings.ways.includes(way);
  const checks = tasks.map((task) => checker.prepare(task));
  const checked = (q: number, ids: TokenIds): CheckedAnswer => {
    const read = renderer.read(prompts[q]!, ids);
    return { text: read.text, tokens: ids.length, ...checkAnswer(read, checks[q]!, extract) };
  };
  const ways: { way: string; shares: number[]; tokens: number[] }[] = [];
  const add = (way: string, tokens: readonly number[], share: (q: number) => number) =>
    ways.push({ way, tokens: [...tokens], shares: tasks.map((_, q) => share(q)) });
  const addFound = (way: string, found: readonly Found[]) =>
    add(
      way,
      found.map(({ tokens }) => tokens),
      (q) => Number(isRight(checked(q, found[q]!.ids))),
    );

  begin('greedy');
  const greedy = await policy.generate(
    prompts.map((ids, q) => ({ ids, sampleIds: [sampleId('greedy', seed, q, 0)] })),
    { ...ends, maxNew, temperature: 0 },
  );
  const length = mean(greedy.map(([one]) => one!.ids.length));
  addFound(
    'greedy',
    greedy.map(([one]) => ({ ids: one!.ids, tokens: one!.ids.length })),
  );
  for (const temperature of goes('samples') ? settings.temperatures : []) {
    const at = `at temperature ${temperature}`;
    begin(`samples ${at}`);
    const drawn = await drawWithin(search, temperature);
    await addChoices(at, drawn);
  }
  for (const alpha of goes('power') ? settings.alphas : []) {
    begin(`power sampling, α = ${alpha}`);
    addFound(`power sampling, α = ${alpha}`, await powerSample(search, alpha));
  }
  if (scorer) {
    // As many candidates as greedy answers fit into the budget.
    const candidates = Math.floor(budget / length);
    const branches = Math.max(1, Math.min(BRANCHES, candidates));
    if (goes('beams')) {
      begin(`beams by ${scorer.name}`);
      const width = Math.max(1, Math.floor(candidates / branches));
      addFound(
        `beams by ${scorer.name}`,
        await beamSearch(search, scorer.score, { width, branches, step: piece }),
      );
    }
    if (goes('tree')) {
      begin(`tree by ${scorer.name}`);
      addFound(
        `tree by ${scorer.name}`,
        await treeSearch(search, scorer.score, { branches: TREE_BRANCHES, step: piece }),
      );
    }
  }
  const base = ways[0]!.shares;
  return ways.map(({ way, shares, tokens }) => ({
    way,
    accuracy: shareOf(shares),
    tokens: mean(tokens),
    overGreedy: pairedDifference(base, shares),
  }));

  /** What choosing among the samples of one temperature comes to. */
  async function addChoices(at: string, drawn: readonly Drawn[]): Promise<void> {
    const tokens = drawn.map((of) => of.tokens);
    // So many samples are drawn however long they are: the last one before the budget is spent is longer than most.
    const surely = Math.max(1, Math.floor(budget / maxNew));
    const each = drawn.map(({ samples }, q) => samples.map(({ ids }) => checked(q, ids)));
    add(
      `one sample ${at}`,
      each.map((of) => mean(of.slice(0, surely).map((one) => one.tokens))),
      (q) => mean(each[q]!.slice(0, surely).map((one) => Number(isRight(one)))),
    );
    add(`majority ${at}`, tokens, (q) => {
      const { answers, silent } = countsOf(each[q]!);
      return majorityAtK(answers, silent, each[q]!.length);
    });
    const best = (way: string, scores: readonly (readonly number[])[]) =>
      add(way, tokens, (q) =>
        bestAtK(
          each[q]!.map((one, s) => ({ score: scores[q]![s]!, right: isRight(one) })),
          each[q]!.length,
        ),
      );
    // By the policy's own probabilities, whatever the temperature was.
    const own = await policy.score(
      drawn.flatMap(({ samples }, q) => samples.map(({ ids }) => [...prompts[q]!, ...ids])),
    );
    const likelihoods = own.map(({ logprobs }) => logprobs);
    best(
      `likeliest sample ${at}`,
      drawn.map(({ samples }, q) =>
        likelihoods
          .splice(0, samples.length)
          .map((logprobs) => logprobs.slice(prompts[q]!.length - 1).reduce((a, b) => a + b, 0)),
      ),
    );
    if (scorer) {
      const scores = [
        ...(await scorer.score(
          drawn.flatMap(({ samples }, q) => samples.map(({ ids }) => ({ prompt: prompts[q]!, ids }))),
        )),
      ];
      best(
        `best by ${scorer.name} ${at}`,
        drawn.map(({ samples }) => scores.splice(0, samples.length)),
      );
    }
    add(`any text by chance ${at}`, tokens, (q) => chanceAtK(textsOf(each[q]!), each[q]!.length));
    add(`best by the checker ${at}`, tokens, (q) => Number(each[q]!.some(isRight)));
  }
}
