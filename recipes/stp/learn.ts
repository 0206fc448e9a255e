/** What a round trains: the prover on accepted proofs of hard statements, and the conjecturer on conjectures that are barely provable. */
import type { LearnTools, RoundRecords, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { type Attempted, barelyProved, hardProofs, matchingWeights } from './select.ts';
import { CONJECTURER, derivations, type Example, type StpState, statements, stateOf } from './statements.ts';

/** An example is trained on in the round that made it and in the next two. */
const REPLAYED = 3;

interface Tried extends Attempted {
  /** The conjecture's text as it was sampled; absent for statements, and for conjectures that no policy wrote. */
  readonly conjecture: Sample | undefined;
}

/** The groups of a round, with statements of the set separated from conjectures. */
function triedOf({ proposals, groups }: RoundRecords, decode: LearnTools['decode']) {
  const written = new Map(proposals.samples.map((sample) => [sample.id, sample]));
  const known = new Set(statements());
  const tried = groups.map(
    ({ task, proposal, samples }): Tried => ({
      task,
      attempts: samples.length,
      proofs: samples.filter(({ rewards }) => rewards.reward === 1).map(({ ids }) => decode(ids)),
      conjecture: written.get(proposal ?? ''),
    }),
  );
  return {
    targets: tried.filter(({ task }) => known.has(task)),
    conjectures: tried.filter(({ task }) => !known.has(task)),
  };
}

const part = (role: string, examples: readonly Example[], encode: LearnTools['encode']): SftPart =>
  sftPart(
    role,
    examples
      .filter((example) => example.role === role)
      .map(({ prompt, text, weight }) => ({ prompt: encode(prompt), ids: encode(text), weight })),
  );

export function learn(records: RoundRecords, { decode, encode }: LearnTools): TrainingPlan {
  const { round, recipeState, proposals } = records;
  const { index, settings } = round;
  const { targets, conjectures } = triedOf(records, decode);
  const before = stateOf(recipeState);
  const newly = targets.filter(({ proofs }) => proofs.length > 0).map(({ task }) => task);
  const open = targets.filter(({ proofs }) => proofs.length === 0).map(({ task }) => task);
  const kept = barelyProved(conjectures.filter(({ conjecture }) => conjecture !== undefined));
  const weights =
    settings.variant === 'no-matching'
      ? kept.map(() => 1)
      : matchingWeights(
          kept.map(({ task }) => task),
          open,
        );
  const proofs = hardProofs([...targets, ...conjectures], (text) => encode(text).length);
  const fresh: Example[] = [
    ...proofs.map(({ task, text, weight }) => ({
      round: index,
      role: SOLVER,
      prompt: derivations.solverPrompt(task),
      text,
      weight,
    })),
    ...kept.flatMap(({ conjecture }, i) =>
      weights[i]! > 0
        ? [
            {
              round: index,
              role: CONJECTURER,
              prompt: decode(conjecture!.prompt),
              text: decode(conjecture!.ids),
              weight: weights[i]!,
            },
          ]
        : [],
    ),
  ];
  const examples = [...before.examples.filter(({ round: made }) => made > index - REPLAYED), ...fresh];
  const state: StpState = { proved: [...before.proved, ...newly], examples };
  const parts = [part(SOLVER, examples, encode), part(CONJECTURER, examples, encode)];
  const provable = conjectures.filter(({ proofs: found }) => found.length > 0);
  return {
    updates: updateOf(parts),
    recipeState: state,
    figures: {
      proved: state.proved.length / statements().length,
      newlyProved: newly.length,
      ...(proposals.samples.length
        ? { admitted: mean(proposals.samples.map(({ outcome }) => Number(outcome === 'ok'))) }
        : {}),
      ...(conjectures.length
        ? {
            conjecturesProved: provable.length / conjectures.length,
            conjecturesKept: kept.length / conjectures.length,
            conjectureRate: mean(conjectures.map(({ attempts, proofs: found }) => found.length / attempts)),
          }
        : {}),
      // By the oracle, for the report alone.
      ...(kept.length ? { keptDifficulty: mean(kept.map(({ task }) => derivations.difficulty(task))) } : {}),
    },
  };
}
