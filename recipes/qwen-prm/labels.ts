/** Labels: where the first error of a solution is, according to continuations and according to a judge. */
import { Random } from '../../core/random.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { continuePrefixes, firstLost } from '../../protocols/continue-prefixes.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { parseGroup, verify } from '../../protocols/verify.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';

/** The role that continues prefixes. */
export const COMPLETER = 'completer';
const CONTINUATIONS = 8;

export const rewards: Readonly<Record<string, RewardInfo>> = {
  exact: { description: 'a continuation is right where its answer is exact', usesGold: true },
  random: {
    description: 'control: continuations are right by a coin, and the judge’s mark is drawn at random',
    usesGold: false,
  },
};

/**
 * The first wrong line of each solution by continuations (`monteCarlo`) and by the judge (`judged`); 0 where there is none, null where it is not
 * known.
 */
export async function labelSolutions(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  rewardNamed(rewards, rewardFunction);
  const byLot = rewardFunction === 'random';
  const solutionsGS = groups.map((group) => parseGroup(plainProofs, context, group));
  const continuedGS = await continuePrefixes(context, groups, solutionsGS, {
    family: plainProofs,
    role: COMPLETER,
    each: CONTINUATIONS,
  });
  const verdictsGS = await verify(context, groups, solutionsGS, {
    family: plainProofs,
    role: JUDGE,
    votes: 1,
  });
  return groups.map((group, g): ScoredGroup => {
    const { task } = group;
    const solutions = solutionsGS[g]!;
    const answersExact = solutions.map((s) => (s.ok ? plainProofs.answerIsExact(task, s.value) : null));
    const solutionsExact = solutions.map((s) =>
      s.ok ? plainProofs.exactJudgment(task, s.value).right : null,
    );
    const samples = group.samples.map((sample, s) => {
      const solution = solutions[s]!;
      if (!solution.ok) return { ...sample, rewards: { reward: 0, monteCarlo: null, judged: null } };
      const { solutions: continued, samples: written } = continuedGS[g]![s]!;
      let at = 0;
      const rights = continued.map((after) =>
        after.map((parsed) => {
          const { id } = written[at++]!;
          if (byLot) return coinOf(id);
          return sealedGold(context, parsed.ok && plainProofs.answerIsExact(task, parsed.value))();
        }),
      );
      const [verdict] = verdictsGS[g]![s]!;
      const marked = verdict?.parsed.ok ? verdict.parsed.value.steps.indexOf(false) + 1 : null;
      const drawn = new Random(`mark/${sample.id}`).int(solution.value.steps.length + 1);
      return {
        ...sample,
        rewards: {
          reward: byLot ? Number(coinOf(sample.id)) : Number(sealedGold(context, answersExact[s])() === true),
          monteCarlo: firstLost(rights),
          judged: byLot ? drawn : marked,
        },
      };
    });
    const judgments = group.samples.flatMap((_, s) => [
      ...verdictsGS[g]![s]!.map(({ sample, parsed }) => ({
        ...sample,
        ...besideOracle(solutionsExact[s]!, parsed.ok ? parsed.value.right : null),
      })),
      ...continuedGS[g]![s]!.samples,
    ]);
    return { ...group, samples, judgments, answersExact, solutionsExact };
  });
}

/** The label that a variant uses: the first wrong line, 0 for none; null where the solution is not kept. */
export function labelBy(
  variant: string | undefined,
  { monteCarlo = null, judged = null }: Readonly<Record<string, number | null>>,
): number | null {
  if (variant === 'monte-carlo') return monteCarlo;
  if (variant === 'judge') return judged;
  return monteCarlo === judged ? monteCarlo : null;
}
