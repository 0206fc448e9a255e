/** What a round trains in each phase: the verifier, the meta-verifier or the prover, each in a parameter set of its own. */

import type {
  LearnTools,
  RoundRecords,
  TrainingPlan,
  Update,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { SOLVER, withAdvantages } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { exactAnalysis, parseAnalysedProof, parseAnalysis } from '../../worlds/chains/analysis.ts';
import { analysisFigures, selfError } from './figures.ts';
import { type Phase, phaseOf } from './phases.ts';
import { META_JUDGE } from './proof-groups.ts';

/** The parameter sets of verifier and meta-verifier; the prover's is the main set. */
export const VERIFIER_SET = 'verifier';
export const META_SET = 'meta-verifier';

const update = (set: string, part: UpdatePart): Update => ({ set, parts: [part] });

/** GRPO over samples that share a prompt. */
function reinforced(
  set: string,
  role: string,
  samples: readonly Sample[],
  groups: readonly string[],
): Update {
  const advantages = grpo(
    samples.map(({ rewards }) => rewards.reward ?? null),
    groups,
  );
  return update(set, {
    kind: 'policy',
    role,
    weight: 1,
    items: withAdvantages(samples, advantages),
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'token-mean' },
    kl: { weight: 1e-3, estimator: 'k3', reference: { set, version: 0 } },
  });
}

/** A role's judgments, grouped by what they judge. */
function reinforcedJudgments(set: string, role: string, groups: readonly ScoredGroup[]): Update[] {
  const samples = groups.flatMap(({ judgments }) => judgments.filter((sample) => sample.role === role));
  // Where no proof parses there is nothing to judge.
  if (samples.length === 0) return [];
  const judged = samples.map(({ of }) => of ?? '');
  return [reinforced(set, role, samples, judged)];
}

/** The verifier's analyses that earned 1, as texts for supervised fine-tuning. */
function imitated(groups: readonly ScoredGroup[]): Update[] {
  const items = groups.flatMap(({ judgments }) =>
    judgments
      .filter(({ role, rewards }) => role === JUDGE && rewards.reward === 1)
      .map(({ prompt, ids }) => ({ prompt, ids })),
  );
  return items.length ? [update(VERIFIER_SET, { kind: 'sft', role: JUDGE, weight: 1, items })] : [];
}

function updatesOf(phase: Phase, variant: string | undefined, groups: readonly ScoredGroup[]): Update[] {
  if (phase === 'prove') {
    const samples = groups.flatMap((group) => group.samples);
    const groupOf = groups.flatMap(({ group, samples: { length } }) => new Array<string>(length).fill(group));
    return [reinforced(MAIN_SET, SOLVER, samples, groupOf)];
  }
  if (phase === 'meta') return reinforcedJudgments(META_SET, META_JUDGE, groups);
  if (phase === 'label' && variant === 'no-labels') return [];
  return variant === 'imitation' ? imitated(groups) : reinforcedJudgments(VERIFIER_SET, JUDGE, groups);
}

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

export function learn({ round, groups }: RoundRecords, { decode }: LearnTools): TrainingPlan {
  const phase = phaseOf(round);
  return {
    updates: updatesOf(phase, round.settings.variant, groups),
    figures: figuresOf(phase, groups, decode),
  };
}
