/** What a round trains: two players, each in a parameter set of its own. Both learn from the same records, and their steps are optimistic. */
import type { LearnTools, RoundRecords, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { nearStart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { type Answers, answersTo, reinforced, verdictsOn } from '../../protocols/reinforced.ts';
import { GENERATOR, parseRewrite, solutionJudged } from '../../protocols/rewritten-lines.ts';
import { paidTexts } from '../../protocols/samples-of-role.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { chainWith, rewrittenLine } from '../../worlds/chains/slips.ts';

export const GENERATOR_SET = 'generator';

/** Weights of the KL divergence to version 0 and of the entropy in both players' utilities. */
const KL_WEIGHT = 0.01;
const ENTROPY_WEIGHT = 0.01;

function playerUpdate(set: string, role: string, answers: Answers, variant?: string): Update[] {
  if (answers.samples.length === 0) return [];
  const regularised = { ...nearStart(KL_WEIGHT, set), entropy: ENTROPY_WEIGHT } as const;
  const part = reinforced(role, answers, variant === 'unregularised' ? {} : regularised);
  return [{ set, optimistic: variant !== 'no-optimism', parts: [part] }];
}

/** The verdicts that earned 1, as texts for supervised fine-tuning, in the arm that has it in place of reinforcement. */
const imitated = (verdicts: readonly Sample[]): Update[] =>
  updateOf([sftPart(JUDGE, paidTexts(verdicts))], { optimistic: true });

const share = (values: readonly boolean[]): number => mean(values.map(Number));

/** By the oracle, for the report alone. */
function figuresOf({ groups }: RoundRecords, decode: LearnTools['decode']): Record<string, number> {
  const lines = groups.flatMap(({ task, samples }) => {
    const at = rewrittenLine(task) - 1;
    const right = Number(chainWith(task).steps[at]);
    return samples.map(({ ids }) => {
      const parsed = parseRewrite(task, decode(ids));
      return { distance: parsed.ok ? Math.abs(Number(parsed.value.steps[at]) - right) : 0 };
    });
  });
  const verdicts = groups.flatMap(({ task, judgments }) =>
    judgments.flatMap((judgment) => {
      const solution = solutionJudged(judgment);
      const verdict = plainProofs.parseJudgment(solution, decode(judgment.ids));
      if (!verdict.ok) return [];
      const { steps, right } = plainProofs.exactJudgment(task, solution);
      return [
        { right, accepted: verdict.value.right, passed: verdict.value.steps[steps.indexOf(false)] === true },
      ];
    }),
  );
  const onWrong = verdicts.filter(({ right }) => !right);
  const onRight = verdicts.filter(({ right }) => right);
  const subtle = lines.filter(({ distance }) => distance > 0);
  return {
    corrupted: subtle.length / lines.length,
    ...(subtle.length ? { distance: mean(subtle.map(({ distance }) => distance)) } : {}),
    ...(onWrong.length ? { fooled: share(onWrong.map(({ passed }) => passed)) } : {}),
    ...(onRight.length ? { falseAlarms: share(onRight.map(({ accepted }) => !accepted)) } : {}),
  };
}

export function learn(records: RoundRecords, { decode }: LearnTools): TrainingPlan {
  const { round, groups } = records;
  const { variant } = round.settings;
  const verdicts = verdictsOn(groups);
  return {
    updates: [
      ...(variant === 'imitation'
        ? imitated(verdicts.samples)
        : playerUpdate(MAIN_SET, JUDGE, verdicts, variant)),
      // A static corrupter is nobody's policy.
      ...(variant === 'static' ? [] : playerUpdate(GENERATOR_SET, GENERATOR, answersTo(groups), variant)),
    ],
    figures: figuresOf(records, decode),
  };
}
