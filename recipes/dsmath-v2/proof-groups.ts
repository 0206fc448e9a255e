/**
 * The rollout and judge stages: proofs with their provers' own analyses, then the verifier's analyses of the proofs, meta-verdicts on the analyses,
 * and the rewards of each in the present phase. An exact checker is used in the phases in which experts score, and by the monitors.
 */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult } from '../../core/recipe/task-family.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type Answer, ask } from '../../protocols/ask.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { JUDGE, withGroup } from '../../protocols/solver-verifier.ts';
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
import { type Phase, phaseOf, shapeOf } from './phases.ts';
import { analysisReward, expectReward, labelOf, meanScore, metaReward, proofReward } from './rewards.ts';

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

export const writeProofs = (context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> =>
  rollOut({ family: analysedProofs }, withGroup(context, shapeOf(context.round).proofs), tasks);

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

/** The score that a proof counts as having in a phase that trains the verifier; null where it is not known. */
function labelBy(
  context: RoundContext,
  phase: Phase,
  { task, sample, parsed }: Proof,
  analyses: readonly { readonly claim: Claimed; readonly metaScores: readonly number[] }[],
): number | null {
  const { rewardFunction } = context.round.settings;
  if (!parsed.ok) return null;
  if (rewardFunction === 'random') return drawnScore(sample.id);
  if (phase !== 'label' || rewardFunction === 'gold')
    return sealedGold(context, exactAnalysis(task, parsed.value.solution).score)();
  return labelOf(analyses.map(({ claim, metaScores }) => ({ score: claim.analysis.score, metaScores })));
}

export async function judgeProofs(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction, variant } = context.round.settings;
  expectReward(rewardFunction);
  const [phase, shape] = [phaseOf(context.round), shapeOf(context.round)];
  const paysFormat = rewardFunction === 'format';
  const proofsG = groups.map((group) => proofsOf(context, group));
  const analyses = await analyse(context, proofsG.flat(), shape.analyses);
  const claimsOf = (proof: Proof): Claimed[] =>
    (analyses.get(proof.sample.id) ?? []).flatMap(({ sample, parsed }) =>
      proof.parsed.ok && parsed.ok
        ? [{ id: sample.id, task: proof.task, proof: proof.parsed.value, analysis: parsed.value }]
        : [],
    );
  const ownClaim = ({ sample: { id }, task, parsed }: Proof): Claimed[] =>
    parsed.ok ? [{ id, task, proof: parsed.value, analysis: parsed.value.analysis }] : [];
  const verdicts = await metaVerify(
    context,
    proofsG.flat().flatMap(phase === 'prove' ? ownClaim : claimsOf),
    shape.metaVerdicts,
  );
  const metaScores = metaScoresBy(context, verdicts);

  /** The reward of a proof: as a prover's where provers are trained, otherwise the score that the proof counts as having. */
  function payProof(proof: Proof): Sample['rewards'] {
    const { parsed } = proof;
    if (paysFormat) return { reward: Number(parsed.ok) };
    const claims = claimsOf(proof);
    if (phase !== 'prove') {
      const seen = claims.map((claim) => ({ claim, metaScores: metaScores(claim) }));
      return { reward: parsed.ok ? labelBy(context, phase, proof, seen) : 0 };
    }
    const score =
      rewardFunction === 'random'
        ? drawnScore(proof.sample.id)
        : rewardFunction === 'gold' && parsed.ok
          ? sealedGold(context, exactAnalysis(proof.task, parsed.value.solution).score)()
          : meanScore(claims.map(({ analysis }) => analysis.score));
    const quality = meanScore(ownClaim(proof).flatMap(metaScores));
    const reward = proofReward(parsed, { score, quality, honesty: variant !== 'no-honesty' });
    return parsed.ok ? { reward, score, own: parsed.value.analysis.score } : { reward };
  }

  /** The reward of a verifier's analysis where verifiers are trained. */
  function payAnalysis(claim: Claimed | undefined, answer: Answer<Analysis>, label: number | null) {
    if (phase === 'prove' || phase === 'meta') return {};
    if (paysFormat) return { reward: Number(answer.parsed.ok) };
    const quality = phase === 'score' ? 1 : meanScore(claim ? metaScores(claim) : []);
    return { reward: analysisReward(answer.parsed, label, quality) };
  }

  /** The reward of a meta-verdict where meta-verifiers are trained. */
  function payVerdict({ task, proof, analysis, id }: Claimed, { parsed }: Answer<MetaVerdict>) {
    if (phase !== 'meta') return {};
    if (paysFormat) return { reward: Number(parsed.ok) };
    const quality =
      rewardFunction === 'random'
        ? drawnScore(id)
        : sealedGold(context, exactMetaVerdict(task, proof.solution, analysis).score)();
    return { reward: metaReward(parsed, quality) };
  }

  return groups.map((group, g): ScoredGroup => {
    const proofs = proofsG[g]!;
    const exact = proofs.map(({ task, parsed }) =>
      parsed.ok ? analysedProofs.exactJudgment(task, parsed.value.solution).right : null,
    );
    const answersExact = proofs.map(({ task, parsed }) =>
      parsed.ok ? analysedProofs.answerIsExact(task, parsed.value.solution) : null,
    );
    const paid = proofs.map(payProof);
    const verdictsOn = (claim: Claimed): Sample[] =>
      (verdicts.get(claim.id) ?? []).map((answer) => ({
        ...answer.sample,
        rewards: payVerdict(claim, answer),
      }));
    return {
      ...group,
      samples: group.samples.map((sample, s) => ({ ...sample, rewards: paid[s]! })),
      judgments: proofs.flatMap((proof, s) => {
        const claims = new Map(claimsOf(proof).map((claim) => [claim.id, claim]));
        const analysed = (analyses.get(proof.sample.id) ?? []).map((answer) => ({
          ...answer.sample,
          rewards: payAnalysis(claims.get(answer.sample.id), answer, paid[s]!.reward ?? null),
          ...besideOracle(exact[s]!, answer.parsed.ok ? answer.parsed.value.score === 1 : null),
        }));
        const checked = phase === 'prove' ? ownClaim(proof) : [...claims.values()];
        return [...analysed, ...checked.flatMap(verdictsOn)];
      }),
      answersExact,
      solutionsExact: exact,
    };
  });
}
