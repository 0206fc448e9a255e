/**
 * Pairs of answers whose order of merit is known by construction: a writer answers a task x, and a task that differs from it in one
 * character; the first is the better answer to x. A judge compares them in both orders. The stages of a judge that teaches itself.
 */
import { deriveId, Random } from '../random.ts';
import { rolloutId } from '../sample-ids.ts';
import type { AdmittedTask, RolledGroup, ScoredGroup } from '../schema/sample.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import type { Reading, Solution } from '../tasks/family.ts';
import {
  betterOf,
  type Choice,
  type Comparison,
  pairPrompt,
  readComparison,
} from '../tasks/judging/pairwise.ts';
import { varied } from '../tasks/judging/questions.ts';
import { besideTruth, coinOf, sealedGold } from './gold.ts';
import { type Stage, sampleOf } from './stage.ts';

/** An answer to the task, and one to a task that differs in one character; with steps, as the writer answers best so. */
export async function writePairs(
  stage: Stage,
  writer: string,
  tasks: readonly AdmittedTask[],
): Promise<RolledGroup[]> {
  const { round, tokenizer } = stage;
  const prompts = tasks.flatMap(({ group, task }) =>
    [task, varied(new Random(`${group}/varied`), task)].map((asked, i) => ({
      ids: tokenizer.encode(arithmetic.solverPrompt(asked) + arithmetic.workedPrefix),
      sampleIds: [rolloutId(group, writer, i)],
    })),
  );
  const completions = await stage.generate(writer, prompts);
  return tasks.map((task, t) => {
    const samples = [2 * t, 2 * t + 1].map((i) => {
      const { ids, sampleIds } = prompts[i]!;
      const completion = completions[i]![0]!;
      const reading = answerOf(stage, task.task, completion.ids);
      const outcome = !completion.stopped ? 'cut-off' : reading.ok ? 'ok' : reading.reason;
      return sampleOf(stage, writer, sampleIds[0]!, ids, completion, outcome);
    });
    return { round: round.id, ...task, samples };
  });
}

const textOf = ({ tokenizer }: Pick<Stage, 'tokenizer'>, ids: readonly number[]) =>
  arithmetic.workedPrefix + tokenizer.decode(ids);
const answerOf = (stage: Pick<Stage, 'tokenizer'>, task: string, ids: readonly number[]): Reading<Solution> =>
  arithmetic.readSolution(task, textOf(stage, ids));

/** What may be known of the better answer in the order shown: by construction, by the oracle (null = it cannot say), by a coin. */
export interface PairEvidence {
  readonly label: Choice;
  readonly gold: () => Choice | null;
  readonly coin: boolean;
}

/** `round.settings.group` comparisons in each order; `agreement` says whether one counts as right, null where nobody can say. */
export async function comparePairs(
  stage: Stage,
  judge: string,
  groups: readonly RolledGroup[],
  agreement: (reading: Reading<Comparison>, evidence: PairEvidence) => number | null,
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = stage;
  const read = groups.map(({ task, samples }) => samples.map(({ ids }) => answerOf(stage, task, ids)));
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
      const sampleIds = Array.from({ length: round.settings.group }, (_, i) => deriveId(key, judge, i));
      const evidence = { label, gold: sealedGold(stage, better), coin: coinOf(key) };
      return { g, ids, sampleIds, of: samples[0]!.id, evidence, better };
    });
  });
  const completions = await stage.generate(judge, asked);
  const judgments = asked.flatMap(({ g, ids, sampleIds, of, evidence, better }, a) =>
    completions[a]!.map((completion, i) => {
      const reading = readComparison(groups[g]!.task, tokenizer.decode(completion.ids));
      const rewards = { agreement: agreement(reading, evidence) };
      const outcome = reading.ok ? 'ok' : completion.stopped ? reading.reason : 'cut-off';
      return {
        g,
        sample: {
          ...sampleOf(stage, judge, sampleIds[i]!, ids, completion, outcome, rewards),
          ...besideTruth(better && better === 'A', reading.ok ? reading.value.choice === 'A' : null),
          of,
        },
      };
    }),
  );
  return groups.map((group, g) => ({
    ...group,
    judgments: judgments.flatMap((judgment) => (judgment.g === g ? [judgment.sample] : [])),
    gold: read[g]!.map((answer) => (answer.ok ? arithmetic.gold(group.task, answer.value) : null)),
    truth: read[g]!.map((answer) => (answer.ok ? arithmetic.truth(group.task, answer.value).right : null)),
  }));
}
