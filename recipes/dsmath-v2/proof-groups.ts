/**
 * The rollout and judge stages: proofs with their provers' own analyses, then the verifier's analyses of the proofs, meta-verdicts on the analyses,
 * and the rewards of each, as the round's phase pays them. An exact checker is used in the phases in which experts score, and by the monitors.
 */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult } from '../../core/recipe/task-family.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type Answer, ask } from '../../protocols/ask-about-samples.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import {
  type AnalysedProof,
  type Analysis,
  analysedProofs,
  exactAnalysis,
  exactMetaVerdict,
  type MetaVerdict,
  metaPrompt,
  parseAnalysedProof,
  parseAnalysis,
  parseMetaVerdict,
  type Score,
} from '../../worlds/chains/analysis.ts';
import { chains } from '../../worlds/chains/family.ts';
import type { Phase } from './phases.ts';
import { analysisReward, labelOf, meanScore, metaReward, proofReward, rewards } from './rewards.ts';

/** The meta-verifier's role. */
export const META_JUDGE = 'meta-judge';

/** A sample of the solver, parsed. */
interface Proof {
  readonly task: string;
  readonly sample: Sample;
  readonly parsed: ParseResult<AnalysedProof>;
}

/** An analysis that parses, whoever wrote it, with the id of the sample that holds it. */
interface Claimed {
  readonly id: string;
  readonly task: string;
  readonly proof: AnalysedProof;
  readonly analysis: Analysis;
}

/** `count`: proofs of each task. */
export const writeProofs = (
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  count?: number,
): Promise<RolloutGroup[]> => rollOut({ family: analysedProofs }, context, tasks, SOLVER, count);

const drawnScore = (id: string): Score => new Random(`score/${id}`).pick([0, 0.5, 1] as const);

const proofsOf = ({ tokenizer }: RoundContext, { task, samples }: RolloutGroup): Proof[] =>
  samples.map((sample) => ({
    task,
    sample,
    parsed:
      sample.outcome === 'ok'
        ? parseAnalysedProof(task, tokenizer.decode(sample.ids))
        : invalid(sample.outcome),
  }));

/** Samples `votes` analyses by the verifier of each proof that parses, by the proof's id. */
async function analyse(context: RoundContext, proofs: readonly Proof[], votes: number) {
  const questions = proofs.flatMap(({ task, sample, parsed }) => {
    if (!parsed.ok) return [];
    const { solution } = parsed.value;
    const parse = (text: string) => parseAnalysis(solution, text);
    return [{ of: sample.id, prompt: chains.judgePrompt(task, solution), parse }];
  });
  const answers = await ask(context, JUDGE, questions, votes);
  return new Map(questions.map(({ of }, q) => [of, answers[q]!]));
}

/** Samples `votes` meta-verdicts on each analysis, by the id of the sample that holds it. */
async function metaVerify(context: RoundContext, claims: readonly Claimed[], votes: number) {
  const questions = claims.map(({ id, task, proof, analysis }) => ({
    of: id,
    prompt: metaPrompt(task, proof.solution, analysis),
    parse: (text: string) => parseMetaVerdict(proof.solution, analysis, text),
  }));
  const answers = await ask(context, META_JUDGE, questions, votes);
  return new Map(questions.map(({ of }, q) => [of, answers[q]!]));
}

/** The quality of each analysis, by the run's reward function. */
function metaScoresBy(context: RoundContext, verdicts: ReadonlyMap<string, readonly Answer<MetaVerdict>[]>) {
  const { rewardFunction, variant } = context.round.settings;
  return ({ id, task, proof, analysis }: Claimed): readonly number[] => {
    if (rewardFunction === 'format' || variant === 'score-only') return [1];
    if (rewardFunction === 'random' || variant === 'coin-meta') return [Number(coinOf(`${id}/meta`))];
    if (rewardFunction === 'gold')
      return [sealedGold(context, exactMetaVerdict(task, proof.solution, analysis).score)()];
    return (verdicts.get(id) ?? []).flatMap(({ parsed }) => (parsed.ok ? [parsed.value.score] : []));
  };
}

/** What has been said of proofs in a round. */
interface Said {
  readonly context: RoundContext;
  /** The verifier's analyses of a proof that parse. */
  readonly claimsOf: (proof: Proof) => readonly Claimed[];
  readonly metaScores: (claim: Claimed) => readonly number[];
}

type Rewards = Sample['rewards'];

/** What a phase asks about proofs, and what it pays; what it does not pay has no reward. */
export interface Judging {
  /** Analyses of each proof by the verifier. */
  readonly analyses: (round: RoundSpec) => number;
  /** Meta-verdicts on each analysis: on the verifier's or, with `own`, on the prover's own. */
  readonly metaVerdicts: (round: RoundSpec) => number;
  readonly own?: true;
  readonly payProof: (said: Said, proof: Proof) => Rewards;
  /** `claim`: the analysis, where it parses. `label`: the score that its proof counts as having. */
  readonly payAnalysis?: (
    said: Said,
    claim: Claimed | undefined,
    parsed: ParseResult<Analysis>,
    label: number | null,
  ) => Rewards;
  readonly payVerdict?: (said: Said, claim: Claimed, parsed: ParseResult<MetaVerdict>) => Rewards;
}

const groupSize = ({ settings }: RoundSpec): number => settings.groupSize;

/** How many meta-verdicts are asked for: none by a meta-verifier whose verdict changes no reward. */
const checks =
  (count: (round: RoundSpec) => number) =>
  (round: RoundSpec): number => {
    const { variant } = round.settings;
    return variant === 'score-only' || variant === 'coin-meta' ? 0 : count(round);
  };

const ownClaim = ({ sample: { id }, task, parsed }: Proof): Claimed[] =>
  parsed.ok ? [{ id, task, proof: parsed.value, analysis: parsed.value.analysis }] : [];

const exactScore = (context: RoundContext, task: string, { solution }: AnalysedProof): number =>
  sealedGold(context, exactAnalysis(task, solution).score)();

/** A proof's reward is the score that it counts as having; null where that is not known, 0 where the proof does not parse. */
const labelled =
  (label: (said: Said, proof: Proof, parsed: AnalysedProof) => number | null): Judging['payProof'] =>
  (said, proof) => {
    const { sample, parsed } = proof;
    if (!parsed.ok) return { reward: 0 };
    if (said.context.round.settings.rewardFunction === 'random') return { reward: drawnScore(sample.id) };
    return { reward: label(said, proof, parsed.value) };
  };

const byExperts = labelled(({ context }, { task }, proof) => exactScore(context, task, proof));
const byAnalyses = labelled(({ context, claimsOf, metaScores }, proof, parsed) =>
  context.round.settings.rewardFunction === 'gold'
    ? exactScore(context, proof.task, parsed)
    : labelOf(
        claimsOf(proof).map((claim) => ({ score: claim.analysis.score, metaScores: metaScores(claim) })),
      ),
);

/** A prover is paid the verifier's score, and for an honest analysis of its own. */
const byVerifier: Judging['payProof'] = ({ context, claimsOf, metaScores }, proof) => {
  const { rewardFunction, variant } = context.round.settings;
  const { sample, task, parsed } = proof;
  const score =
    rewardFunction === 'random'
      ? drawnScore(sample.id)
      : rewardFunction === 'gold' && parsed.ok
        ? exactScore(context, task, parsed.value)
        : meanScore(claimsOf(proof).map(({ analysis }) => analysis.score));
  const quality = meanScore(ownClaim(proof).flatMap(metaScores));
  const reward = proofReward(parsed, { score, quality, honesty: variant !== 'no-honesty' });
  return parsed.ok ? { reward, score, own: parsed.value.analysis.score } : { reward };
};

/** A verifier's analysis is paid by its score and, where it is checked, by the meta-verifier. */
const paidAnalysis =
  (quality: (said: Said, claim: Claimed | undefined) => number | null): NonNullable<Judging['payAnalysis']> =>
  (said, claim, parsed, label) => ({ reward: analysisReward(parsed, label, quality(said, claim)) });
const checkedAnalysis = paidAnalysis(({ metaScores }, claim) => meanScore(claim ? metaScores(claim) : []));

/** What is judged in each phase. */
export const JUDGING: Readonly<Record<Phase, Judging>> = {
  score: {
    analyses: groupSize,
    metaVerdicts: () => 0,
    payProof: byExperts,
    payAnalysis: paidAnalysis(() => 1),
  },
  meta: {
    analyses: () => 2,
    metaVerdicts: checks(groupSize),
    payProof: byExperts,
    payVerdict: ({ context }, { id, task, proof, analysis }, parsed) => {
      const quality =
        context.round.settings.rewardFunction === 'random'
          ? drawnScore(id)
          : sealedGold(context, exactMetaVerdict(task, proof.solution, analysis).score)();
      return { reward: metaReward(parsed, quality) };
    },
  },
  verify: {
    analyses: groupSize,
    metaVerdicts: checks(() => 1),
    payProof: byExperts,
    payAnalysis: checkedAnalysis,
  },
  prove: { analyses: () => 2, metaVerdicts: checks(() => 1), own: true, payProof: byVerifier },
  label: {
    analyses: groupSize,
    metaVerdicts: checks(() => 3),
    payProof: byAnalyses,
    payAnalysis: checkedAnalysis,
  },
};

/** The control that pays whatever is well-formed. */
function byFormat(judging: Judging): Judging {
  const paid = ({ ok }: { readonly ok: boolean }): Rewards => ({ reward: Number(ok) });
  return {
    ...judging,
    payProof: (_, { parsed }) => paid(parsed),
    ...(judging.payAnalysis && { payAnalysis: (_, __, parsed) => paid(parsed) }),
    ...(judging.payVerdict && { payVerdict: (_, __, parsed) => paid(parsed) }),
  };
}

export async function judgeProofs(
  given: Judging,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { round } = context;
  const { rewardFunction } = round.settings;
  rewardNamed(rewards, rewardFunction);
  const judging = rewardFunction === 'format' ? byFormat(given) : given;
  const proofsG = groups.map((group) => proofsOf(context, group));
  const analyses = await analyse(context, proofsG.flat(), judging.analyses(round));
  const claimsOf = (proof: Proof): Claimed[] =>
    (analyses.get(proof.sample.id) ?? []).flatMap(({ sample, parsed }) =>
      proof.parsed.ok && parsed.ok
        ? [{ id: sample.id, task: proof.task, proof: proof.parsed.value, analysis: parsed.value }]
        : [],
    );
  const checkedOf = judging.own ? ownClaim : claimsOf;
  const verdicts = await metaVerify(context, proofsG.flat().flatMap(checkedOf), judging.metaVerdicts(round));
  const said: Said = { context, claimsOf, metaScores: metaScoresBy(context, verdicts) };

  return groups.map((group, g): ScoredGroup => {
    const proofs = proofsG[g]!;
    const exact = proofs.map(({ task, parsed }) =>
      parsed.ok ? analysedProofs.exactJudgment(task, parsed.value.solution).right : null,
    );
    const answersExact = proofs.map(({ task, parsed }) =>
      parsed.ok ? analysedProofs.answerIsExact(task, parsed.value.solution) : null,
    );
    const paid = proofs.map((proof) => judging.payProof(said, proof));
    const verdictsOn = (claim: Claimed): Sample[] =>
      (verdicts.get(claim.id) ?? []).map(({ sample, parsed }) => ({
        ...sample,
        rewards: judging.payVerdict?.(said, claim, parsed) ?? {},
      }));
    return {
      ...group,
      samples: group.samples.map((sample, s) => ({ ...sample, rewards: paid[s]! })),
      judgments: proofs.flatMap((proof, s) => {
        const claims = new Map(claimsOf(proof).map((claim) => [claim.id, claim]));
        const label = paid[s]!.reward ?? null;
        const analysed = (analyses.get(proof.sample.id) ?? []).map(({ sample, parsed }) => ({
          ...sample,
          rewards: judging.payAnalysis?.(said, claims.get(sample.id), parsed, label) ?? {},
          ...besideOracle(exact[s]!, parsed.ok ? parsed.value.score === 1 : null),
        }));
        return [...analysed, ...checkedOf(proof).flatMap(verdictsOn)];
      }),
      answersExact,
      solutionsExact: exact,
    };
  });
}
