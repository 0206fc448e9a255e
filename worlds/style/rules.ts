/**
 * Rules about responses to string transformations, of which a rubric is a list. A rule is a check, always or where an order is asked for:
 *
 *     rule       source | az:az             all words from the source | sorted from a to z where that is asked for
 *     library    rule rule …                may be empty
 *     edit       +rule | -rule              adds a rule, or drops one
 *
 *     judge         <judge>rule<sep>task<sep>response<sep>               -> (<right>|<wrong>)<eos>
 *     orchestrator  <propose>library<sep>task<sep>better<sep>worse<sep>  -> edit<eos>
 *
 * `source`, `once`, `count`, and each order where it is asked for, are what styleScore counts beside the form; the other checks say
 * something about a response that the rubric does not count.
 */
import type { Random } from '../../core/random.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { compare, ORDERS, type Order, parseStyleTask, pointsOf, type StyleTask } from './family.ts';

type Check = (task: StyleTask, words: readonly string[]) => boolean;

const sorted =
  (order: Order): Check =>
  (_, words) =>
    words.every((word, i) => i === 0 || compare[order](words[i - 1]!, word) <= 0);

const CHECKS = {
  az: sorted('az'),
  za: sorted('za'),
  up: sorted('up'),
  down: sorted('down'),
  source: (task, words) => pointsOf(task, words.join(' ')).source,
  once: (task, words) => pointsOf(task, words.join(' ')).distinct,
  count: (task, words) => pointsOf(task, words.join(' ')).length,
  /** Four words or more, and two at most. */
  long: (_, words) => words.length >= 4,
  short: (_, words) => words.length <= 2,
  /** The source's first or last word is among them, or begins or ends the response. */
  first: ({ words: source }, words) => words.includes(source[0]!),
  last: ({ words: source }, words) => words.includes(source.at(-1)!),
  begins: ({ words: source }, words) => words[0] === source[0],
  ends: ({ words: source }, words) => words.at(-1) === source.at(-1),
  /** A word of five letters or more, and one of two at most. */
  big: (_, words) => words.some((word) => word.length >= 5),
  small: (_, words) => words.some((word) => word.length <= 2),
} satisfies Record<string, Check>;
type CheckName = keyof typeof CHECKS;
const CHECK_NAMES = Object.keys(CHECKS) as CheckName[];

interface Rule {
  /** The order under which it says something; null = every one. */
  readonly where: Order | null;
  readonly check: CheckName;
}

const writeRule = ({ where, check }: Rule): string => (where === null ? check : `${where}:${check}`);

const RULES: ReadonlyMap<string, Rule> = new Map(
  [null, ...ORDERS].flatMap((where) =>
    CHECK_NAMES.map((check) => [writeRule({ where, check }), { where, check }] as const),
  ),
);
/** Every rule: each check, always and under each of the orders. */
export const ALL_RULES: readonly string[] = [...RULES.keys()];
const isRule = (text: string): boolean => RULES.has(text);

/** By the oracle: whether a rule holds for a response; a rule about another order than the task's holds. False where the task is none. */
export function ruleHolds(rule: string, task: string, response: string): boolean {
  const known = RULES.get(rule);
  const parsed = parseStyleTask(task);
  if (!known || !parsed.ok) return false;
  const { where, check } = known;
  if (where !== null && where !== parsed.value.order) return true;
  return CHECKS[check](parsed.value, response.split(' '));
}

export interface Edit {
  readonly adds: boolean;
  readonly rule: string;
}

export const writeEdit = ({ adds, rule }: Edit): string => `${adds ? '+' : '-'}${rule}`;

/** Parses an edit's text without its stop token; null where it is none. */
export function readEdit(text: string): Edit | null {
  const rule = text.slice(1);
  return (text[0] === '+' || text[0] === '-') && isRule(rule) ? { adds: text[0] === '+', rule } : null;
}

/** An orchestrator's text: the edit as it is written. */
export function parseEdit(text: string): ParseResult<string> {
  const body = withoutStop(text);
  return body !== null && readEdit(body) ? ok(body) : invalid('off-grammar');
}

/** A library after an edit: no rule is there twice, and dropping a rule that is not there changes nothing. */
export const edited = (library: readonly string[], { adds, rule }: Edit): string[] => {
  const others = library.filter((one) => one !== rule);
  if (!adds) return others;
  return library.includes(rule) ? [...library] : [...others, rule];
};

/** An edit that nobody thought about: in one case of four it drops a rule of the library, if there is one. */
export function randomEdit(random: Random, library: readonly string[]): Edit {
  if (library.length && random.bool(0.25)) return { adds: false, rule: random.pick(library) };
  return { adds: true, rule: random.pick(ALL_RULES) };
}

export const ruleJudgePrompt = (rule: string, task: string, response: string): string =>
  `<judge>${rule}<sep>${task}<sep>${response}<sep>`;
export const orchestratorPrompt = (
  library: readonly string[],
  task: string,
  better: string,
  worse: string,
): string => `<propose>${library.join(' ')}<sep>${task}<sep>${better}<sep>${worse}<sep>`;

/** A judge's verdict on one rule. */
export function parseRuleVerdict(text: string): ParseResult<boolean> {
  const match = /^<(right|wrong)><eos>$/.exec(text);
  return match ? ok(match[1] === 'right') : invalid('off-grammar');
}
