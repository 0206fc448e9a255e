/**
 * Pairs of answers of which the better one is known by construction: a writer answers a task, and a task that differs from it in one character; to
 * the first task, the first answer is the better one. A judge compares the two in both orders. These are the stages of a judge that teaches itself.
 */
import { deriveId, Random } from '../../core/random.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import {
  betterOf,
  type Choice,
  type Comparison,
  pairPrompt,
  parseComparison,
} from '../../worlds/arithmetic/pairwise.ts';
import { varied } from '../../worlds/arithmetic/questions.ts';

/** Samples an answer to the task, and one to a task that differs in one character. Both have steps, with which the writer is right most often. */
export async function writePairs(
  context: RoundContext,
  writer: string,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const prompts = tasks.flatMap(({ group, task }) =>
    [task, varied(new Random(`${group}/varied`), task)].map((asked, i) => ({
      ids: tokenizer.encode(arithmetic.solverPrompt(asked) + arithmetic.workedPrefix),
      sampleIds: [rolloutId(group, writer, i)],
    })),
  );
  const completions = await context.generate(writer, prompts);
  return tasks.map((task, t) => {
    const samples = [2 * t, 2 * t + 1].map((i) => {
      const { ids, sampleIds } = prompts[i]!;
      const completion = completions[i]![0]!;
      const parsed = answerOf(context, task.task, completion.ids);
      const outcome = !completion.stopped ? 'cut-off' : parsed.ok ? 'ok' : parsed.reason;
      return sampleOf(context, writer, sampleIds[0]!, ids, completion, outcome);
    });
    return { round: round.id, ...task, samples };
  });
}

const textOf = ({ tokenizer }: Pick<RoundContext, 'tokenizer'>, ids: readonly number[]) =>
  arithmetic.workedPrefix + tokenizer.decode(ids);
const answerOf = (
  stage: Pick<RoundContext, 'tokenizer'>,
  task: string,
  ids: readonly number[],
): ParseResult<Solution> => arithmetic.parseSolution(task, textOf(stage, ids));

/** What is known of the better answer, in the order shown: by construction, by the oracle (null where it cannot say), and by a coin. */
export interface PairEvidence {
  readonly label: Choice;
  readonly betterAnswer: () => Choice | null;
  readonly coin: boolean;
}

/**
 * Samples `round.settings.groupSize` comparisons in each order. `agreement` says whether a comparison counts as right; null where that is not known.
 */
export async function comparePairs(
  context: RoundContext,
  judge: string,
  groups: readonly RolloutGroup[],
  agreement: (parsed: ParseResult<Comparison>, evidence: PairEvidence) => number | null,
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = context;
  const read = groups.map(({ task, samples }) => samples.map(({ ids }) => answerOf(context, task, ids)));
  const asked = groups.flatMap(({ task, samples }, g) => {
    const [good, bad] = read[g]!;
    // The same answer to both tasks makes no pair.
    if (!good?.ok || !bad?.ok || good.value.answer === bad.value.answer) return [];
    return (['A', 'B'] as const).map((label) => {
      const answers = [good.value.answer, bad.value.answer] as const;
      const [first, second] = label === 'A' ? answers : [answers[1], answers[0]];
      const better = betterOf(task, first, second);
      const ids = tokenizer.encode(pairPrompt(task, first, second));
      const key = deriveId(samples[0]!.id, label);
      const sampleIds = Array.from({ length: round.settings.groupSize }, (_, i) => deriveId(key, judge, i));
      const evidence = { label, betterAnswer: sealedGold(context, better), coin: coinOf(key) };
      return { g, ids, sampleIds, of: samples[0]!.id, evidence, better };
    });
  });
  const completions = await context.generate(judge, asked);
  const judgments = asked.flatMap(({ g, ids, sampleIds, of, evidence, better }, a) =>
    completions[a]!.map((completion, i) => {
      const parsed = parseComparison(groups[g]!.task, tokenizer.decode(completion.ids));
      const rewards = { agreement: agreement(parsed, evidence) };
      const outcome = parsed.ok ? 'ok' : completion.stopped ? parsed.reason : 'cut-off';
      return {
        g,
        sample: {
          ...sampleOf(context, judge, sampleIds[i]!, ids, completion, outcome, rewards),
          ...besideOracle(better && better === 'A', parsed.ok ? parsed.value.choice === 'A' : null),
          of,
        },
      };
    }),
  );
  return groups.map((group, g) => ({
    ...group,
    judgments: judgments.flatMap((judgment) => (judgment.g === g ? [judgment.sample] : [])),
    answersExact: read[g]!.map((answer) =>
      answer.ok ? arithmetic.answerIsExact(group.task, answer.value) : null,
    ),
    solutionsExact: read[g]!.map((answer) =>
      answer.ok ? arithmetic.exactJudgment(group.task, answer.value).right : null,
    ),
  }));
}
