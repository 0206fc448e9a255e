/**
 * Pairs of answers of which the better one is known by construction: a writer answers a task, and another task that was written from it; to the first
 * task, the first answer is the better one. A judge compares the two in both orders. These are the stages of a judge that teaches itself.
 */
import { asking, type Game } from '../../core/game/game.ts';
import type { Choice } from '../../core/game/verbs.ts';
import { deriveId } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult, rendered, type Solution } from '../../core/recipe/task-family.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { type Rewriting, rewrite, rewritten } from '../../protocols/rewrites.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';

export type ComparedGame = Game<'solve' | 'compare'>;

export const WRITER = 'writer';
const VARIER = 'varier';

/** How the other task of a pair is written. */
export const varying = (game: ComparedGame): Rewriting => ({ game, verb: 'vary', role: VARIER });

/** What is known of a pair's answers; the second is missing where no other task was written. Steps are forced where the family has them. */
const answersIn = (
  game: ComparedGame,
  context: Pick<RoundContext, 'tokenizer' | 'renderer'>,
  group: RolloutGroup,
): ParseResult<Solution>[] => {
  const { decode } = context.tokenizer;
  const family = rendered(game.family, context);
  const tasks = [group.task, rewritten(varying(game), group, context, decode)];
  return group.samples
    .filter(({ role }) => role === WRITER)
    .map(({ ids }, i) => family.parseSolution(tasks[i]!, family.workedPrefix + decode(ids)));
};

/** Samples an answer to the task, and one to the task that is written from it. With steps the writer is right most often. */
export async function writePairs(
  game: ComparedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const family = rendered(game.family, context);
  const varied = await rewrite(varying(game), context, tasks);
  const wanted = tasks.flatMap((task, t) => {
    const other = rewritten(varying(game), { ...task, samples: varied[t]! }, context, tokenizer.decode);
    return (other === null ? [task.task] : [task.task, other]).map((asked, i) => ({
      t,
      prompt: family.solverPrompt(asked) + family.workedPrefix,
      sampleIds: [rolloutId(task.group, WRITER, i)],
      ...(i === 0 ? {} : { about: asked }),
      parse: (text: string) => family.parseSolution(asked, family.workedPrefix + text),
    }));
  });
  const answers = await samplePrompts(context, WRITER, wanted);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...answers.flatMap((samples, w) => (wanted[w]!.t === t ? samples : [])), ...varied[t]!],
  }));
}

/** What is known of the better answer, in the order shown: by construction, by the oracle (null where it cannot say), and by a coin. */
export interface PairEvidence {
  readonly label: Choice;
  readonly betterAnswer: () => Choice | null;
  readonly coin: boolean;
}

/**
 * Samples `round.settings.groupSize` comparisons in each order, each about the answer that is better by construction, A or B. `agreement` says whether
 * a comparison counts as right; null where that is not known.
 */
export async function comparePairs(
  game: ComparedGame,
  context: RoundContext,
  judge: string,
  groups: readonly RolloutGroup[],
  agreement: (parsed: ParseResult<Choice>, evidence: PairEvidence) => number | null,
): Promise<ScoredGroup[]> {
  const family = rendered(game.family, context);
  const read = groups.map((group) => answersIn(game, context, group));
  const exact = groups.map(({ task }, g) =>
    read[g]!.map((answer) =>
      answer.ok && !family.isUnlabelled?.(task) ? family.answerIsExact(task, answer.value) : null,
    ),
  );
  const asked = groups.flatMap(({ task, samples }, g) => {
    const [good, bad] = read[g]!;
    // The same answer to both tasks makes no pair.
    if (!good?.ok || !bad?.ok || good.value.answer === bad.value.answer) return [];
    return (['A', 'B'] as const).map((label) => {
      const texts = [good, bad].map(({ value }) => game.write(value)) as [string, string];
      const [first, second] = label === 'A' ? texts : [texts[1], texts[0]];
      const [rightGood, rightBad] = exact[g]!;
      // The exact comparison: which answer alone is right.
      const better = rightGood === rightBad ? null : rightGood === (label === 'A') ? 'A' : 'B';
      const of = samples[0]!.id;
      const key = deriveId(of, label);
      const evidence: PairEvidence = { label, betterAnswer: sealedGold(context, better), coin: coinOf(key) };
      return {
        of,
        key,
        about: label,
        evidence,
        better,
        ...asking(game, context, 'compare', { task, first, second }),
      };
    });
  });
  const compared = await ask(context, judge, asked, context.round.settings.groupSize);
  const judgments = asked.flatMap(({ evidence, better }, a) =>
    compared[a]!.map(({ sample, parsed }) => ({
      ...sample,
      rewards: { agreement: agreement(parsed, evidence) },
      ...besideOracle(better === null ? null : better === 'A', parsed.ok ? parsed.value === 'A' : null),
    })),
  );
  return groups.map((group, g) => ({
    ...group,
    judgments: judgments.filter(({ of }) => of === group.samples[0]!.id),
    answersExact: group.samples.map((_, s) => exact[g]![s] ?? null),
    solutionsExact: group.samples.map((_, s) => {
      const answer = read[g]![s] ?? invalid('off-grammar');
      return answer.ok && !family.isUnlabelled?.(group.task)
        ? family.exactJudgment(group.task, answer.value).right
        : null;
    }),
  }));
}
