/** The tools that a recipe's `learn` gets: tokenizer, readouts of the models, products of gradients and trials, under the parent version's sets. */

import type { LearnTools, Sequence, TrialUpdate, UpdatePart } from '../../core/plan/training-plan.ts';
import { rendererOf } from '../../core/renderer/open.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { alignment } from './alignment.ts';
import type { HeldSets } from './held-sets.ts';
import type { PlannedUpdate } from './plan.ts';
import type { Model, Readout } from './readouts.ts';
import { type FindModel, readEach } from './scores.ts';
import { trial } from './trial.ts';

export function learnTools({
  policy,
  files,
  sets,
  find,
  tokenBudget,
  loaded,
  planned,
}: {
  readonly policy: string;
  readonly files: VersionFiles;
  readonly sets: HeldSets;
  readonly find: FindModel;
  readonly tokenBudget: number;
  /** A part with the objective that its recipe brings. */
  readonly loaded: (part: UpdatePart) => Promise<UpdatePart>;
  /** The steps of updates of one set, as the round would take them. */
  readonly planned: (set: string, updates: readonly TrialUpdate[]) => readonly PlannedUpdate[];
}): LearnTools {
  let tokenizer: Tokenizer | undefined;
  const text = () => {
    tokenizer ??= tokenizerOf(files, policy);
    return tokenizer;
  };
  // Calls run one after the other, because the weights that a call looks up must stay on the device until it ends.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  /** One tensor of a readout, by default its first: [sequences][rows of the sequence]. */
  const rows = async (model: Model, sequences: readonly Sequence[], readout: Readout, tensor = 0) =>
    (await readEach(model, sequences, readout, tokenBudget)).map((tensors) => tensors[tensor]!);
  const modelOf = (set: string, version?: number) =>
    version === undefined ? sets.get(set) : find({ set, version });
  return {
    decode: (ids) => text().decode(ids),
    encode: (string) => text().encode(string),
    renderer: () => rendererOf(files, policy),
    score: (set, sequences, version) =>
      inTurn(async () => rows(await modelOf(set, version), sequences, 'logprobs')),
    entropies: (set, sequences, version) =>
      inTurn(async () => rows(await modelOf(set, version), sequences, 'logprobs', 1)),
    states: (set, sequences) => inTurn(async () => rows(await sets.get(set), sequences, 'states')),
    values: (set, sequences) => inTurn(async () => rows(await sets.get(set), sequences, 'values')),
    classes: (set, sequences) =>
      inTurn(async () => (await rows(await sets.get(set), sequences, 'classes')).map(logSoftmax)),
    alignment: (set, parts, against, how) =>
      inTurn(async () => {
        const [theirs, ...mine] = await Promise.all([against, ...parts].map(loaded));
        return alignment(set, await sets.asLearner(set), mine, theirs!, { tokenBudget, find, ...how });
      }),
    trial: (set, updates, sequences) =>
      inTurn(async () => {
        if (!updates.length) return rows(await sets.get(set), sequences, 'logprobs');
        const tried = await Promise.all(
          updates.map(async (update) => ({
            ...update,
            parts: await Promise.all(update.parts.map(loaded)),
          })),
        );
        return trial(await sets.asLearner(set), planned(set, tried), sequences, { tokenBudget, find });
      }),
  };
}

function logSoftmax(logits: Float32Array): Float32Array {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return logits.map((logit) => logit - most - Math.log(sum));
}
