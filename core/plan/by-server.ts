/**
 * Which training plans a server of Tinker's API can train: it has one adapter on one model, and tells of it the log-probabilities of given tokens alone. What
 * such a plan becomes is in learner/tinker.
 */
import { wrongInput } from '../errors.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { MAIN_SET } from '../schema/policy.ts';
import type { Update, UpdatePart } from './training-plan.ts';

const DEVICE = 'Tinker server ';
/** What a version's manifest says of where it was trained, for a server at a URL. */
export const serverDevice = (url: string): string => DEVICE + new URL(url).host;
/** Was a version trained by a server? */
export const isByServer = (device: unknown): boolean =>
  typeof device === 'string' && device.startsWith(DEVICE);

type Sets = Pick<Recipe, 'sets'> & Partial<Pick<Recipe, 'setVariants'>>;

/** What a recipe's parameter sets ask for that cannot be said; undefined where nothing is in the way. Adapters are what a run asks for. */
export function unmappedSets({ sets, setVariants = {} }: Sets, variant?: string): string | undefined {
  const trained = Object.entries(sets).filter(
    ([name, { optimizer }]) => optimizer && (setVariants[name]?.includes(variant ?? '') ?? true),
  );
  const names = trained.map(([name]) => name);
  if (names.length > 1)
    return `it trains the parameter sets ${names.join(' and ')}, and one adapter is trained there`;
  if (names.length && names[0] !== MAIN_SET)
    return `it trains the parameter set ${names[0]}, and the main set is trained there`;
  for (const [name, { head }] of trained) if (head) return `its set ${name} has a head of kind ${head.kind}`;
  const [name, average] = Object.entries(sets).find(([, { average }]) => average) ?? [];
  return average && `its set ${name} averages ${average.average!.of}`;
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

function unmappedUpdate({ set, optimistic, only, parts }: Update): string | undefined {
  if (set !== MAIN_SET) return `it trains the parameter set ${set}, and the main set is trained there`;
  if (only) return 'it trains some layers alone';
  return optimistic ? 'its steps are optimistic' : parts.map(unmappedPart).find(Boolean);
}

/**
 * Checks before anything is trained that a recipe's variant and its plan can be said.
 * @throws RollmeshError `tinker.unmapped`, which names what cannot
 */
export function expectMapped(
  recipe: Sets & Pick<Recipe, 'name'>,
  variant: string | undefined,
  updates: readonly Update[] = [],
): void {
  const { optimizer, adapter } = recipe.sets[MAIN_SET] ?? {};
  const why =
    unmappedSets(recipe, variant) ??
    (optimizer && !adapter ? 'it trains all weights, and adapters are trained there' : undefined) ??
    updates.map(unmappedUpdate).find(Boolean);
  if (why)
    throw wrongInput(
      'tinker.unmapped',
      `The recipe ${recipe.name} cannot be trained by a Tinker server: ${why}.`,
      {
        expected: 'one adapter, trained by losses of the log-probabilities of tokens',
        next: 'Start the run with --adapter, take out what is named by --set, or train by a learner of this machine. `npx rollmesh recipe list` says which recipes can be.',
      },
    );
}
