/** The name of a run's own policy, after what makes the run different from others: two runs never train one policy by accident. */
export const policyNameOf = (run: {
  readonly recipe: string;
  readonly seed: number;
  /** Where it was chosen; the recipe's default is not part of the name. */
  readonly reward?: string | undefined;
  readonly freeze: readonly string[];
}): string =>
  [
    run.recipe,
    ...(run.reward ? [run.reward] : []),
    ...[...run.freeze].sort().map((role) => `frozen-${role}`),
    run.seed,
  ].join('-');
