/**
 * Links of temporal graphs: the neighbourhood of a node as a list of timed links, and the question to whom the node links next. A solution goes
 * through the node's contacts with the times of their links and the time at which it expects the next one, `?` where it expects none.
 *
 *     task       links:node time                ab3cd4ab5ac6:a7, in which a links to b at times 3 and 5
 *     solver     <solve>ab3cd4ab5ac6:a7<sep> -> <step>b35:7<step>c6:?<answer>b<eos>, or <answer>b<eos>
 *     judge      <judge>task<sep>solution<sep> -> <ok><ok><right><eos>
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { parseJudgment, parseWorked, STOP, withoutStop, writeSolution } from '../worked.ts';
import { contactsOf, drawQuery, linksAt, nextTime, type Query } from './graph.ts';

const NAME = 'temporal graphs';
const HELD_OUT_COUNT = 200;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
/** The names of nodes in graphs that rewards are paid on; the other half of the letters is for the same graphs with other names. */
const NAMES = LETTERS.slice(0, LETTERS.length / 2);

const TASK = /^((?:[a-z][a-z][1-8])+):([a-z])([7-9])$/;
const STEP = /^([a-z])([1-8]+):([1-9?])$/;
const ANSWER = /^[a-z]{1,8}$/;

export const writeQuery = ({ links, node, time }: Query): string =>
  `${links.map((link) => `${link.from}${link.to}${link.time}`).join('')}:${node}${time}`;

/** The query that a text states; null where it states none, or one that no link answers. */
export function parseQuery(text: string): Query | null {
  const match = TASK.exec(text);
  if (!match) return null;
  const links = [...match[1]!.matchAll(/(.)(.)(.)/g)].map(([, from, to, time]) => ({
    from: from!,
    to: to!,
    time: Number(time),
  }));
  const query = { links, node: match[2]!, time: Number(match[3]) };
  return linksAt(query).length > 0 ? query : null;
}

/** A text with every letter in place of the one that is half of the alphabet away: the same graph with other names. */
export const renamed = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => LETTERS[(LETTERS.indexOf(letter) + NAMES.length) % LETTERS.length]!);

/** The graph whatever its nodes are called: their names are given anew in the order in which they appear. */
function anonymous(task: string): string {
  const names = new Map<string, string>();
  return task.replaceAll(/[a-z]/g, (letter) => {
    if (!names.has(letter)) names.set(letter, LETTERS[names.size]!);
    return names.get(letter)!;
  });
}

const isHeldOut = (task: string) => parseQuery(task) !== null && isHeldOutKey(NAME, anonymous(task));

/** F1 of an answer's nodes, in [0, 1]: 2·hits / (named + right). 0 for a text that is no task. */
export function linksF1(task: string, answer: string): number {
  const query = parseQuery(task);
  if (!query) return 0;
  const [named, right] = [new Set(answer), linksAt(query)];
  const hits = right.filter((node) => named.has(node)).length;
  return (2 * hits) / (named.size + right.length);
}

/** What a step says: the times of the links to a contact, and when the next one comes. */
interface Expected {
  readonly to: string;
  readonly times: string;
  readonly next: string;
}

export const writeStep = ({ to, times, next }: Expected): string => `${to}${times}:${next}`;

export function parseStep(step: string): Expected | null {
  const [, to, times, next] = STEP.exec(step) ?? [];
  return to && times && next ? { to, times, next } : null;
}

/** Are the times of a step those of the graph? */
export function isFaithful(task: string, step: string): boolean {
  const [query, said] = [parseQuery(task), parseStep(step)];
  return !!query && !!said && contactsOf(query).get(said.to)?.join('') === said.times;
}

/** Does an answer name the nodes whose steps expect a link at the query's time, and no others? */
export function isAligned(task: string, { steps, answer }: Solution): boolean {
  const time = task.at(-1);
  const expected = steps.flatMap((step) => {
    const said = parseStep(step);
    return said && said.next === time ? [said.to] : [];
  });
  return [...new Set(expected)].sort().join('') === [...new Set(answer)].sort().join('');
}

/** The exact step of a contact. */
export const exactStep = (to: string, times: readonly number[]): string => {
  const next = nextTime(times);
  // Links after the last query's time are of no interest.
  return writeStep({ to, times: times.join(''), next: next === null || next > 9 ? '?' : String(next) });
};

function exactJudgment(task: string, { steps, answer }: Solution): Judgment {
  const query = parseQuery(task);
  const exact = new Set([...(query ? contactsOf(query) : [])].map(([to, times]) => exactStep(to, times)));
  const marks = steps.map((step) => exact.has(step));
  return { steps: marks, right: marks.every(Boolean) && linksF1(task, answer) === 1 };
}

const parseSolution = (_task: string, text: string): ParseResult<Solution> =>
  parseWorked(text, {
    step: (step) => parseStep(step) !== null,
    answer: (answer) => ANSWER.test(answer) && new Set(answer).size === answer.length,
  });

function parseProposal(text: string): ParseResult<string> {
  const task = withoutStop(text);
  return task !== null && parseQuery(task) ? ok(task) : invalid('off-grammar');
}

/** A graph that is not held out, with nodes of these names. */
export const randomQuery = (random: Random, names: readonly string[] = NAMES): string =>
  drawUntil(
    () => writeQuery(drawQuery(random, names)),
    (task) => !isHeldOut(task),
  );

/** A graph that is not held out, with nodes of any names. */
export const anyQuery = (random: Random): string => randomQuery(random, LETTERS);

export const temporalGraphs: TaskFamily = {
  name: NAME,
  maxNew: { proposer: 66, solver: 48, judge: 8 },
  stop: STOP,
  workedPrefix: '<step>',
  random: (random) => randomQuery(random),
  heldOut: heldOutTasks(NAME, HELD_OUT_COUNT, (random) => writeQuery(drawQuery(random, NAMES)), isHeldOut),
  isHeldOut,
  // Contacts of the node that is asked about.
  difficulty: (task) => {
    const query = parseQuery(task);
    return query ? contactsOf(query).size : 0;
  },
  proposerPrompt: () => '<propose>tg:',
  solverPrompt: (task) => `<solve>${task}<sep>`,
  judgePrompt: (task, solution) => `<judge>${task}<sep>${writeSolution(solution)}<sep>`,
  parseProposal,
  parseSolution,
  parseJudgment,
  answerIsExact: (task, { answer }) => linksF1(task, answer) === 1,
  exactJudgment,
};
