/**
 * Which training plans a server of Tinker's API can train: it has one adapter on one model, and tells of it the log-probabilities of given tokens alone. What
 * such a plan becomes is in learner/tinker.
 */
import { wrongInput } from '../errors.ts';
import { MAIN_SET } from '../schema/policy.ts';
import type { SetSettings, Update, UpdatePart } from './training-plan.ts';

/** What a set's settings ask for that cannot be said; undefined where nothing is in the way. Adapters are what a run asks for. */
export function unmappedSets(sets: Readonly<Record<string, SetSettings>>): string | undefined {
  const trained = Object.entries(sets).filter(([, { optimizer }]) => optimizer);
  const names = trained.map(([name]) => name);
  if (names.length > 1)
    return `it trains the parameter sets ${names.join(' and ')}, and one adapter is trained there`;
  if (names.length && names[0] !== MAIN_SET)
    return `it trains the parameter set ${names[0]}, and the main set is trained there`;
  for (const [name, { head, average }] of Object.entries(sets)) {
    if (head) return `its set ${name} has a head of kind ${head.kind}`;
    if (average) return `its set ${name} averages ${average.of}`;
  }
  return undefined;
}

/** What a part asks for that cannot be said; undefined where nothing is in the way. */
export function unmappedPart(part: UpdatePart): string | undefined {
  switch (part.kind) {
    case 'value':
    case 'classification':
    case 'reward-pairs':
      return `its ${part.kind} loss for ${part.role} reads a head`;
    case 'distillation':
      return `its distillation of ${part.role} reads whole distributions`;
    case 'policy': {
      const { temperature = 1, entropy = 0, entropyBand = 0 } = part;
      if (temperature !== 1)
        return `its role ${part.role} is sampled at temperature ${temperature}, and log-probabilities there are at 1`;
      return entropy || entropyBand ? `its loss for ${part.role} has an entropy term` : undefined;
    }
    default:
      return undefined;
  }
}

const unmappedUpdate = ({ optimistic, parts }: Update): string | undefined =>
  optimistic ? 'its steps are optimistic' : parts.map(unmappedPart).find(Boolean);

/**
 * Checks before anything is trained that a recipe and its plan can be said.
 * @throws RollmeshError `tinker.unmapped`, which names what cannot
 */
export function expectMapped(
  { name, sets }: { readonly name: string; readonly sets: Readonly<Record<string, SetSettings>> },
  updates: readonly Update[],
): void {
  const { optimizer, adapter } = sets[MAIN_SET] ?? {};
  const why =
    unmappedSets(sets) ??
    (optimizer && !adapter ? 'it trains all weights, and adapters are trained there' : undefined) ??
    updates.map(unmappedUpdate).find(Boolean);
  if (why)
    throw wrongInput('tinker.unmapped', `The recipe ${name} cannot be trained by a Tinker server: ${why}.`, {
      expected: 'one adapter, trained by losses of the log-probabilities of tokens',
      next: 'Start the run with --adapter, take out what is named by --set, or train by a learner of this machine. `npx rollmesh recipe list` says which recipes can be.',
    });
}
