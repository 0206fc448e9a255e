/**
 * `rollmesh.config.ts`: what the flags of `start` say, as a typed object. It is turned into the same flags, so that both are read, checked
 * and refused by the same code, and a run that is described here is the run of those flags.
 */
import * as v from 'valibot';
import { EXTRACTIONS } from '../checkers/extract.ts';
import { wrongInput } from '../errors.ts';
import { ENGINES, SMALLER_WEIGHTS } from '../policy/policy.ts';
import { finite } from '../schema/numbers.ts';
import { isObject } from '../text/is-object.ts';
import { nearest } from '../text/nearest.ts';

const text = v.pipe(v.string(), v.minLength(1));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const extraction = v.union([v.picklist(EXTRACTIONS), v.array(v.picklist(EXTRACTIONS))]);

const runConfig = v.strictObject({
  /** A shipped recipe by its name, or one of your own by the path of its module. */
  recipe: v.optional(text),
  /** The module of a world of your own, in which the recipe is played. */
  world: v.optional(text),
  /** The policy that is trained. */
  policy: v.optional(text),
  rounds: v.optional(count),
  seed: v.optional(whole),
  /** Tasks a round. */
  tasks: v.optional(count),
  /** Rollouts a task. */
  groupSize: v.optional(count),
  /** Files of tasks: their paths, or a weight for each path. */
  files: v.optional(v.union([text, v.array(text), v.record(v.string(), finite)])),
  /** A share of the tasks, or a file. */
  heldOut: v.optional(v.union([finite, text])),
  splitBy: v.optional(text),
  checker: v.optional(text),
  extract: v.optional(extraction),
  /** Names of the files' own fields. */
  fields: v.optional(v.record(v.string(), v.string())),
  system: v.optional(v.string()),
  /** A file with what the recipe says to the policy, by verb. */
  prompts: v.optional(text),
  reference: v.optional(extraction),
  difficulty: v.optional(text),
  /** The name of a reward, or a weight for each: `{ checker: 1, './length.ts': -0.2 }`. */
  reward: v.optional(v.union([text, v.record(v.string(), finite)])),
  variant: v.optional(text),
  freeze: v.optional(v.array(text)),
  /** Settings of the recipe, as `--set` has them: `{ optimizer: { learningRate: 3e-5 } }`. */
  settings: v.optional(v.record(v.string(), v.unknown())),
  weights: v.optional(v.picklist(SMALLER_WEIGHTS)),
  engine: v.optional(v.picklist(ENGINES)),
  evalEvery: v.optional(count),
  auditFraction: v.optional(finite),
  device: v.optional(v.picklist(['auto', 'cpu', 'webgpu'])),
  threads: v.optional(count),
  port: v.optional(whole),
  state: v.optional(text),
});
export type RunConfig = v.InferInput<typeof runConfig>;

/** Returns the object itself: it only makes the editor and `tsc` report a field that is unknown or of another type. */
export const defineConfig = (config: RunConfig): RunConfig => config;

/** The fields whose flag has another name than the field. */
const FLAGS: Readonly<Record<string, string>> = {
  files: 'tasks',
  tasks: 'tasks-per-round',
  settings: 'set',
};
const flagOf = (field: string): string =>
  `--${(FLAGS[field] ?? field).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Settings as assignments `path=value`. */
const assignments = (settings: Record<string, unknown>, before = ''): string[] =>
  Object.entries(settings).flatMap(([name, value]) =>
    isObject(value)
      ? assignments(value, `${before}${name}.`)
      : [`${before}${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );

const pairs = (record: Record<string, unknown>, between: string): string[] =>
  Object.entries(record).map(([name, value]) => `${name}${between}${value}`);

/** The values of a field's flag; a flag is repeated for each. */
function valuesOf(field: string, value: unknown): string[] {
  if (field === 'settings') return assignments(value as Record<string, unknown>);
  if (field === 'files') return isObject(value) ? pairs(value, '@') : [value].flat().map(String);
  if (isObject(value)) return [pairs(value, '=').join(',')];
  return [Array.isArray(value) ? value.join(',') : String(value)];
}

/**
 * The flags that the configuration stands for. Throws `wrong-input` with the code `config.field` for a field that is not known, with the
 * nearest right name, and for a value of another type. `from`: where it comes from, for the message.
 */
export function flagsOf(value: unknown, from: string): string[] {
  const known = Object.keys(runConfig.entries);
  const parsed = v.safeParse(runConfig, value);
  if (!parsed.success) {
    const issue = parsed.issues[0];
    const field = v.getDotPath(issue) ?? '';
    if (issue.type === 'strict_object' && field) {
      const meant = nearest(field, known);
      throw wrongInput('config.field', `${from} has an unknown field ${JSON.stringify(field)}.`, {
        expected: `${meant === undefined ? '' : `${meant}, perhaps, or `}one of ${known.join(', ')}`,
        next: 'A setting of the recipe stands in `settings`.',
      });
    }
    throw wrongInput('config.field', `${from}: ${field || 'it'} is ${issue.received}.`, {
      expected: field
        ? `${issue.expected ?? 'another value'} for ${field}`
        : 'export default defineConfig({ … })',
    });
  }
  return Object.entries(parsed.output).flatMap(([field, given]) =>
    given === undefined ? [] : valuesOf(field, given).flatMap((one) => [`${flagOf(field)}=${one}`]),
  );
}
