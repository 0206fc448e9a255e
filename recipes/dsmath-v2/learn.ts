/** What a round trains in each phase: the verifier, the meta-verifier or the prover, each in a parameter set of its own. */
import type { LearnTools, RoundRecords, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { nearStart, ppoClip, sftPart, updateOf } from '../../protocols/objectives.ts';
import { paidTexts } from '../../protocols/samples-of-role.ts';
import { creditedItems, policyUpdate, rewardOf, SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { exactAnalysis, parseAnalysedProof, parseAnalysis } from '../../worlds/chains/analysis.ts';
import { analysisFigures, selfError } from './figures.ts';
import type { Phase } from './phases.ts';
import { META_JUDGE } from './proof-groups.ts';

/** The parameter sets of verifier and meta-verifier; the prover's is the main set. */
export const VERIFIER_SET = 'verifier';
export const META_SET = 'meta-verifier';

/** GRPO over samples that share a prompt. */
function reinforced(
  set: string,
  role: string,
  samples: readonly Sample[],
  groups: readonly string[],
): Update[] {
  return policyUpdate(
    role,
    creditedItems(samples, samples.map(rewardOf), groups, grpo),
    { ...ppoClip(), ...nearStart(1e-3, set) },
    set,
  );
}

/** A role's judgments, grouped by what they judge. */
function reinforcedJudgments(set: string, role: string, groups: readonly ScoredGroup[]): Update[] {
  const samples = groups.flatMap(({ judgments }) => judgments.filter((sample) => sample.role === role));
  const judged = samples.map(({ of }) => of ?? '');
  return reinforced(set, role, samples, judged);
}

/** The verifier's analyses that earned 1, as texts for supervised fine-tuning. */
function imitated(groups: readonly ScoredGroup[]): Update[] {
  const analyses = groups.flatMap(({ judgments }) => judgments.filter(({ role }) => role === JUDGE));
  return updateOf([sftPart(JUDGE, paidTexts(analyses))], {}, VERIFIER_SET);
}

type Learning = (groups: readonly ScoredGroup[], variant: string | undefined) => Update[];
const trainVerifier: Learning = (groups, variant) =>
  variant === 'imitation' ? imitated(groups) : reinforcedJudgments(VERIFIER_SET, JUDGE, groups);

/** What is trained in each phase. */
const TRAINING: Readonly<Record<Phase, Learning>> = {
  score: trainVerifier,
  meta: (groups) => reinforcedJudgments(META_SET, META_JUDGE, groups),
  verify: trainVerifier,
  prove: (groups) => {
    const samples = groups.flatMap((group) => group.samples);
    const groupOf = groups.flatMap(({ group, samples: { length } }) => new Array<string>(length).fill(group));
    return reinforced(MAIN_SET, SOLVER, samples, groupOf);
  },
  label: (groups, variant) => (variant === 'no-labels' ? [] : trainVerifier(groups, variant)),
};

/** By the oracle, for the report alone. */
function figuresOf(phase: Phase, groups: readonly ScoredGroup[], decode: LearnTools['decode']) {
  const proofs = groups.flatMap(({ task, samples, judgments }) =>
    samples.map((sample) => ({
      task,
      sample,
      parsed: parseAnalysedProof(task, decode(sample.ids)),
      analyses: judgments.filter(({ of, role }) => of === sample.id && role === JUDGE),
    })),
  );
  const read = proofs.flatMap(({ task, sample, parsed, analyses }) =>
    parsed.ok ? [{ task, sample, analyses, solution: parsed.value.solution }] : [],
  );
  const scored = read.flatMap(({ task, sample, solution }) => {
    const { score = null, reward = null } = sample.rewards;
    const given = phase === 'prove' ? score : reward;
    return given === null ? [] : [{ given, exact: exactAnalysis(task, solution).score }];
  });
  const analysed = read.flatMap(({ task, solution, analyses }) =>
    analyses.map(({ ids }) => ({ task, solution, parsed: parseAnalysis(solution, decode(ids)) })),
  );
  const { issuePrecision, analysisQuality } = analysisFigures(analysed);
  return {
    ...(analysed.length ? { issuePrecision, analysisQuality } : {}),
    ...(phase === 'prove' ? { selfError: selfError(proofs) } : {}),
    ...(phase === 'prove' && scored.length
      ? { overrated: mean(scored.map(({ given, exact }) => given - exact)) }
      : {}),
    ...(phase === 'label' && read.length ? { labelled: scored.length / read.length } : {}),
    ...(phase === 'label' && scored.length
      ? { labelsExact: mean(scored.map(({ given, exact }) => Number(given === exact))) }
      : {}),
  };
}

export const learnIn =
  (phase: Phase) =>
  ({ round, groups }: RoundRecords, { decode }: LearnTools): TrainingPlan => ({
    updates: TRAINING[phase](groups, round.settings.variant),
    figures: figuresOf(phase, groups, decode),
  });
