/**
 * Fields that earlier releases called otherwise. Stored objects of that time are read under the present names; a request that uses a
 * former name is refused, and told the present one. docs/glossary.md lists them all.
 */
import * as v from 'valibot';

/** Present names by the former ones. */
type Names = Readonly<Record<string, string>>;

/** A recipe. */
export const FORMER_RECIPE: Names = { start: 'startPolicy', group: 'groupSize' };
/** Settings of a run. */
export const FORMER_SETTINGS = { group: 'groupSize', reward: 'rewardFunction' } as const satisfies Names;
/** A round, as the gateway answers. */
export const FORMER_ROUND = { stage: 'state' } as const satisfies Names;
/** A scored group. */
export const FORMER_GROUP = { gold: 'answersExact', truth: 'solutionsExact' } as const satisfies Names;
/** The oracle's word on a judgment. */
export const FORMER_ORACLE = { truth: 'right' } as const satisfies Names;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads an object of either form: a field under a former name is given its present one, unless the object has that too. */
export const readFormer = (names: Names) =>
  v.transform((value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([field, content]) => {
            const present = Object.hasOwn(names, field) ? names[field]! : field;
            return [present in value ? field : present, content];
          }),
        )
      : value,
  );

/** Refuses an object that has a field under a former name. */
export const refuseFormer = (names: Names) =>
  v.rawCheck<unknown>(({ dataset, addIssue }) => {
    const { value } = dataset;
    if (!dataset.typed || !isObject(value)) return;
    for (const [former, present] of Object.entries(names))
      if (Object.hasOwn(value, former))
        addIssue({ message: `The field "${former}" is called "${present}" now`, expected: `"${present}"` });
  });
