/**
 * The conventions in which frameworks differ though they use the same name: the deviation, epsilon, groups of one, masked tokens in
 * GAE, clamps of KL. Each preset holds the conventions of one framework, read in its public code.
 */

export interface Convention {
  /** How a group's centred rewards are divided: by its deviation with these degrees of freedom, or not at all. */
  readonly scale: { readonly ddof: 0 | 1; readonly epsilon: number } | null;
  /** The advantage of a reward that is alone in its group: 0, or the reward itself (as if mean 0, deviation 1). */
  readonly singleton: 'zero' | 'raw';
  /** Masked tokens in GAE: the recursion runs `through` them, or `skip`s them as if they were not there. */
  readonly maskedGae: 'through' | 'skip';
  /** Bounds (nats) on the log-ratio that enters a KL estimate, and on the estimate; null = unbounded. */
  readonly klClamp: { readonly input: number | null; readonly output: number | null };
}

const open = { input: null, output: null } as const;

/** Presets. Where a framework refuses groups of one (trl, openrlhf, marti), ours gives them 0. */
export const CONVENTIONS = {
  verl: {
    scale: { ddof: 1, epsilon: 1e-6 },
    singleton: 'raw',
    maskedGae: 'skip',
    klClamp: { input: 20, output: 10 },
  },
  trl: { scale: { ddof: 1, epsilon: 1e-4 }, singleton: 'zero', maskedGae: 'through', klClamp: open },
  openrlhf: {
    scale: { ddof: 1, epsilon: 1e-9 },
    singleton: 'zero',
    maskedGae: 'through',
    klClamp: { input: null, output: 10 },
  },
  marti: {
    scale: { ddof: 1, epsilon: 1e-9 },
    singleton: 'zero',
    maskedGae: 'through',
    klClamp: { input: null, output: 10 },
  },
  art: { scale: { ddof: 0, epsilon: 1e-6 }, singleton: 'zero', maskedGae: 'through', klClamp: open },
  atropos: { scale: { ddof: 0, epsilon: 0 }, singleton: 'zero', maskedGae: 'through', klClamp: open },
  /** Dr.GRPO, prime-rl, tinker: centred, not divided. */
  drgrpo: { scale: null, singleton: 'zero', maskedGae: 'through', klClamp: open },
} as const satisfies Record<string, Convention>;

export type ConventionName = keyof typeof CONVENTIONS;
